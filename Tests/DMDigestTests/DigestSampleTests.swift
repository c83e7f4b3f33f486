import Foundation
import Testing

@testable import DMDigest
@testable import DMJSON
@testable import DMKit
@testable import DMModel
@testable import TestSupport

/// How well a digest without a model finds what two readers have marked: docs/digest.md has the figures.
struct DigestSampleTests {
  private static let corpus = repository + "/../shared/corpus/ubuntu-dev.jsonl"

  /// These tests are skipped only if the file is absent.
  private static let isThere: Bool = {
    if FileManager.default.isReadableFile(atPath: corpus) { return true }
    print("skipped: the figures of digests; there is no \(corpus)")
    return false
  }()

  private struct Window {
    let name: String
    let kinds: [DigestPoint.Kind]
    let messages: [DigestMessage]
    /// The references of the marked messages, and for priorities the person who is needed.
    var marks: [DigestPoint.Kind: Set<[String]>] = [:]
  }

  /// How many messages were marked, how many were found, and how many of those were marked.
  private struct Count {
    var (marked, found, right) = (0, 0, 0)

    mutating func add(_ marked: Set<[String]>, _ found: Set<[String]>) {
      self.marked += marked.count
      self.found += found.count
      right += marked.intersection(found).count
    }

    private static func share(_ part: Int, _ whole: Int) -> Double { whole == 0 ? 0 : Double(part) / Double(whole) }
    var harmonicMean: Double { Self.share(2 * right, marked + found) }

    var cells: String {
      let figures = [Self.share(right, found), Self.share(right, marked), harmonicMean]
      return ([marked, found, right].map(String.init) + figures.map { String(format: "%.2f", $0) })
        .joined(separator: " | ")
    }
  }

  private static let windows = Result { try read() }

  private static func read() throws -> [Window] {
    var lines: [JSONObject] = []
    for line in try Data(contentsOf: URL(filePath: corpus)).split(separator: UInt8(ascii: "\n")) {
      lines.append(try JSONReader.object(Array(line)[...]))
    }
    let places = Dictionary(uniqueKeysWithValues: lines.enumerated().map { ($1.text("nonce") ?? "", $0) })
    let rows = try String(contentsOfFile: repository + "/Tests/Fixtures/digest/marks.tsv", encoding: .utf8)
      .split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    var windows: [Window] = []
    for row in rows where row[0] == "window" {
      let range = try #require(places[row[2]])...#require(places[row[3]])
      let kinds = row[4] == "all" ? DigestPoint.Kind.allCases : [.decision]
      windows.append(Window(name: row[1], kinds: kinds, messages: try range.map { try message(lines[$0], $0, places) }))
    }
    for row in rows where row[0] == "mark" {
      let window = try #require(windows.firstIndex { $0.name == row[1] })
      let kind = try #require(DigestPoint.Kind(rawValue: row[3]))
      windows[window].marks[kind, default: []].insert([row[2]] + row[4...])
    }
    return windows
  }

  private static func message(_ line: JSONObject, _ place: Int, _ places: [String: Int]) throws -> DigestMessage {
    func id(_ place: Int) throws -> Identifier {
      let digits = String(place)
      let padding = String(repeating: "0", count: 12 - digits.count)
      return try #require(Identifier("00000000-0000-7000-8000-\(padding)\(digits)"))
    }
    return try DigestMessage(
      #require(line.text("nonce")), id(place), from: #require(line.text("sender")), #require(line.text("text")),
      at: #require(line.text("created_at").flatMap(Timestamp.init(rfc3339:))),
      to: line.text("reply_to_nonce").flatMap { places[$0] }.map(id))
  }

  /// What a way of finding points finds in a window, for each kind.
  private static func found(
    _ window: Window, _ find: (Window, DigestPoint.Kind, String) -> [String]
  ) -> [DigestPoint.Kind: Set<[String]>] {
    var found: [DigestPoint.Kind: Set<[String]>] = [:]
    for kind in window.kinds where kind != .priority { found[kind] = Set(find(window, kind, "").map { [$0] }) }
    for person in Set(window.messages.map(\.sender)) where window.kinds.contains(.priority) {
      found[.priority, default: []].formUnion(find(window, .priority, person).map { [$0, person] })
    }
    return found
  }

  private static func counts(_ find: (Window, DigestPoint.Kind, String) -> [String]) throws -> [DigestPoint.Kind: Count]
  {
    var counts: [DigestPoint.Kind: Count] = [:]
    for window in try windows.get() {
      for (kind, found) in found(window, find) {
        counts[kind, default: Count()].add(window.marks[kind, default: []], found)
      }
    }
    return counts
  }

  /// As many messages as were marked, which is more than a baseline can know.
  private static func number(_ window: Window, _ kind: DigestPoint.Kind, _ person: String) -> Int {
    let marks = window.marks[kind, default: []]
    return kind == .priority ? marks.count { $0.last == person } : marks.count
  }

  @Test(.enabled(if: isThere, "needs the corpus"))
  func `cues find each kind better than both baselines, with the figures of docs/digest`() throws {
    let cues = try Cues()
    let digests = try Self.counts { window, kind, person in
      Digest(cues, for: Handle(typed: person), limit: 8).points(window.messages).filter { $0.kind == kind }.map {
        $0.references[0]
      }
    }
    let central = try Self.counts { window, kind, person in
      let exchange = Exchange(Talk(window.messages, for: ""), cues)
      let scores = LexRank(exchange.content.map { $0.sorted() }).scores
      let order = scores.indices.sorted { (scores[$1], $0) < (scores[$0], $1) }
      return order.prefix(Self.number(window, kind, person)).map { window.messages[$0].reference }
    }
    let last = try Self.counts { window, kind, person in
      window.messages.suffix(Self.number(window, kind, person)).map(\.reference)
    }
    let page = try String(contentsOfFile: repository + "/docs/digest.md", encoding: .utf8)
    for kind in DigestPoint.Kind.allCases {
      let (own, ranked, newest) = (try #require(digests[kind]), try #require(central[kind]), try #require(last[kind]))
      #expect(own.harmonicMean > ranked.harmonicMean && own.harmonicMean > newest.harmonicMean, "\(kind)")
      for (way, count) in [("cues", own), ("LexRank", ranked), ("last", newest)] {
        let row = "| `\(kind.rawValue)` | \(way) | \(count.cells) |"
        #expect(page.contains(row), "docs/digest.md lacks: \(row)")
      }
    }
  }
}
