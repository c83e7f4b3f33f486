import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// What dm-export writes of hostile texts, and what dm-import reads of it.
@Suite struct ExportTests {
  private func fixture(_ texts: [String]) throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    for text in texts {
      try f.done("dm-send", as: "bob", stdin: Input(JSON.line(["conversation": "alice", "text": text]) + "\n"))
    }
    return f
  }

  @Test(arguments: ["html", "markdown", "mbox", "json"])
  func `an export of hostile texts has no control characters`(format: String) throws {
    let f = try fixture(HostileTextTests.texts)
    let outcome = try f.run("dm-export", ["bob", "--to", format, "-"], as: "alice")
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    let hidden = hiddenBytes(in: outcome.output, allowing: [0x0A])
    #expect(hidden.isEmpty, "\(outcome.stdout)")
    #expect(outcome.stdout.contains("begins"))
  }

  @Test func `dm-import reads what dm-export writes, byte for byte`() throws {
    let f = try fixture(HostileTextTests.texts)
    let folder = f.directory + "/export"
    try f.done("dm-export", ["bob", "--to", "json", folder], as: "alice")
    let copy = f.directory + "/copy"
    try f.done(
      "dm-import", ["--same-users", "--store", copy, "\(folder)/bob/messages.jsonl"], as: "alice")
    func texts(_ options: [String]) throws -> [JSON?] {
      try f.done("dm-tail", ["bob", "-n", "all", "--peek"] + options, as: "alice").records.map { $0["text"] }
    }
    #expect(try texts(["--store", copy]) == texts([]))
    #expect(try texts([]).count == HostileTextTests.texts.count)
  }

  @Test func `an export that was killed leaves whole files, and the next one completes it`() throws {
    let f = try fixture([])
    let lines = (1...20_000).map { #"{"conversation":"alice","text":"message \#($0)"}"# }
    try f.done("dm-send", ["-q"], as: "bob", stdin: Input(lines: lines))
    let folder = f.directory + "/export"
    for milliseconds in [5, 50, 150] {
      let killed = try f.shell(
        "timeout -s KILL \(Double(milliseconds) / 1000) dm-export bob --to html '\(folder)'; ls -A '\(folder)'/bob",
        as: "alice")
      for page in killed.stdout.split(separator: "\n") where page.hasSuffix(".html") {
        let text = try String(contentsOfFile: "\(folder)/bob/\(page)", encoding: .utf8)
        #expect(text.hasSuffix("</html>\n"), "\(page)")
      }
    }
    let record = try f.done("dm-export", ["bob", "--to", "html", folder], as: "alice").record
    #expect(record["message_count"] == .number(20_000))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/bob")
    #expect(Set(names) == Set((1...20).map { "page\($0).html" }))
  }
}
