import Testing

@testable import DMModel
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

@Suite struct SnippetTests {
  @Test func `matches are between double asterisks`() throws {
    let store = try SearchStore()
    #expect(try store.snippet("Lunch at one?", "lunch") == "**Lunch** at one?")
    #expect(try store.snippet("un cafe\u{301} noir", "café") == "un **cafe\u{301}** noir")
    #expect(try store.snippet("one lunch two lunch", "lunch two") == "one **lunch** **two** **lunch**")
    #expect(try store.snippet("hm 🙂haha🤣 lunch🙂北🙂", "haha OR 北") == "hm 🙂**haha**🤣 lunch🙂**北**🙂")
    #expect(try store.snippet("from lunchtime on", "lun*") == "from **lunchtime** on")
    #expect(try store.snippet("a foo-bar b", "foo-bar") == "a **foo-bar** b")
  }

  @Test func `snippets of scripts without spaces get no spaces between the characters`() throws {
    let store = try SearchStore()
    #expect(try store.snippet("我昨天从北京回来了", "北京") == "我昨天从**北京**回来了")
    #expect(try store.snippet("买了iPhone手机壳。", "iPhone手机") == "买了**iPhone手机**壳。")
    #expect(try store.snippet("カタカナ", "タカ") == "カ**タカ**ナ")
  }

  @Test func `a long text is cut on both sides`() throws {
    let store = try SearchStore()
    let text = (1...40).map { "w\($0)" }.joined(separator: " ")
    let snippet = try #require(try store.snippet(text, "w20"))
    #expect(snippet.hasPrefix("…") && snippet.hasSuffix("…") && snippet.contains(" **w20** "))
    #expect((10...14).contains(snippet.split(separator: " ").count))
    let chinese = try #require(
      try store.snippet(String(repeating: "我你他", count: 60) + "北京" + String(repeating: "她", count: 60), "北京"))
    #expect(chinese.contains("**北京**") && (30...45).contains(chinese.count))
  }

  @Test func `a snippet is one line, and control characters of the text become spaces`() throws {
    let store = try SearchStore()
    #expect(
      try store.snippet("one\nlunch\r\n\ttwo\u{2}three\u{3}\u{1F}four\u{85}\u{2028}", "lunch")
        == "one **lunch**   two three  four  ")
    #expect(try store.snippet("**one** lunch", "lunch") == "**one** **lunch**")
  }

  @Test func `one call makes many snippets, and can be repeated`() throws {
    let store = try SearchStore()
    for _ in 0..<3 {
      let snippets = try store.store.searchIndex.snippets(
        of: (1...50).map { (MessageKey(number: $0), "lunch \($0)") }, for: SearchExpression("lunch"))
      #expect(Array(snippets.all).count == 50 && snippets[7]?.marked == "**lunch** 7")
    }
    #expect(
      try Array(store.store.searchIndex.snippets(of: [(1, "dinner")], for: SearchExpression("lunch")).all).isEmpty)
    #expect(try Array(store.store.searchIndex.snippets(of: [(1, "dinner")], for: SearchExpression("🙂")).all).isEmpty)
  }

  @Test func `making snippets in a read transaction neither writes nor waits for a writer`() throws {
    let store = try SearchStore()
    try store.add(["lunch"])
    let other = try Connection(path: store.directory.location.database)
    try other.execute("BEGIN IMMEDIATE")
    let snippet = try store.store.read { try store.snippet("lunch", "lunch") }
    #expect(snippet == "**lunch**")
    try other.execute("COMMIT")
    #expect(try store.directory.texts("SELECT name FROM sqlite_schema WHERE name LIKE 'snippet%'").isEmpty)
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `the snippet of one word is that of a query with more parts`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let store = try SearchStore()
    let parts = ["a", "B", "ab", "AbA", "b1", " ", "-", "\u{2}", "\n", ". ", "é", "日", "🙂", "a b", "ab ab"]
    var count = 0
    for _ in 0..<400 {
      let text = (0..<random.below(60)).map { _ in parts[random.below(parts.count - (random.chance(70) ? 5 : 0))] }
        .joined()
      let word = ["a", "b", "AB", "aba", "b1", "ab1", "é"][random.below(7)] + (random.chance(30) ? "*" : "")
      let snippet = try store.snippet(text, word)
      #expect(try snippet == store.snippet(text, "\(word) OR \(word)"), "seed \(seed): \(word) in \(text)")
      if snippet != nil { count += 1 }
    }
    #expect(count > 100)
    #expect(try store.snippet(String(repeating: "a", count: 1001), "a*") != nil)
  }
}
