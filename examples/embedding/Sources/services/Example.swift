import DMKit

/// Two people use the services, and what alice's screen is told is printed.
///
///     swift run services STORE FILE
@main struct Example {
  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 3 else { fatalError("usage: services STORE FILE") }
    let store = StoreLocation(directory: words[1], isNamed: true)
    let (alice, bob) = (Services(store, as: try Handle("alice")), Services(store, as: try Handle("bob")))
    let chat = try await alice.createConversation(with: [try Handle("bob")], titled: nil)
    var updates = try await alice.updates(of: [chat.id]).makeAsyncIterator()
    try await talk(alice, bob, chat.id, file: words[2], &updates)
    try await go(alice, bob, chat.id, &updates)
    try await leave(alice, chat.id)
  }

  private typealias Updates = AsyncStream<Update>.Iterator

  private static func talk(
    _ alice: Services, _ bob: Services, _ chat: Identifier, file: String, _ updates: inout Updates
  ) async throws {
    let hello = try await alice.send("hello", attachments: [], to: chat, nonce: "1")
    await show(&updates)
    // Sent again, as after a connection that was lost: the same message.
    guard try await alice.send("hello", attachments: [], to: chat, nonce: "1").id == hello.id else { return }
    try await bob.markDelivered(upTo: hello.id, in: chat)
    await show(&updates)
    try await bob.markRead(upTo: hello.id, in: chat)
    await show(&updates)
    let attachment = try await bob.prepareAttachment(file)
    let answer = try await bob.send("a file", attachments: [attachment.id], to: chat, nonce: "2")
    await show(&updates)
    try await bob.edit(answer.id, to: "the file")
    await show(&updates)
    try await bob.delete(answer.id, forEveryone: true)
    await show(&updates)
    try await alice.setMuted(true, chat)
    await show(&updates)
  }

  /// Alice goes to another screen: what is said in the first conversation is not told any more.
  private static func go(
    _ alice: Services, _ bob: Services, _ chat: Identifier, _ updates: inout Updates
  ) async throws {
    let group = try await bob.createConversation(with: [try Handle("alice")], titled: "ops")
    alice.setVisible([group.id])
    _ = try await bob.send("not here", attachments: [], to: chat, nonce: "3")
    _ = try await bob.send("here", attachments: [], to: group.id, nonce: "4")
    // The stream may have come to the creation of the group before the screen changed, or after it.
    await show(&updates) { if case .added(let message) = $0 { message.text != nil } else { false } }
    try await alice.setPinned(true, chat)
  }

  private static func leave(_ alice: Services, _ chat: Identifier) async throws {
    let page = try await alice.fetchConversations(after: nil, limit: 1)
    let rest = try await alice.fetchConversations(after: page.last?.pageCursor, limit: 9)
    print((page + rest).map { "\($0.name) \($0.unreadCount)" }.joined(separator: ", "))
    print(try await alice.fetchMessages(in: chat, before: nil).map { $0.text ?? "-" }.joined(separator: ", "))
    if let group = rest.first { try await alice.leaveConversation(group.id) }
    let left = try await alice.fetchConversations(after: nil, limit: 9).filter { $0.myRole != .former }
    print(left.map(\.name).joined(separator: ", "))
    try await alice.setBlocked(true, try Handle("bob"))
    print(try await alice.fetchMessages(in: chat, before: nil).compactMap(\.text).joined(separator: ", "))
  }

  /// Prints the next update that is wanted.
  private static func show(_ updates: inout Updates, where isWanted: (Update) -> Bool = { _ in true }) async {
    var next = await updates.next(isolation: nil)
    while let update = next, !isWanted(update) { next = await updates.next(isolation: nil) }
    switch next {
    case .added(let message): print("added '\(message.text ?? "")'")
    case .edited(let message): print("edited '\(message.text ?? "")'")
    case .deleted: print("deleted")
    case .typing(let people, _): print("typing: \(people.count)")
    case .status(let status, let messages, let person): print("\(person) \(status.rawValue) \(messages.count)")
    case .conversation(let conversation): print("conversation \(conversation.mutedUntil == nil ? "heard" : "muted")")
    case .gap: print("gap")
    case .failed(let error): print("failed: \(error)")
    case nil: print("the end")
    }
  }
}
