import Foundation
import JSONSupport
import Testing

/// The candidates that a program prints for the completion scripts of the shells.
@Suite struct CandidateTests {
  private func fixture() throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    try f.done("dm-user", ["set", "--display-name", "Bob B."], as: "bob")
    try f.done("dm-conversation", ["create", "--title", "ops", "bob"], as: "alice")
    try f.done("dm-send", ["alice", "first\nsecond \u{202E}line"], as: "bob")
    try f.done("dm-send", ["alice", String(repeating: "long ", count: 1000)], as: "bob")
    return f
  }

  /// The lines printed for fish, which are the values and descriptions without quoting.
  private func lines(_ f: ToolFixture, _ program: String, _ words: String..., as user: String = "alice") throws
    -> [String]
  {
    let outcome = try f.done(program, ["--complete", "fish"] + words, as: user)
    #expect(outcome.stderr.isEmpty)
    #expect(hiddenBytes(in: outcome.output, allowing: [0x0A, 0x09]).isEmpty)
    return outcome.stdout.split(separator: "\n").map(String.init)
  }

  private func values(_ f: ToolFixture, _ program: String, _ words: String..., as user: String = "alice") throws
    -> [String]
  {
    try f.done(program, ["--complete", "fish"] + words, as: user).stdout.split(separator: "\n").map {
      String($0.prefix { $0 != "\t" })
    }
  }

  @Test func `conversation candidates have names, member and unread counts, in the order of dm-list`() throws {
    let f = try fixture()
    #expect(try lines(f, "dm-tail", "") == ["words", "bob\tBob B., 2 unread", "+ops\t2 people"])
    #expect(try values(f, "dm-tail", "+") == ["words", "bob", "+ops"])
    #expect(try values(f, "dm-tail", "op") == ["words", "+ops"])
    #expect(try values(f, "dm-tail", "@b") == ["words", "@bob", "+ops"])
    #expect(try values(f, "dm-tail", "#op") == ["words", "#ops"])
    #expect(try values(f, "dm-send", "") == ["words", "bob", "+ops", "alice", "carol"])
    #expect(try values(f, "dm-send", "--to", "bob", "") == ["words"])
    #expect(try values(f, "dm-tail", "--as", "carol", "") == ["words"])
  }

  @Test func `a conversation with an ambiguous title or hidden characters is completed as its id`() throws {
    let f = try fixture()
    let made = try f.done("dm-conversation", ["create", "--title", "twice"], as: "alice").record
    let id = try #require(made["id"]?.string)
    _ = try f.sql("UPDATE conversation SET title = 'a' || char(8238, 10, 9) || 'b' WHERE title = 'twice'")
    #expect(try lines(f, "dm-tail", "a").contains("\(id)\ta\\u{202E}  b, 1 person"))
    _ = try f.sql("UPDATE conversation SET title = 'ops' WHERE id = (SELECT max(id) FROM conversation)")
    let found = try values(f, "dm-tail", "ops")
    #expect(found.count == 3 && found.contains(id) && !found.contains("+ops"))
  }

  @Test func `message candidates have a one-line preview, the newest first`() throws {
    let f = try fixture()
    let glimpses = ["2\tbob: \(String(repeating: "long ", count: 12))…", "1\tbob: first second \\u{202E}line"]
    #expect(try lines(f, "dm-read", "bob", "") == ["words"] + glimpses)
    #expect(try lines(f, "dm-edit", "delete", "bob:") == ["words"] + glimpses.map { "bob:\($0)" })
    #expect(try lines(f, "dm-tail", "bob", "1..") == ["words"] + glimpses.map { "1..\($0)" })
    #expect(try values(f, "dm-tail", "bob:1..") == ["words", "bob:1..2", "bob:1..1"])
    #expect(try values(f, "dm-send", "bob", "--reply-to", "") == ["words", "2", "1"])
    #expect(try values(f, "dm-edit", "delete", "") == ["parts", "bob:", "+ops:"])
    #expect(try values(f, "dm-edit", "react", "👍", "bob", "") == ["words", "2", "1"])
    #expect(try values(f, "dm-edit", "react", "bob:") == ["words", "bob:2", "bob:1"])
    #expect(try values(f, "dm-edit", "react", "--remove", "") == ["parts", "bob:", "+ops:"])
    #expect(try values(f, "dm-read", "bob", "--since", "").suffix(2) == ["today", "yesterday"])
  }

  @Test func `option values are completed with users, consumers or fixed words`() throws {
    let f = try fixture()
    #expect(try lines(f, "dm-list", "--as", "b") == ["words", "alice\t", "bob\tBob B.", "carol\t"])
    #expect(try values(f, "dm-list", "--as=@b") == ["words", "--as=@alice", "--as=@bob", "--as=@carol"])
    #expect(try values(f, "dm-user", "block", "bob", "ca") == ["words", "carol"])
    try f.done("dm-tail", ["--consumer", "bot", "--cursor", "now"], as: "alice")
    #expect(try values(f, "dm-tail", "--forget", "") == ["words", "bot"])
    #expect(try values(f, "dm-send", "--consumer", "") == ["words", "bot"])
    #expect(try lines(f, "dm-edit", "react", "").contains(":tada:\t🎉"))
    #expect(try lines(f, "dm-edit", "react", ":ta").first == "words")
    #expect(try values(f, "dm-list", "--color", "") == ["words", "auto", "always", "never"])
    #expect(try values(f, "dm-sync", "network", "") == ["words", "normal", "poor", "very-poor", "offline"])
    let kinds = ["link", "attachment", "image", "video", "audio", "voice", "file", "mention"]
    #expect(try values(f, "dm-search", "--has", "") == ["words"] + kinds)
    let events = try values(f, "dm-tail", "--events", "message,typing,t")
    #expect(events.first == "parts" && events.contains("message,typing,reaction"))
    #expect(!events.contains("message,typing,message"))
    #expect(try values(f, "dm-conversation", "expire", "bob", "") == ["words", "off"])
    #expect(try values(f, "dm-attach", "") == ["files"] && values(f, "dm-list", "--store=") == ["folders"])
    #expect(try values(f, "dm-search", "") == ["words"])
  }

  @Test func `actions are completed with descriptions, and after an action only its own options are completed`() throws
  {
    let f = try fixture()
    #expect(try lines(f, "dm-edit", "").contains("react\treact with an emoji; a new one replaces the old one"))
    let options = try values(f, "dm-edit", "react", "-")
    #expect(options.contains("--remove") && options.contains("--wait") && options.contains("--as"))
    #expect(!options.contains("--reason") && !options.contains("--for-everyone"))
    let common = ["--plain", "--color", "-q", "--quiet", "-h"]
    for program in ["dm-list", "dm-tail", "dm-search"] {
      #expect(Set(try values(f, program, "-")).isSuperset(of: common + ["-n", "--limit"]))
    }
    #expect(try values(f, "dm-tail", "-").contains("--bell"))
    #expect(try values(f, "dm-edit", "react", "--", "-") == ["words"])
    #expect(try values(f, "dm-edit", "nothing", "") == ["words"])
    #expect(try values(f, "dm-edit", "--nothing", "").contains("react"))
  }

  @Test func `dm completes program names, and then the arguments as the program does`() throws {
    let f = try fixture()
    let programs = try values(f, "dm", "")
    for program in ToolFixture.programs + ToolFixture.hubPrograms {
      #expect(programs.contains(String(program.dropFirst(3))))
      #expect(try lines(f, "dm", String(program.dropFirst(3)), "-") == lines(f, program, "-"))
    }
    #expect(try values(f, "dm", "help", "").contains("send"))
    #expect(try values(f, "dm", "edit", "delete", "bob:") == ["words", "bob:2", "bob:1"])
  }

  @Test func `bash gets the text to insert, and only candidates that begin with the typed word`() throws {
    let f = try fixture()
    func inserted(_ program: String, _ line: String, _ part: String) throws -> String {
      try f.done(program, ["--complete", "bash", line, part], as: "alice").stdout
    }
    #expect(try inserted("dm-tail", "dm-tail bo", "bo") == "words\nbob\n")
    #expect(try inserted("dm-tail", "dm-tail op", "op") == "words\n")
    #expect(try inserted("dm-edit", "dm-edit delete bob:", "") == "words\n2\n1\n")
    #expect(try inserted("dm-list", "dm-list --as='bo", "bo") == "words\nbob\n")
    #expect(try inserted("dm", "dm list --as=c", "c") == "words\ncarol\n")
  }

  @Test func `completion changes nothing in the store and signals no other process`() throws {
    let f = try fixture()
    let before = try f.sql("SELECT count(*) FROM change")
    let live = f.store + "/live"
    let signals = try f.shell("ls -R '\(live)'").stdout
    let calls = [["dm-tail", ""], ["dm-tail", "bob", ""], ["dm-edit", "delete", "bob:"], ["dm-list", "--as", ""]]
    for words in calls { try f.done(words[0], ["--complete", "zsh"] + words.dropFirst(), as: "alice") }
    #expect(try f.sql("SELECT count(*) FROM change") == before)
    #expect(try f.shell("ls -R '\(live)'").stdout == signals)
    #expect(try f.done("dm-list", ["bob"], as: "alice").record["unread_count"] == .number(2))
    f.set("DM_STORE", f.directory + "/absent")
    for words in calls {
      let outcome = try f.done(words[0], ["--complete", "bash", words.joined(separator: " "), ""], as: "alice")
      #expect(outcome.stderr.isEmpty)
    }
    #expect(!FileManager.default.fileExists(atPath: f.directory + "/absent"))
  }
}
