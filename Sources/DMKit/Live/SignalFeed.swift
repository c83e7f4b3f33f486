internal import DMStore
internal import DMSystem

/// The typing and presence events of a follower.
///
/// The folder of signals is read at most four times a second, however often signals change.
final class SignalFeed {
  private let messenger: Messenger
  private let kinds: Set<MessagingEvent.Kind>
  private let feed: ChangeFeed
  private let folder: LiveFolder
  private var watch: Watch
  private var freshness = Freshness()
  /// For each valid signal, whether the user gets its events.
  ///
  /// The cache is emptied when the store is written to.
  private var isReported: [LiveFolder.Signal: Bool] = [:]
  private var version: Int64?
  private var typing: [Identifier: [Handle]] = [:]
  private var online: Set<Handle> = []
  private var lastLook: Int64?
  private var nextEnd: Int64?
  /// The timer for `ask()`; nil in a store that is not linked.
  private var asking: RepeatingTimer?

  /// Set by the caller when the descriptor is ready.
  ///
  /// Until the next check, `descriptor` is nil, so that the same change does not end another wait.
  var isTouched = false

  /// The minimum time between two checks, in microseconds.
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

  /// The descriptor that becomes ready when a signal changes; nil from a change until the next check.
  var descriptor: Int32? { isTouched ? nil : watch.descriptor }

  /// The time of the next check, on the monotonic clock; nil if the feed waits only for a change of the folder.
  var due: Int64? {
    guard let lastLook else { return 0 }
    let look = isTouched || watch.descriptor == nil ? lastLook + Self.pause : nextEnd
    return [look, asking?.due].compactMap(\.self).min()
  }

  /// Returns the events since the last check; none if the next check is not due yet.
  func next() throws -> [MessagingEvent] {
    guard let due, monotonicMicroseconds() >= due else { return [] }
    if asking?.fires() == true { try ask() }
    watch.drain()
    if watch.isLost {
      // If the folder was removed, creates it again, so that the next signal is noticed.
      folder.make()
      watch = Watch(folder.path)
    }
    let signals = folder.signals()
    if lastLook == nil { folder.clear(signals) }
    lastLook = monotonicMicroseconds()
    isTouched = false
    let (fresh, next) = freshness.look(at: signals)
    nextEnd = next
    // A write makes the cache invalid: a user may have blocked another user, or left a conversation.
    let now = try fresh.isEmpty ? nil : messenger.existingStore()?.dataVersion()
    if now != version { isReported = [:] }
    version = now
    isReported = try Dictionary(uniqueKeysWithValues: fresh.map { ($0, try isReported[$0] ?? reports($0)) })
    let reported = fresh.filter { isReported[$0] == true }
    return typingEvents(reported) + (try presenceEvents(reported))
  }

  /// If this feed reports who types or who is online, refreshes the signals that make the sync process ask the hub for it.
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
    // If the hub has not answered lately, a missing signal does not mean that the user is offline.
    if asking != nil, !messenger.knowsPresence { now.formUnion(online) }
    let changed = now.symmetricDifference(online)
    online = now
    return try changed.sorted().map { user in
      // A user who now hides their presence is reported as offline, without the time at which they were last online.
      let isShown = try now.contains(user) || messenger.seesPresence(of: user, among: feed.conversations)
      let seen = isShown ? folder.time(of: .present(user)) : nil
      return .presence(Presence(user: user, isOnline: now.contains(user), lastSeenAt: seen))
    }
  }
}
