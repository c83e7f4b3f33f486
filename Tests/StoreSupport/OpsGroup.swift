import Testing

@testable import DMKit
@testable import DMSystem
@testable import TestSupport

/// A group `ops`, owned by alice, with the members bob and carol; the user dave was never in it.
///
/// Message 1 announces the group, so the first message that a test sends is message 2.
struct OpsGroup {
  let store: TemporaryStore
  let alice: Messenger
  let bob: Messenger
  let carol: Messenger
  let dave: Messenger

  init() throws {
    store = try TemporaryStore(users: ["alice", "bob", "carol", "dave"])
    (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    (carol, dave) = (try store.messenger("carol"), try store.messenger("dave"))
    _ = try alice.createGroup(titled: "ops", with: ["bob", "carol"])
  }

  /// How many rows `body` appends to the change log; 0 when it changes nothing.
  func changes(_ body: () throws -> Void) throws -> Int64 {
    func last() throws -> Int64 { try store.integers("SELECT max(rev) FROM change")[0][0] ?? 0 }
    let before = try last()
    try body()
    return try last() - before
  }

  /// Sends messages 2 to 4; then deletes one for everyone, deletes one for `user`, and lets one expire.
  ///
  /// - Returns: the numbers of messages that are unknown to the user; 5 was never sent.
  func goneMessages(for user: Messenger) throws -> SeqRange {
    for text in ["deleted", "deleted for the user", "expired"] { try alice.say(text, to: "+ops") }
    try alice.delete("+ops:2", forEveryone: true)
    try user.delete("+ops:3")
    try expire("expired")
    return 2...5
  }

  /// Lets the messages with a text expire now.
  func expire(_ text: String) throws { try store.execute("UPDATE message SET expires_at = 1 WHERE text = '\(text)'") }
}

/// Acts on messages and looks them up, by their references.
extension Messenger {
  @discardableResult
  func act(_ act: Edit.Act, on message: String) throws -> Edit.Outcome {
    try edit([Edit(MessageReference(message), act)])[0].get()
  }

  @discardableResult
  func edit(_ message: String, to text: String) throws -> Message {
    guard case .message(let edited) = try act(.text(text), on: message) else {
      throw DMError(.internal, "an edit returns the message")
    }
    return edited
  }

  func delete(_ message: String, forEveryone: Bool = false) throws {
    try act(.delete(forEveryone: forEveryone), on: message)
  }

  func react(_ emoji: String?, to message: String) throws { try act(.react(emoji), on: message) }

  func message(_ reference: String) throws -> Message {
    let (conversation, range) = try #require(try splitReference(reference))
    return try #require(try messages(in: conversation, [range]).first)
  }

  func texts(in conversation: String) throws -> [String] { try everything(in: conversation).compactMap(\.text) }

  /// The texts that a search finds, oldest first.
  func found(_ words: String) throws -> [String] {
    var request = SearchRequest(words)
    (request.newestFirst, request.limit) = (true, nil)
    let results = try search(request)
    var texts: [String] = []
    while case let batch = try results.next(), !batch.isEmpty { texts += batch.compactMap(\.message.text) }
    return texts.reversed()
  }

  func seen(_ conversation: String) throws -> Conversation {
    try self.conversation(ConversationReference(conversation))
  }
}

extension TemporaryStore {
  /// A store with the group `club` of alice and bob, which carol joined between its messages 2 and 4.
  static func club() throws -> TemporaryStore {
    let store = try TemporaryStore(users: ["alice", "bob", "carol"])
    let alice = try store.messenger("alice")
    _ = try alice.createGroup(titled: "club", with: ["bob"])
    try alice.say("one", to: "+club")
    _ = try alice.add(["carol"], to: .title("club"))
    try alice.say("two", to: "+club")
    return store
  }
}
