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
  /// When to ask for the signals of others again; nil in a store that is not linked.
  private var asking: RepeatingTimer?

  /// Set by the caller when the descriptor is ready; the descriptor is then not waited for until the next check.
  var isTouched = false

  /// Microseconds from one check to the next.
  static let pause: Int64 = 250_000

  private static let askingPause: Int64 = 5_000_000

  init(_ messenger: Messenger, _ kinds: Set<MessagingEvent.Kind>, _ feed: ChangeFeed, isLinked: Bool) {
    self.messenger = messenger
    self.kinds = kinds
    self.feed = feed
    folder = LiveFolder(path: messenger.location.live)
    folder.make()
    watch = Watch(folder.path)
    if isLinked { asking = RepeatingTimer(Self.askingPause, from: -Self.askingPause) }
  }

  /// The descriptor that is ready when a signal has changed; nil while a change waits to be read.
  var descriptor: Int32? { isTouched ? nil : watch.descriptor }

  /// When to check again, on the monotonic clock; nil if only a changed file requires it.
  var due: Int64? {
    guard let lastLook else { return 0 }
    let look = isTouched || watch.descriptor == nil ? lastLook + Self.pause : nextEnd
    return [look, asking?.due].compactMap(\.self).min()
  }

  /// The events since the last check.
  func next() throws -> [MessagingEvent] {
    guard let due, monotonicMicroseconds() >= due else { return [] }
    if asking?.fires() == true { try ask() }
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

  /// Lets the hub be asked for the signals that this feed reports.
  private func ask() throws {
    if kinds.contains(.presence) { folder.give(.presenceWatched) }
    guard kinds.contains(.typing) else { return }
    guard let keys = feed.conversations else { return folder.give(.watched(nil)) }
    let ids = try messenger.reading([]) { session in try keys.map(session.store.conversations.id) }
    for id in ids { folder.give(.watched(id)) }
  }

  private func reports(_ signal: LiveFolder.Signal) throws -> Bool {
    switch signal {
    case .watched, .presenceWatched: false
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
    // Without an answer of the hub, a missing signal does not mean that a user is offline.
    if asking != nil, !messenger.knowsPresence { now.formUnion(online) }
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
