import DMJSON
import Testing

@testable import DMDigest
@testable import DMKit
@testable import DMModel
@testable import TestSupport

extension DigestMessage {
  /// A message of a group, read from a line such as programs print.
  init(_ reference: String, _ id: Identifier, from sender: String, _ text: String, at time: Timestamp, to: Identifier?)
    throws
  {
    var json = JSONWriter()
    json.object { json in
      json.member("type", "message")
      json.member("id", id)
      json.member("ref", reference)
      json.member("conversation_id", Identifier(high: 0, low: 1))
      json.member("is_group", true)
      json.member("sender", sender)
      json.member("text", text)
      json.member("created_at", time)
      if let to {
        json.key("reply_to")
        json.object { json in json.member("id", to) }
      }
    }
    self = try #require(try DigestMessage(line: json.bytes[...]))
  }
}

/// Texts of one conversation as messages; `bob: text` is a message of bob.
private func messages(_ lines: String...) throws -> [DigestMessage] {
  try lines.enumerated().map { place, line in
    let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
    return try DigestMessage(
      "+ops:\(place + 1)", Identifier(high: 0, low: UInt64(place + 10)), from: parts[0], parts[1],
      at: Timestamp(microseconds: Int64(place) * 60_000_000), to: nil)
  }
}

struct DigestTests {
  private func found(_ kind: DigestPoint.Kind, for user: Handle = "anna", _ messages: [DigestMessage]) throws
    -> [DigestPoint]
  {
    Digest(try Cues(), for: user, limit: 5).points(messages).filter { $0.kind == kind }
  }

  private func numbers(_ kind: DigestPoint.Kind, for user: Handle = "anna", _ lines: [DigestMessage]) throws -> [String]
  {
    try found(kind, for: user, lines).map { $0.references.joined(separator: " ") }
  }

  @Test func `a question is open until somebody answers the one who asked`() throws {
    let open = try messages(
      "bob: how do I restart the printer on the second floor?", "carol: the canteen is closed on monday",
      "dave: is the backup done?", "bob: lunch was good")
    #expect(try numbers(.question, open) == ["+ops:1", "+ops:3"])
    let answered = try messages(
      "bob: how do I restart the printer on the second floor?", "carol: bob: hold the green button", "dave: hi all")
    #expect(try numbers(.question, answered).isEmpty)
  }

  @Test func `a question that is repeated is printed once, and one that its sender solves is not`() throws {
    let repeated = try messages(
      "bob: who has the key of the server room?", "carol: morning all", "bob: who has the key of the server room?")
    #expect(try numbers(.question, repeated) == ["+ops:3"])
    let solved = try messages(
      "bob: who has the key of the server room?", "carol: morning all", "bob: nevermind, found it")
    #expect(try numbers(.question, solved).isEmpty)
  }

  @Test(arguments: ["bob: hi?", "bob: really?", "bob: can I ask a question?", "bob: huh?", "bob: ?"])
  func `a question that asks for nothing is left out`(line: String) throws {
    #expect(try numbers(.question, messages(line, "carol: good morning to you all")).isEmpty)
  }

  @Test func `who promises has to act, and who is asked has to act`() throws {
    let lines = try messages(
      "bob: I'll send the figures by friday", "carol: bob: please check the disk of the backup machine",
      "dave: carol, run fsck first", "carol: the weather is fine")
    let points = try found(.actionItem, lines)
    #expect(points.map(\.who) == ["bob", "bob", "carol"])
    #expect(points.map(\.until) == ["by friday", nil, nil])
    #expect(points.map(\.references) == [["+ops:1"], ["+ops:2"], ["+ops:3"]])
  }

  @Test func `what is agreed and what is solved is a decision`() throws {
    let lines = try messages(
      "bob: which day?", "carol: let's take thursday at noon", "dave: it works now, the cable was loose",
      "bob: shall we take friday?")
    #expect(try numbers(.decision, lines) == ["+ops:2", "+ops:3"])
  }

  @Test func `a message needs the user until the user has answered its sender`() throws {
    let lines = try messages(
      "bob: anna: can you approve the invoice?", "carol: anna: the build is broken again", "dave: bob: did you call?",
      "anna: bob: approved")
    let points = try found(.priority, lines)
    #expect(points.map(\.references) == [["+ops:2"]])
    #expect(points.map(\.reason) == [.trouble])
    #expect(try numbers(.priority, for: "bob", lines) == ["+ops:3"])
    #expect(try numbers(.priority, for: "zoe", lines).isEmpty)
  }

  @Test func `a name at the beginning, a mention, or a shortened name directs a message`() throws {
    for text in ["annabel: can you call?", "@annabel can you call?", "annabel, can you call?", "annab: can you call?"] {
      let lines = try messages("annabel: good morning to you", "bob: \(text)")
      #expect(try numbers(.priority, for: "annabel", lines) == ["+ops:2"], "\(text)")
    }
  }

  @Test func `handles that differ only in case are two people, and the only holder of one is named in any case`() throws
  {
    let two = try messages("bob: good morning to you", "Bob: anna: can you approve the invoice?", "anna: bob: approved")
    #expect(try numbers(.priority, two) == ["+ops:2"])
    let unclear = try messages("bob: good morning to you", "Bob: anna: can you approve it?", "anna: BOB: approved")
    #expect(try numbers(.priority, unclear) == ["+ops:2"])
    for name in ["Bob", "bob", "BOB"] {
      let one = try messages("Bob: anna: can you approve the invoice?", "anna: \(name): approved")
      #expect(try numbers(.priority, one).isEmpty, "\(name)")
      let asked = try messages("Bob: good morning to you", "anna: \(name): please order toner")
      #expect(try found(.actionItem, asked).map(\.who) == ["Bob"], "\(name)")
    }
  }

  @Test func `only points of the wanted kinds are found`() throws {
    let lines = try messages(
      "bob: how do I restart the printer on the second floor?", "carol: I'll order toner by friday",
      "dave: the login page of the shop fails with error 500 since the update")
    let points = Digest(try Cues(), for: "anna", kinds: [.actionItem, .question], limit: 5).points(lines)
    #expect(points.map(\.kind) == [.actionItem, .question])
  }

  @Test func `people see a message once, as the first of the points that it is`() throws {
    let lines = try messages("bob: anna: can you send the figures by friday?", "carol: I'll order toner")
    let points = Digest(try Cues(), for: "anna", limit: 5).points(lines)
    #expect(points.count { $0.references == ["+ops:1"] } > 2)
    #expect(points.unrepeated.map(\.kind) == [.priority, .actionItem])
    #expect(points.unrepeated.map(\.references) == [["+ops:1"], ["+ops:2"]])
  }

  @Test func `the summary prefers what can be understood alone, and has at most the wanted points`() throws {
    let lines = try messages(
      "bob: the login page of the shop fails with error 500 since the update of this morning", "carol: ok", "dave: lol",
      "carol: bob: restart the session service, it kept the old keys",
      "bob: it works now, the session service had the old keys", "dave: cool")
    let chosen = try numbers(.summary, lines)
    #expect(chosen.first == "+ops:1" && Set(chosen).isDisjoint(with: ["+ops:2", "+ops:3", "+ops:6"]), "\(chosen)")
    #expect(Digest(try Cues(), for: "anna", limit: 1).points(lines).filter { $0.kind == .summary }.count == 1)
    #expect(Digest(try Cues(), for: "anna", limit: 0).points(lines).filter { $0.kind == .summary }.isEmpty)
  }

  @Test func `the same messages give the same digest`() throws {
    let lines = try messages(
      "bob: how do I restart the printer?", "carol: anna: please order toner", "dave: let's meet on monday")
    let cues = try Cues()
    let first = Digest(cues, for: "anna", limit: 5).points(lines)
    for _ in 0..<20 { #expect(Digest(cues, for: "anna", limit: 5).points(lines) == first) }
  }

  @Test func `cues of another language find what they name, and a wrong line is an error with its number`() throws {
    var cues = try Cues()
    try cues.add("# German\ncommit ich mache das\nday freitag\nuntil bis\n", from: "de.txt")
    let points = Digest(cues, for: "anna", limit: 0).points(try messages("bob: ich mache das bis Freitag"))
    #expect(points.map(\.until) == ["bis freitag"])
    let error = #expect(throws: DMError.self) { try cues.add("\nwish bitte\n", from: "de.txt") }
    #expect(error?.code == .badField)
    #expect(error?.message.contains("line 2 of 'de.txt'") == true)
  }
}
