import Testing

@testable import DMKit
@testable import DMStore
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// Four people who do the same acts in one shared store and on a hub.
final class Everyday {
  static let handles = ["alice", "bob", "carol", "dave"]
  /// The ids of a conversation in the shared store and on the hub.
  typealias Talk = (one: Identifier, hub: Identifier)

  private let hub = SharedHub()
  private let store: TemporaryStore
  private let shared: [Messenger]
  let machines: [Machine]
  private var talks: [Talk] = []
  private var dice: SplitMix64
  private(set) var log: [String] = []
  private var said = 0
  /// By conversation and person, the messages that were edited, deleted or reacted to while the person was not a
  /// member.
  private var unseenActs: [Key: Set<Int>] = [:]
  /// By conversation and person, the messages that were deleted for everyone while the person was not a member.
  ///
  /// A member who returns pulls tombstones from a hub, and a tombstone does not say who had read the message.
  private var lateTombstones: [Key: Set<Int>] = [:]

  private struct Key: Hashable {
    let talk: Int
    let person: Int
  }

  init(seed: UInt64) throws {
    dice = SplitMix64(seed: seed)
    hub.model = ModelHub(seed: seed)
    store = try TemporaryStore(users: Self.handles)
    shared = try Self.handles.map { [store] in try store.messenger($0) }
    machines = try Self.handles.map { [hub] in try hub.joined($0) }
    try settle()
  }

  /// Syncs until every machine has everything that was queued.
  private func settle() throws {
    hub.model.clock = Timestamp.now.microseconds
    for _ in 1...3 { for machine in machines { try machine.sync() } }
  }

  /// Marks messages as delivered in the shared store, as the machines of a hub do for what they receive.
  private func receive() throws {
    for messenger in shared {
      var query = ListQuery()
      (query.archived, query.limit) = (.included, nil)
      for conversation in try messenger.conversations(query) {
        let others = try messenger.history(HistoryQuery(.id(conversation.id))).rest().filter {
          !$0.isMine && $0.systemKind == nil
        }
        if let last = others.last?.seq { _ = try messenger.markDelivered(upTo: [conversation.id: last]) }
      }
    }
  }

  func step() throws {
    let (who, act) = (dice.below(Self.handles.count), try act())
    log.append("\(Self.handles[who]) \(act)")
    let one = outcome { try perform(act, shared[who], \.one) }
    let other = outcome { try perform(act, machines[who].messenger, \.hub) }
    try settle()
    if one == "done" { try receive() }
    // On a hub, a conversation does not exist for a person who was never in it.
    let isStranger = one == "not_allowed" && ["unknown_conversation", "unknown_message"].contains(other)
    guard one == other || isStranger else { throw Violation(description: "\(one) in one store, \(other) on a hub") }
    try learn(who)
    if one == "done", case .edit(let talk, let number, let edit) = act { try noteUnseen(talk, number, edit) }
    for (index, machine) in machines.enumerated() {
      let pending = try #require(try machine.messenger.existingStore()).outbox.pending()
      if !pending.isEmpty { throw Violation(description: "\(Self.handles[index])'s store keeps \(pending)") }
    }
    for person in Self.handles.indices { for talk in talks.indices { try compare(talk, to: person) } }
  }

  /// On a hub, a user who has left a conversation does not learn of acts on its messages until they return.
  private func noteUnseen(_ talk: Int, _ number: Int, _ edit: Edit.Act) throws {
    for person in Self.handles.indices where try !isIn(person, talk) {
      let key = Key(talk: talk, person: person)
      unseenActs[key, default: []].insert(number)
      if edit == .delete(forEveryone: true) { lateTombstones[key, default: []].insert(number) }
    }
  }

  private func isIn(_ person: Int, _ talk: Int) throws -> Bool {
    do {
      return try shared[person].conversation(.id(talks[talk].one)).myRole != .former
    } catch let error as DMError where error.code == .notAllowed {
      return false
    }
  }

  private func outcome(_ body: () throws -> Void) -> String {
    do { try body() } catch let error as DMError { return error.code.rawValue } catch { return "\(error)" }
    return "done"
  }

  /// Adds the conversation that the act has begun, if there is one, to `talks`.
  private func learn(_ who: Int) throws {
    func new(_ messenger: Messenger, _ earlier: [Identifier]) throws -> Identifier? {
      var query = ListQuery()
      (query.archived, query.limit) = (.included, nil)
      return try messenger.conversations(query).map(\.id).first { !earlier.contains($0) }
    }
    let found = (try new(shared[who], talks.map(\.one)), try new(machines[who].messenger, talks.map(\.hub)))
    switch found {
    case (let one?, let hub?): talks.append((one, hub))
    case (nil, nil): break
    default: throw Violation(description: "only one of them has a new conversation: \(found)")
    }
  }
}

// MARK: - Acts

extension Everyday {
  /// What a person does; conversations are indices of `talks`.
  enum Act {
    case begin(with: String, text: String)
    case group(title: String, with: [String])
    case say(Int, text: String, replyTo: Int?, nonce: String?)
    case forward(Int, Int, to: Int)
    case edit(Int, Int, Edit.Act)
    case read(Int, Int?, Marked.Action, isPrivate: Bool)
    case add(Int, String, withHistory: Bool)
    case remove(Int, String)
    case leave(Int)
    case title(Int, String)
    case avatar(Int, String?)
    case expire(Int, Int?)
    case own(Int, OwnChange)
    case block(String, Bool)
    case profile(String)
  }

  private func act() throws -> Act {
    said += 1
    let other = Self.handles[dice.below(Self.handles.count)]
    guard !talks.isEmpty, !dice.chance(8) else {
      return dice.chance(50)
        ? .begin(with: other, text: "hello \(said)") : .group(title: "group \(said)", with: [other])
    }
    let talk = dice.below(talks.count)
    let number = 1 + dice.below(12)
    switch dice.below(32) {
    case 0...8:
      let text = dice.chance(30) ? "@\(other) look \(said)" : "text \(said)"
      return .say(
        talk, text: text, replyTo: dice.chance(25) ? number : nil, nonce: dice.chance(20) ? "n\(dice.below(9))" : nil)
    case 9: return .forward(talk, number, to: dice.below(talks.count))
    case 10, 11: return .edit(talk, number, .text("edited \(said)"))
    case 12: return .edit(talk, number, .delete(forEveryone: dice.chance(60)))
    case 13, 14: return .edit(talk, number, .react(["👍", "👀", nil][dice.below(3)]))
    case 15: return .edit(talk, number, .report(reason: nil))
    case 16...18:
      let act: Marked.Action = [.read, .delivered, .unread][dice.below(3)]
      return .read(talk, dice.chance(50) ? number : nil, act, isPrivate: act == .read && dice.chance(10))
    case 19, 20: return .add(talk, other, withHistory: dice.chance(50))
    case 21: return .remove(talk, other)
    case 22: return .leave(talk)
    case 23: return .title(talk, "title \(said)")
    case 24: return .avatar(talk, dice.chance(50) ? "https://example.org/\(said)" : nil)
    case 25: return .expire(talk, dice.chance(50) ? 3600 : nil)
    case 26, 27:
      let changes: [OwnChange] = [
        .pinned(dice.chance(50)), .archived(dice.chance(50)), .muted(for: nil), .unmuted, .deleted, .draft("d\(said)"),
        .draft(nil), .named(dice.chance(50) ? "own \(said)" : nil),
      ]
      return .own(talk, changes[dice.below(changes.count)])
    case 30, 31: return .edit(talk, number, .pin(dice.chance(65)))
    case 28: return .block(other, dice.chance(60))
    default: return .profile("name \(said)")
    }
  }

  private func perform(_ act: Act, _ messenger: Messenger, _ id: (Talk) -> Identifier) throws {
    func reference(_ talk: Int) -> ConversationReference { .id(id(talks[talk])) }
    func message(_ talk: Int, _ number: Int) -> MessageReference { .number(number, in: reference(talk)) }
    switch act {
    case .begin(let handle, let text):
      _ = try messenger.send(Outgoing(to: .direct(Handle(handle)), text: text))
    case .group(let title, let handles):
      _ = try messenger.createGroup(titled: title, with: handles.map { try Handle($0) })
    case .say(let talk, let text, let number, let nonce):
      let reply = number.map { message(talk, $0) }
      _ = try messenger.send(Outgoing(to: reference(talk), text: text, nonce: nonce, replyTo: reply))
    case .forward(let talk, let number, let target):
      let original = try messenger.messageToForward(message(talk, number))
      _ = try messenger.send(Outgoing(to: reference(target), text: "", forwards: original.id))
    case .edit(let talk, let number, let act): _ = try messenger.edit([Edit(message(talk, number), act)])[0].get()
    case .read(let talk, let number, let act, let isPrivate):
      var options = Messenger.MarkOptions()
      (options.act, options.isPrivate) = (act, isPrivate)
      let range = number.map { RangeReference(from: 1, to: $0) } ?? RangeReference(from: nil, to: nil)
      _ = try messenger.markRead(.ranges([range]), in: reference(talk), options)
    case .add(let talk, let handle, let withHistory):
      _ = try messenger.add([Handle(handle)], to: reference(talk), withHistory: withHistory)
    case .remove(let talk, let handle): _ = try messenger.remove([Handle(handle)], from: reference(talk))
    case .leave(let talk): _ = try messenger.leave(reference(talk))
    case .title(let talk, let title): _ = try messenger.setTitle(title, of: reference(talk))
    case .avatar(let talk, let url): _ = try messenger.setAvatar(url, of: reference(talk))
    case .expire(let talk, let seconds): _ = try messenger.setExpiry(seconds.map { .seconds($0) }, of: reference(talk))
    case .own(let talk, let change): _ = try messenger.change(change, in: [reference(talk)])
    case .block(let handle, let isBlocked): _ = try messenger.setBlocked(isBlocked, [Handle(handle)])
    case .profile(let name): _ = try messenger.setProfile(ProfileChange(displayName: name))
    }
  }
}

// MARK: - Comparing

extension Everyday {
  private func compare(_ number: Int, to person: Int) throws {
    let (talk, handle, key) = (talks[number], try Handle(Self.handles[person]), Key(talk: number, person: person))
    if try isIn(person, number) { unseenActs[key] = nil }
    let unseen = unseenActs[key] ?? []
    let late = lateTombstones[key] ?? []
    let one = try seen(shared[person], talk.one, by: handle, without: unseen, late)
    let other = try seen(machines[person].messenger, talk.hub, by: handle, without: unseen, late)
    if one == other || one == ["not_allowed"] && other == ["unknown_conversation"] { return }
    let difference = (0..<max(one.count, other.count)).first { index in
      index >= one.count || index >= other.count || one[index] != other[index]
    }
    func line(_ lines: [String]) -> String { difference.flatMap { $0 < lines.count ? lines[$0] : nil } ?? "nothing" }
    throw Violation(
      description: "\(Self.handles[person]) sees in one store\n  \(line(one))\nand on a hub\n  \(line(other))")
  }

  /// A conversation as a person sees it, in lines, without ids and times.
  ///
  /// Leaves out receipts that differ on a hub. Former members do not get the receipts that others send later. If a
  /// person blocks a user, the others do not learn of that, so they still see that user's receipts.
  ///
  /// - Parameters:
  ///   - unseen: messages to leave out, together with the replies to them; if there are any, the counts of messages are
  ///     left out, too.
  ///   - lateTombstones: messages whose status is left out.
  private func seen(
    _ messenger: Messenger, _ id: Identifier, by handle: Handle, without unseen: Set<Int>, _ lateTombstones: Set<Int>
  ) throws -> [String] {
    let conversation: Conversation
    do { conversation = try messenger.conversation(.id(id)) } catch let error as DMError {
      return [error.code.rawValue]
    }
    let counts =
      """
      unread \(conversation.unreadCount) mentions \(conversation.unreadMentionsCount) from \(conversation.firstUnreadSeq ?? 0)
      """
    let lines = [
      """
      \(conversation.title ?? "-") \(conversation.ownName ?? "-") by \(conversation.creator?.description ?? "-") \
      owned by \(conversation.owners.map(\.description).sorted()) of \(conversation.participants.map(\.description).sorted()) \
      \(unseen.isEmpty ? counts : "-") \
      \(conversation.isPinned) \(conversation.isArchived) \(conversation.mutedUntil != nil) \(conversation.draftText ?? "-") \
      \(conversation.avatarURL ?? "-") expires \(conversation.expireAfter.map { "\($0)" } ?? "-")
      """
    ]
    var query = HistoryQuery(.id(id))
    query.includesDeleted = true
    query.limit = nil
    let messages = try messenger.history(query).rest().filter { message in
      ![message.seq, message.replyTo?.seq].contains { $0.map(unseen.contains) == true }
    }
    let isMember = conversation.participants.contains(handle)
    func knowsReceipts(_ message: Message) throws -> Bool {
      if message.seq.map(lateTombstones.contains) == true { return false }
      guard isMember, let sender = Self.handles.firstIndex(of: message.sender.description) else { return isMember }
      return try message.sender == handle || shared[sender].blockedUsers().isEmpty
    }
    let receipts = try messages.filter { $0.deletedAt == nil }.flatMap { message in
      try messenger.receipts(for: [.message(.id(message.id))]).map { "\(message.id) \($0.kind) \($0.user)" }
    }
    return try lines
      + messages.map { message in
        let knowsReceipts = try knowsReceipts(message)
        let reactions = message.reactions.map { "\($0.emoji)\($0.users.map(\.description).sorted())" }.sorted()
        // A member who returns pulls a tombstone. The hub has erased its payload, which had the nonce.
        let nonce = message.deletedAt == nil ? message.nonce : nil
        let received = receipts.filter { $0.hasPrefix("\(message.id)") }.map { $0.dropFirst(37) }.sorted()
        return """
          \(message.seq ?? 0) \(message.sender) \(message.senderName ?? "-"): \(message.text ?? "-") \
          \(message.systemKind?.rawValue ?? "-") \(message.subject ?? "-") \(knowsReceipts ? "\(message.status)" : "-") unread \(message.isUnread) \
          to \(message.replyTo?.seq ?? 0) \(message.replyTo?.text ?? "-") of \(message.forwardedFrom?.description ?? "-") \
          \(nonce ?? "-") \(message.mentions) \(reactions) pinned by \(message.pin?.user.description ?? "-") edited \(message.editedAt != nil) \
          gone \(message.deletedAt != nil) expires \(message.expiresAt != nil) \(knowsReceipts ? received : [])
          """
      }
  }
}
