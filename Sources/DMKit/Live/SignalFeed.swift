internal import DMSystem

/// Typing and presence as a follower is told of them: the folder of signals, looked at a few times a second at the
/// most, however many signals come.
final class SignalFeed {
  private let messenger: Messenger
  private let kinds: Set<MessagingEvent.Kind>
  private let feed: ChangeFeed
  private let folder: LiveFolder
  private var watch: Watch
  private var freshness = Freshness()
  /// Whether the user is told of a signal, asked once for as long as it lasts and nothing is written.
  private var isTold: [LiveFolder.Signal: Bool] = [:]
  private var version: Int64?
  private var typing: [Identifier: [Handle]] = [:]
  private var online: Set<Handle> = []
  private var lastLook: Int64?
  private var nextEnd: Int64?

  /// Set by the caller that waits for the descriptor, which stays silent until the next look.
  var isTouched = false

  /// Microseconds from one look to the next.
  static let pause: Int64 = 250_000

  init(_ messenger: Messenger, _ kinds: Set<MessagingEvent.Kind>, _ feed: ChangeFeed) {
    self.messenger = messenger
    self.kinds = kinds
    self.feed = feed
    folder = LiveFolder(path: messenger.location.live)
    folder.make()
    watch = Watch(folder.path)
  }

  /// What tells that there is something new, while that is not known anyway.
  var descriptor: Int32? { isTouched ? nil : watch.descriptor }

  /// When to look again, on the monotonic clock; nil when only a touch can bring news.
  var due: Int64? {
    guard let lastLook else { return 0 }
    return isTouched || watch.descriptor == nil ? lastLook + Self.pause : nextEnd
  }

  /// What has changed since the last look.
  func next() throws -> [MessagingEvent] {
    guard let due, monotonicMicroseconds() >= due else { return [] }
    watch.drain()
    if watch.isLost {
      // The folder was removed; it comes back with the next signal, and somebody has to notice.
      folder.make()
      watch = Watch(folder.path)
    }
    let signals = folder.signals()
    if lastLook == nil { folder.clear(signals) }
    lastLook = monotonicMicroseconds()
    isTouched = false
    let (fresh, next) = freshness.look(at: signals)
    nextEnd = next
    // Somebody may have blocked somebody, or left.
    let now = try fresh.isEmpty ? nil : messenger.existingStore()?.dataVersion()
    if now != version { isTold = [:] }
    version = now
    isTold = try Dictionary(uniqueKeysWithValues: fresh.map { ($0, try isTold[$0] ?? tells(of: $0)) })
    let told = fresh.filter { isTold[$0] == true }
    return typingEvents(told) + (try presenceEvents(told))
  }

  private func tells(of signal: LiveFolder.Signal) throws -> Bool {
    switch signal {
    case .typing(let conversation, let user):
      try kinds.contains(.typing) && !feed.leavesOut(conversation)
        && messenger.sees(user, typingIn: conversation, among: feed.conversations)
    case .present(let user):
      try kinds.contains(.presence) && messenger.seesPresence(of: user, among: feed.conversations)
    }
  }

  private func typingEvents(_ told: [LiveFolder.Signal]) -> [MessagingEvent] {
    var now: [Identifier: [Handle]] = [:]
    for case .typing(let conversation, let user) in told { now[conversation, default: []].append(user) }
    now = now.mapValues { $0.sorted() }
    let changed = Set(now.keys).union(typing.keys).filter { now[$0] != typing[$0] }
    typing = now
    return changed.sorted().map {
      .typing(Typing(conversationID: $0, users: now[$0] ?? []))
    }
  }

  private func presenceEvents(_ told: [LiveFolder.Signal]) throws -> [MessagingEvent] {
    var now: Set<Handle> = []
    for case .present(let user) in told { now.insert(user) }
    let changed = now.symmetricDifference(online)
    online = now
    return try changed.sorted().map { user in
      // A user who hides it from now on has gone, and no more is said of them.
      let isShown = try now.contains(user) || messenger.seesPresence(of: user, among: feed.conversations)
      let seen = isShown ? folder.time(of: .present(user)) : nil
      return .presence(Presence(user: user, isOnline: now.contains(user), lastSeenAt: seen))
    }
  }
}
