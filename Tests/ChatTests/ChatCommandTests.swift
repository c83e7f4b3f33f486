import FoundationEssentials
import Testing

@testable import ChatProgram
@testable import DMCLI
@testable import DMKit
@testable import DMModel
@testable import StoreSupport
@testable import TestSupport

/// The commands of a window.
@Suite struct ChatCommandTests {
  private let store: TemporaryStore
  private let bob: Messenger

  init() throws {
    (store, bob) = try ChatFixture.store(withTextsOfBob: ["one", "two", "three"])
  }

  private func window() throws -> ChatFixture { try ChatFixture(store, as: "alice", "bob", columns: 160, rows: 20) }

  /// Sends bytes as a file, unchanged.
  private func attach(_ bytes: String, as name: String, to conversation: String, by user: Messenger) throws {
    var options = PreparationOptions()
    options.asFile = true
    let file = try user.prepare(.bytes(Array(bytes.utf8)), name: name, options).attachment.id
    _ = try user.send(Outgoing(to: ConversationReference(conversation), text: "", attachments: [file]))
  }

  @Test func `the beginning of a command is enough if no other command begins like that`() throws {
    #expect(try Entered("/rep 3 yes") == .command(.reply, rest: "3 yes"))
    #expect(try Entered("/q") == .command(.quit, rest: ""))
    #expect(try Entered("/del 3") == .command(.delete, rest: "3"))
    for (line, fault) in [
      ("/r 3 yes", "'/r' may be /reply or /react; write more of it"), ("/s x", "/save or /search"),
      ("/relpy 3", "did you mean '/reply'?"), ("/", "there is no command '/'"),
      ("/etc/passwd", "'//etc/passwd' sends it"),
    ] {
      let error = #expect(throws: DMError.self) { _ = try Entered(line) }
      #expect(error?.message.contains(fault) == true, "\(line): \(error?.message ?? "")")
    }
    for command in Entered.Command.allCases {
      #expect(try Entered("/\(command.rawValue)") == .command(command, rest: ""))
    }
  }

  @Test func `the help has each command and each key once`() {
    let names = Entered.help.map { String($0.drop { $0 == " " }.prefix { $0 != " " }) }.filter { !$0.isEmpty }
    #expect(Set(names).count == names.count)
    #expect(Set(Entered.Command.allCases.map { "/\($0.rawValue)" }).isSubset(of: names))
    let help = DMCLI.help(of: DMChat.command)
    for row in Entered.commands + Entered.keys { #expect(help.contains(row.left) && help.contains(row.right)) }
    for refused in ["--json", "--text", "--quiet"] { #expect(!help.contains(refused)) }
    #expect(help.contains("--plain") && help.contains("--store"))
  }

  @Test func `a message of another user is not edited, and the error names its number and sender`() throws {
    var window = try window()
    for line in ["/edit 2 mine", "/edit 2", "/edit -2 mine"] {
      try window.enter(line)
      #expect(window.state == "-- message 2 is bob's; you can edit only your own --", "\(line)")
      try window.press(.deleteToStart)
    }
    try window.enter("/delete 2 everyone")
    #expect(window.state.contains("message 2 is bob's; you can delete only your own for everyone"))
  }

  @Test func `/forward sends a message and its attachments to another conversation`() throws {
    try attach("content", as: "notes.txt", to: "alice", by: bob)
    var window = try window()
    try window.enter("/forward 2 carol")
    #expect(window.state == "-- forwarded to carol --")
    try window.enter("/forward 4 carol")
    let carol = try store.messenger("carol")
    let sent = try carol.everything(in: "alice")
    #expect(sent.map(\.text) == ["two", nil] && sent.map(\.forwardedFrom) == ["bob", "bob"])
    #expect(sent[1].attachments.map(\.name) == ["notes.txt"])
    for (line, fault) in [
      ("/forward 2", "write /forward"), ("/forward carol", "write /forward"), ("/forward 2 nobody", "'nobody'"),
      ("/forward 99 carol", "99"), ("/forward 2 +no such", "no such"),
    ] {
      try window.enter(line)
      #expect(window.state.contains(fault) && window.line == "> " + line, "\(line): \(window.state)")
      try window.press(.deleteToStart)
    }
    #expect(try carol.everything(in: "alice").count == 2)
  }

  @Test func `/who shows the people of a group, and who owns it and is online`() throws {
    _ = try bob.createGroup(titled: "ops", with: ["alice", "carol"])
    _ = try bob.setProfile(ProfileChange(displayName: "Bob\u{1B}[31m B."))
    try store.messenger("carol").beatPresence()
    var window = try ChatFixture(store, as: "alice", "+ops", rows: 20)
    try window.enter("/who")
    #expect(window.conversation.count == 3 && window.state == "-- 3 people, 2 online; Esc back --")
    #expect(window.conversation[0] == "  • alice, you" && window.conversation[1] == "  • carol, online")
    #expect(window.conversation[2].hasPrefix("    Bob\\u{1B}[31m B. (bob), owner, never seen"))
    try window.press(.escape)
    #expect(window.state == "-- +ops --")
  }

  @Test func `/save writes a file, and replaces an existing one only after a second Enter`() throws {
    let folder = try TemporaryFolder()
    try attach("first", as: "notes.txt", to: "alice", by: bob)
    try attach("second", as: "../../notes.txt", to: "alice", by: bob)
    func content() throws -> String { try String(contentsOfFile: folder.path + "/notes.txt", encoding: .utf8) }
    var window = try window()
    try window.enter("/save 4 \(folder.path)")
    #expect(window.state.contains("saved as") && window.line == "> ")
    #expect(try content() == "first")
    try window.enter("/save 5 \(folder.path)")
    #expect(window.state.contains("is there already; Enter replaces it"), "\(window.state)")
    #expect(window.line.contains("/save 5"))
    // Any other key takes the question back.
    try window.press(.left, .enter)
    #expect(try content() == "first" && window.state.contains("is there already"))
    try window.press(.enter)
    #expect(try content() == "second" && window.line == "> ")
    for (line, fault) in [("/save", "write /save"), ("/save 1", "message 1 has no attachment"), ("/save 77", "77")] {
      try window.enter(line)
      #expect(window.state.contains(fault), "\(line): \(window.state)")
      try window.press(.deleteToStart)
    }
    try window.enter("/save 4 /nowhere/x")
    let state = window.state.split(separator: " ").joined(separator: " ")
    #expect(state.contains("'/nowhere'") && state.contains("name another file or folder after '/save 4'"), "\(state)")
  }

  @Test func `only attachments that are shown and not run are opened, under a name of plain ASCII`() throws {
    func name(_ name: String, _ kind: Attachment.Kind = .file, _ type: String = "text/plain") -> String? {
      OpenedAttachment.name(
        for: Attachment(
          id: Identifier(at: .now), kind: kind, name: name, mimeType: type, sizeBytes: 1,
          sha256: ContentHash((1, 2, 3, 4, 5, 6, 7, 8))))
    }
    #expect(name("photo.JPG", .image) == "photo.jpg" && name("a b'c$(d).pdf") == "a_b_c__d_.pdf")
    #expect(name("photo", .image, "image/png") == "photo.png" && name("-rf.txt") == "rf.txt")
    #expect(name("../../x/ü你.md") == "__.md")
    for hostile in [
      "run.sh", "x.desktop", "page.html", "x.svg", "x.exe", "photo.jpg.desktop", "noextension",
      "x.py", "x.xhtml", "x.jar",
    ] {
      #expect(name(hostile) == nil, "\(hostile)")
    }
    #expect(name("x.desktop", .image, "image/png") == nil && name("x", .image, "image/svg+xml") == nil)
    try attach("#!/bin/sh", as: "run.sh", to: "alice", by: bob)
    var window = try window()
    try window.enter("/open 4")
    #expect(window.state.contains("'run.sh' is not opened"), "\(window.state)")
  }

  @Test func `Alt-A leaves for the newest other conversation with unread messages`() throws {
    var window = try window()
    try window.press(.nextUnread)
    #expect(window.model.end == nil && window.state == "-- no other conversation has unread messages --")
    let carol = try store.messenger("carol")
    try carol.say("hello", to: "alice")
    try window.press(.nextUnread)
    let expected = try window.messenger.conversation(ConversationReference("carol")).id
    #expect(window.model.end == .other(.id(expected)))
    _ = try window.messenger.change(.muted(for: nil), in: [ConversationReference("carol")])
    var other = try self.window()
    try other.press(.nextUnread)
    #expect(other.model.end == nil, "a muted conversation is left out")
  }
}
