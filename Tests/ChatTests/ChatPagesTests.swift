import Testing

@testable import ChatProgram
@testable import DMCLI
@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Paging through a conversation that has more messages than the window keeps in memory.
@Suite struct ChatPagesTests {
  private static let height = 10

  private let store: TemporaryStore
  /// All rows of the conversation, as a window that is high enough shows them.
  private let all: [String]

  /// A conversation of 2,500 messages of one to six rows.
  init() throws {
    var random = SplitMix64(seed: 7)
    store = try TemporaryStore(users: ["alice", "bob"])
    let alice = try store.messenger("alice")
    let texts = (1...2500).map { number in
      let words = Int.random(in: 0...5, using: &random) * Int.random(in: 0...5, using: &random)
      return "n\(number)" + (0..<words).map { $0 % 9 == 0 ? " 你好" : " word" }.joined()
    }
    for start in stride(from: 0, to: texts.count, by: 500) {
      let batch = try texts[start..<start + 500].map { try Outgoing(to: ConversationReference("bob"), text: $0) }
      for result in try alice.send(batch) { _ = try result.get() }
    }
    try store.execute("UPDATE message SET created_at = created_at + seq * 7000000000")
    all = try ChatFixture(store, as: "bob", "alice", columns: 40, rows: 100_000).conversation
  }

  private func window() throws -> ChatFixture {
    try ChatFixture(store, as: "bob", "alice", columns: 40, rows: Self.height + 2)
  }

  @Test func `paging back to the first message and on to the last shows every row of the conversation`()
    throws
  {
    var window = try window()
    var first = all.count - Self.height
    func check() {
      #expect(window.conversation == Array(all[first..<first + Self.height]), "row \(first) of \(all.count)")
    }
    check()
    while first > 0 {
      try window.press(.pageUp)
      first = max(0, first - Self.height + 1)
      check()
    }
    while first < all.count - Self.height {
      try window.press(.pageDown)
      first = min(all.count - Self.height, first + Self.height - 1)
      check()
    }
    #expect(!window.model.loaded.isScrolled)
  }

  @Test func `after any sequence of jumps and pages, the window shows consecutive rows of the conversation`() throws {
    var window = try window()
    var random = SplitMix64(seed: 11)
    for _ in 0..<300 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: try window.enter("/go \(Int.random(in: 1...2500, using: &random))")
      case 1: try window.press(.escape)
      case 2, 3: try window.press(Array(repeating: .pageUp, count: .random(in: 1...30, using: &random)))
      default: try window.press(Array(repeating: .pageDown, count: .random(in: 1...30, using: &random)))
      }
      let shown = window.conversation
      let index = try #require(shown.firstIndex { $0.contains(": n") })
      let start = try #require(all.firstIndex(of: shown[index])) - index
      #expect(start >= 0 && shown == Array(all[max(0, start)..<min(all.count, start + shown.count)]))
      #expect(shown.count == Self.height && window.model.loaded.entries.count < 2 * LoadedMessages.most)
    }
  }
}
