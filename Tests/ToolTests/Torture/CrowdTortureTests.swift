import Foundation
import JSONSupport
import Testing

/// Many followers of many writers.
@Suite struct CrowdTortureTests {
  @Test func `every follower prints all messages of several writers in the same order`() throws {
    let f = try ToolFixture()
    let writers = (1...4).map { "w\($0)" }
    for writer in writers { try f.done("dm-user", ["add", writer], as: writer) }
    try f.done("dm-conversation", ["create", "--title", "all"] + writers.dropFirst(), as: "w1")
    let followers = try (0..<Torture.size(8, long: 50)).map {
      try f.follower(as: writers[$0 % writers.count], isJudged: $0 == 0)
    }
    let (perWriter, singles) = (Torture.size(250, long: 1000), Torture.size(20, long: 200))
    let runs = try writers.map { writer in
      // Each writer sends single messages first, and then a batch.
      let lines = (1...perWriter).map { JSON.line(["conversation": "+all", "text": "\($0) \(writer)"]) + "\n" }
      let file = "\(f.directory)/\(writer).jsonl"
      try lines.joined().write(toFile: file, atomically: true, encoding: .utf8)
      let script = """
        head -n \(singles) '\(file)' | while read -r line; do printf '%s\\n' "$line" | dm-send -q; done
        tail -n +\(singles + 1) '\(file)' | dm-send -q
        """
      return try f.start("sh", ["-c", script], as: writer)
    }
    let total = perWriter * writers.count
    var first: [String] = []
    for (index, follower) in followers.enumerated() {
      var lines: [String] = []
      for _ in 0..<total {
        let line = try #require(try follower.line(within: 120))
        // Removes the fields that differ between the sender and other users.
        let common = line.components(separatedBy: ",\"status\"")[0]
        lines.append(common.replacingOccurrences(of: "\"is_mine\":true", with: "\"is_mine\":false"))
      }
      if index == 0 { first = lines }
      #expect(lines == first, "follower \(index)")
    }
    for run in runs { #expect(try run.finish().status == .exit(0)) }
    let ids = first.compactMap { $0.components(separatedBy: "\"id\":\"").last?.prefix(36) }
    #expect(Set(ids).count == total)
    let stored = try f.sql("SELECT seq FROM message WHERE text IS NOT NULL ORDER BY seq").split(separator: "\n")
    #expect(stored.count == total)
    for (line, seq) in zip(first, stored) { #expect(line.contains("\"seq\":\(seq),")) }
    try f.checkIntegrity()
  }
}
