import DMKit
import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Holds the usage log of a run of the programs against what a line may have.
@Suite struct UsageLogTests {
  /// Words that the run uses as texts, names, titles, names of files, and words of searches.
  private static let words = [
    "ursulaq", "vincentq", "Vincent Vorname", "hushword", "sesamtitle", "ownname", "passportscan", "captionword",
    "draftword", "nonceword", "lineword", "chatword", "plainword", "agentword", "replyword",
  ]

  /// The fields of a line, in order, and whether a value is allowed.
  static let allowed: [(name: String, accepts: @Sendable (JSON) -> Bool)] = [
    ("type", { $0.string == "usage" }),
    ("at", { $0.string?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000000Z/) != nil }),
    ("act", { UsageAct.Kind(rawValue: $0.string ?? "") != nil }),
    ("program", { ToolFixture.programs.contains($0.string ?? "") }),
    ("version", { $0.string?.wholeMatch(of: /\d+\.\d+\.\d+/) != nil }),
    ("duration_us", isCount), ("count", isCount), ("bytes", isCount), ("status", isCount),
  ]

  @Sendable private static func isCount(_ value: JSON) -> Bool { value.int.map { $0 >= 0 } == true }

  /// The lines of a usage log, each of which must have exactly the allowed fields.
  private func lines(_ log: String, at location: SourceLocation = #_sourceLocation) throws -> [JSON] {
    let bytes = try Array(Data(contentsOf: URL(filePath: log)))
    #expect(bytes.last == 0x0A, sourceLocation: location)
    return try Contract.lines(of: bytes).map { line in
      let record = try JSON(line.bytes)
      #expect(record.names == Self.allowed.map(\.name), "\(line.text)", sourceLocation: location)
      for field in Self.allowed {
        let isAllowed = record[field.name].map(field.accepts) == true
        #expect(isAllowed, "\(field.name) in \(line.text)", sourceLocation: location)
      }
      return record
    }
  }

  private func fixture() throws -> (f: ToolFixture, log: String) {
    let f = try ToolFixture()
    try f.addUsers("ursulaq", "vincentq")
    return (f, f.directory + "/usage.log")
  }

  /// Each UUID in some output.
  private func ids(in text: String) -> [String] {
    text.matches(of: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/).map { String($0.output) }
  }

  /// Runs each program that acts, as the two users.
  ///
  /// - Returns: what the programs printed.
  private func runAll(_ f: ToolFixture) throws -> String {
    let (me, other) = ("ursulaq", "vincentq")
    let file = f.directory + "/passportscan.txt"
    try "captionword in a file".write(toFile: file, atomically: true, encoding: .utf8)
    var printed = ""
    func run(_ script: String, as user: String) throws {
      let outcome = try f.shell("cd '\(f.directory)'; \(script)", as: user)
      #expect(outcome.status == .exit(0), "\(script)\n\(outcome.stderr)")
      printed += outcome.stdout + outcome.stderr
    }
    for script in [
      "dm-user set --display-name 'Vincent Vorname'", "dm-send \(other) 'hushword one'",
      "dm-send --nonce nonceword \(other) 'hushword two'",
      "printf 'lineword 1\\nlineword 2\\n' | dm-send --lines \(other)",
      "dm-send \(other) --reply-to -1 replyword", "dm-conversation create --title sesamtitle \(other)",
      "dm-conversation name +sesamtitle ownname", "dm-conversation draft \(other) draftword",
      "dm-send \(other) --from-draft", "dm-attach passportscan.txt --to \(other) --text captionword | dm-send",
      "dm-send \(other) --attach passportscan.txt", "echo hushword | dm-typing \(other) | dm-send \(other)",
      "dm-typing \(other) --on", "printf 'plainword\\n/search hushword\\n' | dm-chat --plain \(other)",
      "printf 'chatword\\r/search hushword\\r\\004\\004' | script -qec 'dm-chat \(other)' /dev/null",
    ] { try run(script, as: me) }
    for script in [
      "dm-list", "dm-list --count", "dm-list --match ursulaq", "dm-tail ursulaq", "dm-tail --cursor start",
      "dm-tail --unread --read", "dm-read ursulaq --all", "dm-search hushword", "dm-search --from ursulaq passport*",
      "dm-tail \"$(dm-tail ursulaq:1 | jq -r .id)\"",
      "dm-tail nobodyq || true", "dm-send nobodyq hushword || true",
    ] { try run(script, as: other) }
    return try printed + callAgent(f)
  }

  private func callAgent(_ f: ToolFixture) throws -> String {
    let server = try MCPServer(f, as: "vincentq")
    for (tool, arguments) in [
      ("list_conversations", "{}"), ("read_history", #"{"conversation":"ursulaq"}"#),
      ("search", #"{"query":"hushword"}"#), ("digest", "{}"),
      ("mark_read", #"{"conversation":"ursulaq","up_to":"-1"}"#),
      ("send", #"{"conversation":"ursulaq","text":"agentword","nonce":"nonceword"}"#),
    ] {
      let result = try server.call(tool, arguments)
      #expect(result["isError"]?.bool == false, "\(tool): \(result)")
    }
    let outcome = server.live.finish()
    return outcome.stdout + outcome.stderr
  }

  @Test(.enabled(if: ToolFixture.has("script"), "needs script"))
  func `a line has only the allowed fields, and nothing of a text, a name, a title, a file or an id`() throws {
    let (f, log) = try fixture()
    f.set("DM_USAGE_LOG", log)
    let printed = try runAll(f)
    let records = try lines(log)
    let text = try String(contentsOfFile: log, encoding: .utf8)
    let ids = Set(ids(in: printed))
    #expect(ids.count > 10)
    for word in Self.words + ids + [f.directory, ProcessInfo.processInfo.hostName] {
      #expect(!text.contains(word), "'\(word)' is in the log")
    }
    #expect(Set(records.compactMap { $0["act"]?.string }) == Set(UsageAct.Kind.allCases.map(\.rawValue)))
    func acts(of program: String) -> Set<String> {
      Set(records.filter { $0["program"]?.string == program }.compactMap { $0["act"]?.string })
    }
    #expect(acts(of: "dm-chat").isSuperset(of: ["opened", "sent", "searched"]))
    #expect(acts(of: "dm-mcp") == ["opened", "sent", "read", "searched"])
    #expect(acts(of: "dm-send") == ["sent", "attached"])
    #expect(acts(of: "dm-tail") == ["opened", "received", "read"])
    #expect(acts(of: "dm-typing") == ["typing"] && acts(of: "dm-conversation") == ["created"])
    #expect(records.filter { $0["status"]?.int == 67 }.count == 2, "the failed acts have their status")
  }

  @Test func `counts and sizes are those of the messages`() throws {
    let (f, log) = try fixture()
    f.set("DM_USAGE_LOG", log)
    try f.done("dm-send", ["vincentq", "grüße"], as: "ursulaq")
    let lines = ["one", "two", "three"].map { text in
      JSON.line(["conversation": text == "two" ? "nobody" : "vincentq", "text": text])
    }
    _ = try f.run("dm-send", as: "ursulaq", stdin: Input(lines: lines))
    try f.done("dm-send", ["--nonce", "n", "vincentq", "once"], as: "ursulaq")
    try f.done("dm-send", ["--nonce", "n", "vincentq", "once"], as: "ursulaq")
    try f.done("dm-tail", ["--read", "ursulaq"], as: "vincentq")
    try f.done("dm-search", ["three"], as: "vincentq")
    let found = try self.lines(log).map { record in
      "\(record["act"]?.string ?? "") \(["count", "bytes", "status"].map { record[$0]?.int ?? -1 })"
    }
    #expect(
      found == [
        "sent [1, 7, 0]", "sent [2, 8, 1]", "sent [1, 4, 0]", "sent [0, 0, 0]", "opened [4, 19, 0]", "read [4, 0, 0]",
        "searched [1, 5, 0]",
      ])
  }

  @Test func `the page, the schema and the lines have the same fields and acts`() throws {
    let page = try String(contentsOfFile: repository + "/man/dm-usage.1", encoding: .utf8)
    let section = page.components(separatedBy: "\n.Ss The log\n")[1].components(separatedBy: "\n.Sh ")[0]
    func items(_ macro: String) -> [String] {
      section.split(separator: "\n").filter { $0.hasPrefix(".It \(macro) ") }.map {
        String($0.dropFirst(5 + macro.count))
      }
    }
    let schema = try #require(RecordSchema.named("usage"))
    #expect(items("Va") == schema.fields.map(\.name))
    #expect(items("Va") == Self.allowed.map(\.name))
    #expect(items("Li") == UsageAct.Kind.allCases.map(\.rawValue))
  }

  @Test func `without the variable, no file appears`() throws {
    let (f, _) = try fixture()
    for value in [nil, ""] {
      f.set("DM_USAGE_LOG", value)
      try f.done("dm-send", ["vincentq", "hi"], as: "ursulaq")
      try f.done("sh", ["-c", "cd \"$0\" && dm-list --as ursulaq", f.directory])
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: f.directory).sorted() == ["home", "store"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: f.directory + "/home") == [])
  }
}
