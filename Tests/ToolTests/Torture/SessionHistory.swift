/// What the sessions of a conversation did and saw, in order; a session is a store that one program at a time uses.
///
/// The guarantees are those of Terry and others, "Session Guarantees for Weakly Consistent Replicated Data" (1994). A
/// message is named by its nonce, which begins with the name of the session that sent it. Only that session edits the
/// message, and it numbers the versions.
struct SessionHistory {
  /// A message as a session saw it.
  struct Seen: Equatable {
    let nonce: String
    /// Nil until the hub has given the message a number.
    let seq: Int?
    /// 0 before the first edit.
    let version: Int
  }

  enum Event {
    /// A message or an edit was accepted; a message has version 0.
    case wrote(nonce: String, version: Int)
    /// All messages up to a number were marked as read.
    case read(upTo: Int)
    /// The messages of the conversation, in the order in which they were printed.
    case saw([Seen])
    /// The numbers of the messages that were printed as unread.
    case sawUnread([Int])
  }

  private(set) var sessions: [String: [Event]] = [:]

  mutating func note(_ event: Event, in session: String) { sessions[session, default: []].append(event) }

  /// Each violation of a guarantee, as a sentence.
  func faults() -> [String] {
    let numbers = lastNumbers
    return sessions.sorted { $0.key < $1.key }.flatMap { name, events in
      var session = Session(name: name, numbers: numbers)
      for event in events { session.take(event) }
      return session.faults
    }
  }

  /// The last known number of each message.
  private var lastNumbers: [String: Int] {
    var numbers: [String: Int] = [:]
    for case .saw(let seen) in sessions.values.joined() {
      for message in seen { if let seq = message.seq { numbers[message.nonce] = seq } }
    }
    return numbers
  }

  /// A session whose events are checked one by one.
  private struct Session {
    let name: String
    let numbers: [String: Int]
    private(set) var faults: [String] = []
    /// The last version that the session wrote of each message, and the order of its messages.
    private var written: [String: Int] = [:]
    private var order: [String] = []
    private var last: [String: Seen] = [:]
    private var readUpTo = 0

    init(name: String, numbers: [String: Int]) {
      self.name = name
      self.numbers = numbers
    }

    private mutating func fault(_ text: String) { faults.append("\(name): \(text)") }

    mutating func take(_ event: Event) {
      switch event {
      case .wrote(let nonce, let version): write(nonce, version)
      case .read(let upTo): readUpTo = max(readUpTo, upTo)
      case .saw(let seen): see(seen)
      case .sawUnread(let seqs):
        for seq in seqs where seq <= readUpTo { fault("\(seq) is unread after it was read (read your writes)") }
      }
    }

    private mutating func write(_ nonce: String, _ version: Int) {
      written[nonce] = version
      if version > 0 { return }
      guard let number = numbers[nonce] else { return fault("\(nonce) was accepted and never got a number") }
      for earlier in last.values where earlier.seq ?? 0 >= number {
        fault("\(nonce) has a lower number than \(earlier.nonce), which was read before (writes follow reads)")
      }
      for earlier in order where numbers[earlier] ?? 0 >= number {
        fault("\(nonce) has a lower number than \(earlier), which was sent before (monotonic writes)")
      }
      order.append(nonce)
    }

    private mutating func see(_ seen: [Seen]) {
      var now: [String: Seen] = [:]
      var before = 0
      for message in seen {
        if now.updateValue(message, forKey: message.nonce) != nil { fault("\(message.nonce) is there twice") }
        if let seq = message.seq {
          if seq <= before { fault("\(message.nonce) has number \(seq) after \(before)") }
          before = seq
        }
      }
      for (nonce, version) in written where now[nonce].map({ $0.version < version }) ?? true {
        fault("\(nonce) is not there in version \(version) (read your writes)")
      }
      for (nonce, earlier) in last {
        guard let message = now[nonce] else {
          fault("\(nonce) has gone (monotonic reads)")
          continue
        }
        if message.version < earlier.version { fault("\(nonce) has an earlier version again (monotonic reads)") }
        if let seq = earlier.seq, message.seq != seq { fault("\(nonce) had number \(seq) before (monotonic reads)") }
      }
      last = now
    }
  }
}
