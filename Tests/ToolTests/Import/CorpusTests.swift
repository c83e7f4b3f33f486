import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Imports real conversations from a file that exists beside the repository on development machines only.
@Suite struct CorpusTests {
  static let corpus = repository + "/../shared/corpus/ubuntu-dev.jsonl"

  /// These tests are skipped only if the file is absent.
  static let isThere: Bool = {
    if FileManager.default.isReadableFile(atPath: corpus) { return true }
    print("skipped: the tests that import real conversations; there is no \(corpus)")
    return false
  }()

  private static let template = Result {
    let f = try ToolFixture()
    try f.done("dm-import", stdin: .file(corpus), seconds: 120)
    return f
  }

  private static let message = """
    FROM message m JOIN conversation c ON c.id = m.conversation JOIN user u ON u.id = m.sender
    LEFT JOIN message r ON r.uuid = m.reply_to
    """

  @Test(.enabled(if: isThere, "needs the corpus"))
  func `the corpus is imported unchanged, and only once`() throws {
    let f = try ToolFixture(copyOf: Self.template.get())
    // Read with jq, because Foundation's JSON reader removes U+FEFF from texts.
    let lines = try f.done("jq", ["-c", ".", Self.corpus]).records
    #expect(lines.count == 11_639)
    #expect(try f.sql("SELECT count(*) FROM message") == "11639")
    #expect(try f.sql("SELECT count(*) FROM conversation") == "10")
    try f.checkIntegrity()
    let before = try f.sql("SELECT max(rev) FROM change")

    let again = try f.done("dm-import", stdin: .file(Self.corpus), seconds: 120)
    let records = try again.records
    #expect(records.count == lines.count)
    #expect(records.allSatisfy { $0["duplicate"]?.bool == true })
    #expect(try f.sql("SELECT count(*) FROM message") == "11639")
    #expect(try f.sql("SELECT max(rev) FROM change") == before)

    for (given, record) in zip(lines, records) {
      #expect(record["text"] == given["text"])
      #expect(record["sender"] == given["sender"])
      #expect(record["nonce"] == given["nonce"])
      #expect((record["reply_to"] != nil) == (given["reply_to_nonce"] != nil))
      let time = try #require(given["created_at"]?.string)
      #expect(record["created_at"]?.string == time.replacingOccurrences(of: "Z", with: ".000000Z"))
    }
  }

  @Test(.enabled(if: isThere, "needs the corpus"))
  func `the corpus can be exported from one store and imported into another`() throws {
    let f = try ToolFixture(copyOf: Self.template.get())
    let titles = try f.sql("SELECT title FROM conversation ORDER BY title").split(separator: "\n").map(String.init)
    #expect(titles.count == 10)
    for title in titles {
      // The importer is in no conversation, so a user who wrote messages in it reads it.
      let one = try f.sql(
        "SELECT u.handle FROM message m JOIN conversation c ON c.id = m.conversation JOIN user u ON u.id = m.sender "
          + "WHERE title = '\(title)' LIMIT 1")
      let list = try f.done("dm-list", ["--limit", "all"], as: one).records
      #expect(list.contains { $0["title"]?.string == title })
      #expect(list.allSatisfy { $0["unread_count"]?.int == 0 })

      let copy = "\(f.directory)/copy-\(title)"
      let history = try f.done("dm-tail", ["+\(title)", "-n", "all", "--peek"], as: one)
      let imported = try f.done("dm-import", ["--store", copy], stdin: .bytes(history.output))
      #expect(try imported.records.allSatisfy { $0["duplicate"] == nil })
      let columns = "m.seq, u.handle, m.text, m.created_at, m.nonce, m.uuid, coalesce(r.seq, '-')"
      let query = "SELECT \(columns) \(Self.message) WHERE c.title = '\(title)' ORDER BY m.seq"
      let there = try f.run("sqlite3", [copy + "/dm.sqlite", "SELECT \(columns) \(Self.message) ORDER BY m.seq"])
      #expect(try there.stdout.trimmingCharacters(in: .newlines) == f.sql(query))
      #expect(try !history.records.isEmpty)
      // dm-tail prints the same lines for both stores, apart from the fields about the conversation.
      let second = try f.done("dm-tail", ["--store", copy, "-n", "all", "--peek"], as: one)
      #expect(try second.records.map(Self.essence) == history.records.map(Self.essence))
    }
  }

  private static func essence(_ record: JSON) -> [JSON?] {
    ["id", "seq", "sender", "text", "created_at", "reply_to", "nonce"].map { record[$0] }
  }
}
