internal import DMKit
internal import DMModel
internal import DMStore
internal import DMSystem

/// Exchanges typing and presence between a store's folder of signals and the hub.
///
/// The signals of other users become files in that folder, as in a store that all users share. The hub is asked for
/// them only while a program on this machine watches them.
final class SignalBridge {
  private let messenger: Messenger
  private let link: any HubLink
  private let folder: LiveFolder
  private let me: Handle
  private var freshness = Freshness()
  /// For each conversation, the time of the last typing signal that was sent to the hub.
  private var given: [Identifier: Timestamp] = [:]
  /// The typing signals of other users that are shown here, and when each ends.
  private var shown: [LiveFolder.Signal: Int64] = [:]
  /// When to ask the hub again who types, when to ask who is online, and when to send the user's presence again.
  private var (typingDue, presenceDue, ownPresenceDue) = (Int64(0), Int64(0), Int64(0))
  /// When the hub last answered the question who is online.
  private var presenceAnsweredAt: Int64?
  /// The users who must not see this user's presence, as last sent to the hub; nil if the list was not sent on this
  /// connection.
  private var hiddenFrom: [Handle]?
  /// The conversations to ask the hub about when a program watches all conversations, and when this list was made.
  private var newest: (ids: [Identifier], at: Int64) = ([], .min)
  /// When `carry` must be called even if no file changes, as a time of `monotonicMicroseconds`.
  private(set) var due: Int64 = 0

  /// The minimum number of microseconds between two requests to the hub for typing or presence, and between two signals
  /// of the user's presence.
  private static let typingPause: Int64 = 800_000
  private static let presencePause: Int64 = 5_000_000
  private static let ownPresencePause: Int64 = 12_000_000
  /// How often the list `newest` is made again, in microseconds, and its maximum length.
  private static let newestPause: Int64 = 5_000_000
  private static let newestCount = 50
  /// The first question asks who was online in the last `longAgo` seconds, so that a time can be shown for users who
  /// were online lately.
  private static let longAgo = 30 * 86_400

  /// - Throws: an error of the store.
  init(_ messenger: Messenger, _ link: any HubLink) throws {
    self.messenger = messenger
    self.link = link
    folder = LiveFolder(path: messenger.location.live)
    me = messenger.identity.handle
  }

  /// Resets the state, for a new connection.
  func begin() {
    for case .typing(let conversation, let user) in folder.signals().keys where user != me {
      folder.takeBack(.typing(conversation, user))
    }
    (given, shown) = ([:], [:])
    (typingDue, presenceDue, ownPresenceDue) = (0, 0, 0)
    (presenceAnsweredAt, hiddenFrom) = (nil, nil)
    due = 0
  }

  /// Sends the user's new signals to the hub, and shows the signals of other users that programs on this machine watch.
  ///
  /// - Returns: whether the hub has answered.
  func carry() throws -> Bool {
    let now = monotonicMicroseconds()
    for (signal, end) in shown where end <= now { hide(signal) }
    let signals = folder.signals()
    let (fresh, next) = freshness.look(at: signals)
    var call = HubSignals()
    take(own: fresh, of: signals, into: &call)
    try watch(fresh, now, &call)
    due = min(next ?? .max, shown.values.min() ?? .max)
    let isAsked = call != HubSignals()
    let isAnswered = try isAsked && exchange(call, now)
    // Each question is asked again for as long as a program watches.
    let isTypingWatched = fresh.contains { if case .watched = $0 { true } else { false } }
    if isTypingWatched { due = min(due, typingDue) }
    if fresh.contains(.presenceWatched) { due = min(due, presenceDue) }
    if fresh.contains(.present(me)) { due = min(due, ownPresenceDue) }
    due = max(due, now + 50_000)
    return isAnswered
  }

  // MARK: Signals and questions of this machine

  private func take(
    own fresh: [LiveFolder.Signal], of signals: [LiveFolder.Signal: Timestamp], into call: inout HubSignals
  ) {
    var typed: Set<Identifier> = []
    for case .typing(let conversation, me) in fresh {
      typed.insert(conversation)
      let signal = LiveFolder.Signal.typing(conversation, me)
      guard let time = signals[signal], given[conversation] != time else { continue }
      given[conversation] = time
      let age = Timestamp.now.microseconds - time.microseconds
      call.typing.append((conversation, Int((signal.lifetime - min(max(age, 0), signal.lifetime)) / 1000)))
    }
    call.ended = given.keys.filter { !typed.contains($0) }.sorted()
    for conversation in call.ended { given[conversation] = nil }
  }

  private func watch(_ fresh: [LiveFolder.Signal], _ now: Int64, _ call: inout HubSignals) throws {
    let blocked = try messenger.blockedUsers().map(\.handle)
    call.isPresent = fresh.contains(.present(me)) && now >= ownPresenceDue
    // A newly blocked user must no longer see whether the user of this store is or was online.
    if call.isPresent || blocked != hiddenFrom ?? [] { call.hiddenFrom = blocked }
    if fresh.contains(.presenceWatched), now >= presenceDue {
      call.seenSeconds = presenceAnsweredAt.map { Int((now - $0) / 1_000_000) + 40 } ?? Self.longAgo
    }
    guard now >= typingDue || call != HubSignals() else { return }
    var watched: Set<Identifier> = []
    for case .watched(let conversation) in fresh { try watched.formUnion(conversation.map { [$0] } ?? newest(now)) }
    call.watched = Array(watched.sorted().prefix(2 * Self.newestCount))
  }

  /// The first 50 conversations of the user's list: pinned ones first, then those with the latest activity.
  private func newest(_ now: Int64) throws -> [Identifier] {
    if newest.at > now - Self.newestPause { return newest.ids }
    var query = ListQuery()
    query.limit = Self.newestCount
    newest = (try messenger.conversations(query).map(\.id), now)
    return newest.ids
  }

  /// - Returns: whether the hub has answered.
  private func exchange(_ call: HubSignals, _ now: Int64) throws -> Bool {
    var answer: [HubSignal]?
    do {
      answer = try link.signals(call)
    } catch HubFault.again, HubFault.locked, HubFault.timedOut, HubFault.poison, HubFault.denied {
      // A failed signal does not end the connection, because the next call sends newer signals.
    }
    // On a slow network, questions about typing are asked less often, so that they do not delay messages.
    if !call.watched.isEmpty { typingDue = now + max(Self.typingPause, 4 * (monotonicMicroseconds() - now)) }
    if call.seenSeconds != nil { presenceDue = now + Self.presencePause }
    if call.isPresent { ownPresenceDue = now + Self.ownPresencePause }
    guard let answer else { return false }
    if call.seenSeconds != nil { presenceAnsweredAt = now }
    if let hidden = call.hiddenFrom { hiddenFrom = hidden }
    try show(answer, watched: call.watched, asksPresence: call.seenSeconds != nil)
    return true
  }

  // MARK: Signals of other users

  private func show(_ answer: [HubSignal], watched: [Identifier], asksPresence: Bool) throws {
    let now = monotonicMicroseconds()
    var typed: Set<LiveFolder.Signal> = []
    for signal in answer {
      switch signal {
      case .typing(let conversation, let person, let rest):
        guard let user = try handle(person) else { continue }
        let signal = LiveFolder.Signal.typing(conversation, user)
        typed.insert(signal)
        let end = now + rest * 1000
        if shown[signal].map({ abs($0 - end) > 500_000 }) ?? true {
          folder.give(signal, age: max(0, signal.lifetime - rest * 1000))
        }
        shown[signal] = end
        due = min(due, end)
      case .present(let person, let age):
        if let user = try handle(person) { show(.present(user), age: age * 1000) }
      }
    }
    for case .typing(let conversation, let user) in shown.keys where watched.contains(conversation) {
      let signal = LiveFolder.Signal.typing(conversation, user)
      if !typed.contains(signal) { hide(signal) }
    }
    if asksPresence { try hidePresence(except: answer) }
  }

  /// Shows the presence of a user.
  ///
  /// The modification time of a file is the time of its signal, so each change of the file would show the user as online
  /// now. Therefore an old signal only creates a missing file, and does not change an existing file.
  private func show(_ present: LiveFolder.Signal, age: Int64) {
    guard let shown = folder.time(of: present) else { return folder.give(present, age: age) }
    let isNewer = Timestamp.now.microseconds - age > shown.microseconds + 1_000_000
    if age < present.lifetime, isNewer { folder.give(present, age: age) }
  }

  /// Removes the presence signals of users that the hub no longer lists, because they now hide their presence from this
  /// user.
  private func hidePresence(except answer: [HubSignal]) throws {
    var listed: Set<Handle> = [me]
    for case .present(let person, _) in answer { if let user = try handle(person) { listed.insert(user) } }
    for case (.present(let user), let time) in folder.signals() where !listed.contains(user) {
      let present = LiveFolder.Signal.present(user)
      if Timestamp.now.microseconds - time.microseconds < present.lifetime { folder.takeBack(present) }
    }
    SignalFile.touch(messenger.location.livePresence)
  }

  private func hide(_ signal: LiveFolder.Signal) {
    shown[signal] = nil
    folder.takeBack(signal)
  }

  private func handle(_ person: Int64) throws -> Handle? {
    guard let store = try messenger.existingStore() else { return nil }
    return try store.read { try store.hub.user(ofPerson: person).map(store.users.handle) }
  }
}
