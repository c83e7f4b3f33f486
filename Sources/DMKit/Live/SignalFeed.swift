internal import DMStore
internal import DMSystem

/// The typing and presence events of a follower.
///
/// It reads the folder of signals a few times a second at most, however many signals come.
final class SignalFeed {
  private let messenger: Messenger
  private let kinds: Set<MessagingEvent.Kind>
  private let feed: ChangeFeed
  private let folder: LiveFolder
  private var watch: Watch
  private var freshness = Freshness()
  /// Whether the user gets the events of a signal, cached while the signal lasts and nothing is written.
  private var isReported: [LiveFolder.Signal: Bool] = [:]
  private var version: Int64?
  private var typing: [Identifier: [Handle]] = [:]
  private var online: Set<Handle> = []
  private var lastLook: Int64?
  private var nextEnd: Int64?

  /// Set by the caller when the descriptor is ready; the descriptor is then not waited for until the next check.
  var isTouched = false

  /// Microseconds from one check to the next.
  static let pause: Int64 = 250_000

  init(_ messenger: Messenger, _ kinds: Set<MessagingEvent.Kind>, _ feed: ChangeFeed) {
    self.messenger = messenger
    self.kinds = kinds
    self.feed = feed
    folder = LiveFolder(path: messenger.location.live)
    folder.make()
    watch = Watch(folder.path)
  }

  /// The descriptor that is ready when a signal has changed; nil while a change waits to be read.
  var descriptor: Int32? { isTouched ? nil : watch.descriptor }

  /// When to check again, on the monotonic clock; nil if only a changed file requires it.
  var due: Int64? {
    guard let lastLook else { return 0 }
    return isTouched || watch.descriptor == nil ? lastLook + Self.pause : nextEnd
  }

  /// The events since the last check.
  func next() throws -> [MessagingEvent] {
    guard let due, monotonicMicroseconds() >= due else { return [] }
    watch.drain()
    if watch.isLost {
      // The folder was removed; it is created again, so that the next signal is noticed.
      folder.make()
      watch = Watch(folder.path)
    }
    let signals = folder.signals()
    if lastLook == nil { folder.clear(signals) }
    lastLook = monotonicMicroseconds()
    isTouched = false
    let (fresh, next) = freshness.look(at: signals)
    nextEnd = next
    // A cached answer is not valid after a write: a user may have blocked another, or left.
    let now = try fresh.isEmpty ? nil : messenger.existingStore()?.dataVersion()
    if now != version { isReported = [:] }
    version = now
    isReported = try Dictionary(uniqueKeysWithValues: fresh.map { ($0, try isReported[$0] ?? reports($0)) })
    let reported = fresh.filter { isReported[$0] == true }
    return typingEvents(reported) + (try presenceEvents(reported))
  }

  private func reports(_ signal: LiveFolder.Signal) throws -> Bool {
    switch signal {
    case .typing(let conversation, let user):
      try kinds.contains(.typing) && !feed.leavesOut(conversation)
        && messenger.sees(user, typingIn: conversation, among: feed.conversations)
    case .present(let user):
      try kinds.contains(.presence) && messenger.seesPresence(of: user, among: feed.conversations)
    }
  }

  private func typingEvents(_ reported: [LiveFolder.Signal]) -> [MessagingEvent] {
    var now: [Identifier: [Handle]] = [:]
    for case .typing(let conversation, let user) in reported { now[conversation, default: []].append(user) }
    now = now.mapValues { $0.sorted() }
    let changed = Set(now.keys).union(typing.keys).filter { now[$0] != typing[$0] }
    typing = now
    return changed.sorted().map {
      .typing(Typing(conversationID: $0, users: now[$0] ?? []))
    }
  }

  private func presenceEvents(_ reported: [LiveFolder.Signal]) throws -> [MessagingEvent] {
    var now: Set<Handle> = []
    for case .present(let user) in reported { now.insert(user) }
    let changed = now.symmetricDifference(online)
    online = now
    return try changed.sorted().map { user in
      // A user who has begun to hide their presence is reported as offline, without a time.
      let isShown = try now.contains(user) || messenger.seesPresence(of: user, among: feed.conversations)
      let seen = isShown ? folder.time(of: .present(user)) : nil
      return .presence(Presence(user: user, isOnline: now.contains(user), lastSeenAt: seen))
    }
  }
}
