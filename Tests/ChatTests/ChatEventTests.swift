import FoundationEssentials
import Testing

@testable import ChatProgram
@testable import DMCLI
@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// A window shows the events of its conversation.
@Suite struct ChatEventTests {
  private let store: TemporaryStore
  private let bob: Messenger

  init() throws {
    (store, bob) = try ChatFixture.store(withTextsOfBob: ["one", "two", "three"])
  }

  private func window() throws -> ChatFixture { try ChatFixture(store, as: "alice", "bob") }

  @Test func `a new message appears below the others`() throws {
    var window = try window()
    #expect(window.texts == ["one", "two", "three"])
    try bob.say("four", to: "alice")
    try window.follow()
    #expect(window.texts == ["one", "two", "three", "four"])
    #expect(window.state == "-- bob, offline --" && window.line == "> ")
  }

  @Test func `the state line says when the hub cannot be reached`() throws {
    var window = try window()
    func status(_ state: HubStatus.State) -> HubStatus {
      HubStatus(
        state: state, user: "alice", network: .normal, isRunning: true, queuedCount: 0, failedCount: 0,
        oldestQueuedAt: nil, attempts: 2, lastSyncAt: nil, nextAttemptAt: nil, retryAt: nil, clockOffset: 0, fault: nil,
        setAside: [])
    }
    window.model.update(.hub(status(.waiting)))
    #expect(window.state == "-- bob, offline, the hub cannot be reached --")
    window.model.update(.hub(status(.live)))
    #expect(window.state == "-- bob, offline --")
  }

  @Test func `the line above the unread messages disappears when the user sends a message`() throws {
    var window = try window()
    #expect(window.conversation.count { $0.contains(" new ──") } == 1)
    try window.enter("hello")
    try window.follow()
    #expect(window.texts == ["one", "two", "three", "hello"] && window.line == "> ")
    #expect(window.conversation.count { $0.contains("unread") } == 0)
  }

  @Test func `pins are made, listed and removed, and the pin of another user is shown with its message`() throws {
    var window = try window()
    try window.enter("/pin 1")
    #expect(window.state == "-- pinned 1 --")
    #expect(try window.messenger.message("bob:1").pin?.user.description == "alice")
    _ = try bob.edit([Edit(MessageReference("alice:2"), .pin(true))])
    try window.follow()
    #expect(window.conversation.contains { $0.contains("(pinned by bob)") })
    try window.enter("/pins")
    #expect(window.state.contains("2 pinned messages"))
    try window.enter("/pin 2")
    #expect(window.state == "-- 2 is pinned already, by bob --")
    try window.enter("/unpin 2")
    #expect(window.state == "-- unpinned 2 --")
    try window.enter("/unpin 1")
    try window.enter("/pins")
    #expect(window.state.contains("nothing is pinned here"))
    try window.enter("/pin one")
    #expect(window.state.contains("write /pin and the number of a message"))
  }

  @Test func `an open list of pins follows the changes of others, and the same message stays chosen`() throws {
    var window = try window()
    func pin(_ number: Int, _ isPinned: Bool) throws {
      _ = try bob.edit([Edit(MessageReference("alice:\(number)"), .pin(isPinned))])
      try window.follow()
    }
    try window.enter("/pin 1")
    try window.enter("/pins")
    try pin(2, true)
    #expect(window.texts == ["one", "two"] && window.state.contains("2 pinned messages"))
    #expect(window.conversation[0].hasPrefix("> ") && window.conversation[1].hasPrefix("  "))
    _ = try bob.edit([Edit(MessageReference("alice:2"), .text("zwei"))])
    try window.follow()
    #expect(window.texts == ["one", "zwei"])
    try pin(1, false)
    #expect(window.texts == ["zwei"] && window.state.contains("1 pinned message;"))
    try bob.delete("alice:2", forEveryone: true)
    try window.follow()
    #expect(window.model.panel == nil && window.state == "-- nothing is pinned here now --")
  }

  @Test func `an edit, a reaction and a deletion change the rows of their message`() throws {
    var window = try window()
    _ = try bob.edit([Edit(MessageReference("alice:1"), .text("uno"))])
    _ = try bob.edit([Edit(MessageReference("alice:2"), .react("🎉"))])
    try bob.delete("alice:3", forEveryone: true)
    try window.follow()
    #expect(window.texts == ["uno", "two"])
    #expect(window.conversation[2].contains("(edited)") && window.conversation[3].contains("🎉 bob"))
    #expect(window.conversation[4].contains("3 deleted by bob"))
  }

  @Test func `a reply no longer quotes a message that was deleted`() throws {
    try bob.say("yes", to: "alice", replyTo: "alice:1")
    var window = try window()
    #expect(window.conversation.contains { $0.contains("(to 1 bob 'one')") })
    try bob.delete("alice:1", forEveryone: true)
    try window.follow()
    #expect(!window.conversation.contains { $0.contains("'one'") })
  }

  @Test func `the state line shows that the other user types, until they stop`() throws {
    var window = try window()
    let typing = try #require(try bob.typing(in: ConversationReference("alice")))
    let shown = typing.show()
    try window.follow(untilState: { $0 == "-- bob is typing --" })
    typing.hide(unlessShownSince: shown)
    try window.follow(untilState: { !$0.contains("typing") })
  }

  @Test func `blocking a user hides their messages, and the state line says that they are blocked`() throws {
    var window = try window()
    _ = try store.messenger("alice").setBlocked(true, ["bob"])
    try window.follow()
    #expect(window.texts == [] && window.state.contains("blocked by you"))
    _ = try store.messenger("alice").setBlocked(false, ["bob"])
    try bob.say("again", to: "alice")
    try window.follow()
    #expect(window.texts.last == "again" && !window.state.contains("blocked"))
  }

  @Test func `a window on a conversation that does not exist yet shows its first message`() throws {
    var window = try ChatFixture(store, as: "alice", "carol")
    #expect(window.rows == ["-- carol --", "> "])
    try store.messenger("carol").say("hello", to: "alice")
    try window.follow()
    #expect(window.texts == ["hello"] && window.model.conversation != nil)
    #expect(window.state == "-- carol, offline --")
  }

  @Test func `a window still shows its group after the group's title is changed and given to another group`() throws {
    let group = try bob.createGroup(titled: "ops", with: ["alice"])
    try bob.say("in the first", to: "+ops")
    var window = try ChatFixture(store, as: "alice", "+ops")
    _ = try bob.setTitle("old", of: .id(group.id))
    let other = try bob.createGroup(titled: "ops", with: ["alice"])
    try bob.say("in the other", to: "+ops")
    try window.follow()
    #expect(window.state.contains("+old") && !window.texts.contains("in the other"))
    try window.enter("mine")
    try window.enter("/delete 2")
    try window.follow()
    #expect(window.texts.last == "mine")
    for (id, texts) in [(group.id, ["mine"]), (other.id, ["in the other"])] {
      #expect(try window.messenger.texts(in: id.description) == texts)
    }
    try window.enter("/edit 1 x")
    #expect(window.state.contains("'+ops:1'"), "an error names the conversation by the title that the user typed")
  }

  @Test func `in a group, blocking a user hides their messages and unblocking shows them again`() throws {
    _ = try bob.createGroup(titled: "ops", with: ["alice", "carol"])
    for number in 1...30 {
      for name in ["bob", "carol"] { try store.messenger(name).say("\(name) \(number)", to: "+ops") }
    }
    let alice = try store.messenger("alice")
    for isScrolled in [false, true] {
      var window = try ChatFixture(store, as: "alice", "+ops", rows: 8)
      if isScrolled { try window.press(.pageUp, .pageUp) }
      _ = try alice.setBlocked(true, ["carol"])
      try window.follow()
      #expect(!window.texts.isEmpty && window.texts.allSatisfy { $0.hasPrefix("bob") })
      #expect(window.state.contains("Esc") == isScrolled)
      _ = try alice.setBlocked(false, ["carol"])
      try window.follow()
      #expect(window.texts.contains { $0.hasPrefix("carol") })
    }
  }

  @Test func `a window of two rows marks nothing as read`() throws {
    for (rows, count) in [(1, 0), (2, 0), (3, 1)] {
      let window = try ChatFixture(store, as: "alice", "bob", rows: rows)
      #expect(render(window.model).unread.count == count, "\(rows) rows")
    }
  }

  @Test func `a window that is scrolled back keeps its position when the message at its bottom is deleted`() throws {
    for number in 4...40 { try bob.say("text \(number)", to: "alice") }
    try bob.edit("alice:1", to: Array(repeating: "row", count: 40).joined(separator: "\n"))
    var window = try window()
    for _ in 1...10 { try window.press(.pageUp) }
    try window.messenger.delete("bob:1")
    try window.follow()
    #expect(window.state.contains("Esc goes to the end") && window.texts.contains("two"), "\(window.rows)")
    try window.press(.pageDown)
    #expect(window.texts.contains("text 13"))
  }

  @Test func `only the messages on the screen are marked as read`() throws {
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

  @Test func `messages are marked as read at most five times a second`() throws {
    let window = try window()
    var marks = ReadMarks()
    let unread = render(window.model).unread
    marks.unread = [unread[0]]
    let first = try marks.mark(window.messenger, now: .max)
    #expect(first.count == 1 && marks.due == .max)
    marks.unread = [unread[1]]
    let early = try marks.mark(window.messenger, now: marks.due - 1)
    #expect(early == [] && marks.unread.count == 1)
    let later = try marks.mark(window.messenger, now: marks.due)
    #expect(later.count == 1)
  }

  @Test func `a store that cannot be written to is shown, and the state line says that it cannot be written to`() throws
  {
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

/// Puts a folder at the path of a store's lock file, so that the store cannot be written to.
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
