import FoundationEssentials
import Testing

@testable import ChatProgram
@testable import DMCLI
@testable import DMKit
@testable import StoreSupport

/// The texts that a user has entered before, and the search among them.
@Suite struct ChatHistoryTests {
  private let store: TemporaryStore

  init() throws {
    store = try TemporaryStore()
    for text in ["first lunch", "second", "Lunch again"] { try store.messenger("alice").say(text, to: "bob") }
  }

  private func window() throws -> ChatFixture { try ChatFixture(store, as: "alice", "bob") }

  @Test func `Ctrl-R finds texts that were entered, also before the window was opened, and Enter only takes one`()
    throws
  {
    var window = try window()
    try window.type("draft")
    try window.press(.searchHistory)
    try window.type("lunch")
    #expect(window.line == "> Lunch again" && window.state.hasPrefix("-- entered with 'lunch':"))
    try window.press(.searchHistory)
    #expect(window.line == "> first lunch")
    try window.press(.searchHistory)
    #expect(window.line == "> first lunch", "there is no earlier one")
    try window.type("zz")
    #expect(window.line == "> draft" && window.state.hasPrefix("-- nothing that you entered has 'lunchzz'"))
    try window.press(.escape)
    #expect(window.line == "> draft" && window.state == "-- bob, offline --")
    try window.press(.searchHistory)
    try window.type("seco")
    try window.press(.enter)
    #expect(window.line == "> second")
    #expect(try window.messenger.texts(in: "bob").count == 3, "nothing was sent")
    try window.press(.searchHistory, .character("f"), .home)
    try window.type("x")
    #expect(window.line == "> xfirst lunch", "another key ends the search and is applied")
  }

  @Test func `texts that were deleted or expire are not found in a new window`() throws {
    let alice = try store.messenger("alice")
    try alice.delete("bob:1", forEveryone: true)
    _ = try alice.send(Outgoing(to: ConversationReference("bob"), text: "lunch secret", lifetime: .seconds(3600)))
    var window = try window()
    try window.press(.searchHistory)
    try window.type("lunch")
    #expect(window.line == "> Lunch again")
    try window.press(.searchHistory)
    #expect(window.line == "> Lunch again")
  }

  @Test func `commands are kept in a private file of bounded size, without the texts of messages`() throws {
    let history = CommandHistory(try store.messenger("alice"))
    #expect(history.commands == [])
    for line in ["/go 3", "a message", "/reply 3 private", "/edit 3 private", "//slash", "/rep 3 private", "/search x"]
    {
      try history.add(line)
    }
    #expect(history.commands == ["/go 3", "/search x"])
    #expect(CommandHistory(try store.messenger("bob")).commands == [])
    let path = "\(store.location.directory)/chat-history.alice"
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    for number in 1...3000 { try history.add("/search " + String(repeating: "w", count: 60) + "\(number)") }
    #expect(history.commands.count == 200 && history.commands.last?.hasSuffix("w3000") == true)
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    #expect((size ?? .max) < 80_000)
    try history.add("/search " + String(repeating: "w", count: 2000))
    try history.add("/search two\nlines")
    #expect(history.commands.last?.hasSuffix("w3000") == true)
  }
}
