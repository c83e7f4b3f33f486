import FoundationEssentials
import Testing

@testable import ChatProgram
@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// What a window shows of what happens in its conversation.
@Suite struct ChatEventTests {
  private let store: TemporaryStore
  private let bob: Messenger

  init() throws {
    store = try TemporaryStore()
    bob = try store.messenger("bob")
    for text in ["one", "two", "three"] { try bob.say(text, to: "alice") }
  }

  private func window() throws -> ChatFixture { try ChatFixture(store, as: "alice", "bob") }

  @Test func `a message comes below the others`() throws {
    var window = try window()
    #expect(window.texts == ["one", "two", "three"])
    try bob.say("four", to: "alice")
    try window.follow()
    #expect(window.texts == ["one", "two", "three", "four"])
    #expect(window.state == "-- bob, offline --" && window.line == "> ")
  }

  @Test func `the line of unread messages goes when the user sends`() throws {
    var window = try window()
    #expect(window.conversation.count { $0.contains("unread") } == 1)
    try window.enter("hello")
    try window.follow()
    #expect(window.texts == ["one", "two", "three", "hello"] && window.line == "> ")
    #expect(window.conversation.count { $0.contains("unread") } == 0)
  }

  @Test func `an edit, a reaction and a deletion change the rows of their message`() throws {
    var window = try window()
    _ = try bob.edit([Edit(MessageReference("alice:1"), .text("uno"))])
    _ = try bob.edit([Edit(MessageReference("alice:2"), .react("🎉"))])
    try bob.delete("alice:3", forEveryone: true)
    try window.follow()
    #expect(window.texts == ["uno", "two"])
    #expect(window.conversation[2].contains("(edited)") && window.conversation[3].contains("🎉 bob"))
    #expect(window.conversation[4].contains("3 bob (gone)"))
  }

  @Test func `an answer to a message that is deleted does not repeat it any more`() throws {
    try bob.say("yes", to: "alice", replyTo: "alice:1")
    var window = try window()
    #expect(window.conversation.contains { $0.contains("(to 1 bob 'one')") })
    try bob.delete("alice:1", forEveryone: true)
    try window.follow()
    #expect(!window.conversation.contains { $0.contains("'one'") })
  }

  @Test func `typing is shown, and goes`() throws {
    var window = try window()
    let typing = try #require(try bob.typing(in: ConversationReference("alice")))
    let shown = typing.show()
    try window.follow(untilState: { $0.hasSuffix(": bob is typing --") })
    typing.hide(unlessShownSince: shown)
    try window.follow(untilState: { !$0.contains("typing") })
  }

  @Test func `the messages of a user who is blocked go, and the state says why`() throws {
    var window = try window()
    _ = try store.messenger("alice").setBlocked(true, ["bob"])
    try window.follow()
    #expect(window.texts == [] && window.state.contains("blocked by you"))
    _ = try store.messenger("alice").setBlocked(false, ["bob"])
    try bob.say("again", to: "alice")
    try window.follow()
    #expect(window.texts.last == "again" && !window.state.contains("blocked"))
  }

  @Test func `the first message of a conversation begins it`() throws {
    var window = try ChatFixture(store, as: "alice", "carol")
    #expect(window.rows == ["-- carol --", "> "])
    try store.messenger("carol").say("hello", to: "alice")
    try window.follow()
    #expect(window.texts == ["hello"] && window.model.conversation != nil)
  }

  @Test func `only what is on the screen is to be marked as read`() throws {
    for number in 1...50 { try bob.say("later \(number)", to: "alice") }
    var window = try window()
    let seen = render(window.model).unread.compactMap(\.seq)
    #expect(seen == Array(53 - seen.count + 1...53) && seen.count == window.conversation.count)
    var marks = ReadMarks()
    marks.unread = render(window.model).unread
    let read = try marks.mark(window.messenger, now: .max)
    window.model.loaded.setRead(read)
    #expect(read.count == seen.count && render(window.model).unread == [])
    #expect(try window.messenger.conversation(ConversationReference("bob")).unreadCount == 53 - seen.count)
  }

  @Test func `a store that cannot be written to is shown, and said`() throws {
    var window = try window()
    var marks = ReadMarks()
    marks.unread = render(window.model).unread
    let lock = try FileLockInTheWay(store)
    #expect(try marks.mark(window.messenger, now: 0) == [] && marks.isRefused)
    window.model.cannotMark = marks.isRefused
    #expect(window.texts == ["one", "two", "three"] && window.state.contains("the store cannot be written to"))
    try lock.remove()
    #expect(try marks.mark(window.messenger, now: .max).count == 3 && !marks.isRefused)
  }
}

/// A folder in the place of the lock of a store, which then cannot be written to.
private struct FileLockInTheWay {
  private let path: String

  init(_ store: TemporaryStore) throws {
    path = store.location.directory + "/store.lock"
    try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  func remove() throws {
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
  }
}
