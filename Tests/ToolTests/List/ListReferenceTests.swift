import Foundation
import JSONSupport
import Testing

/// The operands of dm-list, which are references as in all programs, and its search by name.
@Suite struct ListReferenceTests {
  private func fixture() throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    try f.done("dm-conversation", ["create", "--title", "g", "bob"], as: "alice")
    for text in ["one", "two"] { try f.done("dm-send", ["+g", text], as: "alice") }
    try f.done("dm-send", ["bob", "hi"], as: "alice")
    try f.done("dm-send", ["bob", "hi"], as: "carol")
    return f
  }

  private func names(_ f: ToolFixture, _ arguments: String..., as user: String = "bob") throws -> [String] {
    try f.done("dm-list", arguments, as: user).records.compactMap { $0["name"]?.string }
  }

  @Test func `dm-list accepts several conversation references`() throws {
    let f = try fixture()
    #expect(try names(f, "+g") == ["g"])
    #expect(try names(f, "@alice") == ["alice"])
    #expect(try names(f, "alice", "+g", "alice") == ["alice", "g"])
    let id = try #require(try f.done("dm-list", ["+g"], as: "bob").record["id"]?.string)
    #expect(try names(f, "dm:\(id)") == ["g"])
    func count(_ arguments: String...) throws -> String {
      try f.done("dm-list", ["--count"] + arguments, as: "bob").stdout
    }
    #expect(try [count("+g"), count("@alice"), count("alice", "+g"), count()] == ["2\n", "1\n", "3\n", "4\n"])
    #expect(try names(f, "--limit", "1", "alice", "carol") == ["carol"])
  }

  @Test func `an operand that is not an existing conversation is an error`() throws {
    let f = try fixture()
    for (operand, status) in [("+nope", 66), ("nobody", 67), ("", 65), ("019aa6e8-7a18-7d0b-8f0e-5b8d1c6f7e21", 66)] {
      for arguments in [[operand], ["--count", operand], ["alice", operand], ["-f", operand]] {
        let outcome = try f.run("dm-list", arguments, as: "bob")
        #expect(outcome.status == .exit(Int32(status)) && outcome.output.isEmpty, "\(arguments): \(outcome.stderr)")
      }
    }
    let stranger = try #require(try f.done("dm-list", ["carol"], as: "bob").record["id"]?.string)
    #expect(try f.run("dm-list", [stranger], as: "alice").status == .exit(77))
  }

  @Test func `a named conversation is listed even if it is archived, deleted or with a blocked user`() throws {
    let f = try fixture()
    try f.done("dm-conversation", ["archive", "+g"], as: "bob")
    try f.done("dm-conversation", ["delete", "carol"], as: "bob")
    try f.done("dm-user", ["block", "alice"], as: "bob")
    #expect(try names(f).isEmpty)
    #expect(try Set(names(f, "+g", "carol", "alice")) == ["g", "carol", "alice"])
    #expect(try names(f, "+g", "carol", "--archived") == ["g"])
    #expect(try f.done("dm-list", ["--count", "alice"], as: "bob").stdout == "0\n")
  }

  @Test func `dm-list --match finds part of a name, a title or a handle, and ignores case and accents`()
    throws
  {
    let f = try fixture()
    try f.done("dm-user", ["set", "--display-name", "Çağla Öz"], as: "carol")
    try f.done("dm-conversation", ["create", "--title", "Straße ÉTÉ", "bob"], as: "alice")
    try f.done("dm-conversation", ["name", "+g", "Ωmega"], as: "bob")
    #expect(try names(f, "--match", "caGLA o") == ["Çağla Öz"])
    #expect(try names(f, "--match", "E\u{301}te") == ["Straße ÉTÉ"])
    #expect(try names(f, "--match", "ωMEG") == ["Ωmega"])
    #expect(try Set(names(f, "--match", "ALIC")) == ["alice", "Ωmega", "Straße ÉTÉ"])
    #expect(try names(f, "--match", "Ωmega", as: "alice").isEmpty)
    #expect(try names(f, "--match", "ali", "alice", "carol") == ["alice"])
    #expect(try names(f, "--match", "nothing").isEmpty)
    #expect(try f.done("dm-list", ["--count", "--match", "ΩMEGA"], as: "bob").stdout == "2\n")
  }
}
