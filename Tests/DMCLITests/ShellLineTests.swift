import Testing

@testable import DMCLI

/// Command lines of bash are split into words and completed.
struct ShellLineTests {
  @Test func `words are unquoted as in a shell, and nothing in them is evaluated`() {
    let line = ShellLine(#"dm-send a\ b 'c $(d)' "e \"f\" \g" g"h"'i' "# + "$(touch x)")
    #expect(line.words == ["dm-send", "a b", "c $(d)", #"e "f" \g"#, "ghi", "$(touch", "x)"])
    #expect(ShellLine("dm-send ").words == ["dm-send", ""])
    #expect(ShellLine("dm-send ''").words == ["dm-send", ""])
    #expect(ShellLine("").words == [""])
  }

  @Test func `the last word is also kept as typed, together with its open quote`() {
    let line = ShellLine("dm-send '+my t")
    #expect(line.words == ["dm-send", "+my t"] && line.raw == "'+my t" && line.quote == "'")
    let escaped = ShellLine(#"dm-send +my\ t"#)
    #expect(escaped.words == ["dm-send", "+my t"] && escaped.raw == #"+my\ t"# && escaped.quote == nil)
  }

  private static let title = #"+a $(b) `c` "d" 'e' !f ~g ; {h,i} \j é👍"#

  /// The typed word, the part of it that bash replaces, and the text that bash inserts.
  @Test(arguments: [
    ("+a", "+a", #"+a\ \$\(b\)\ \`c\`\ \"d\"\ \'e\'\ \!f\ \~g\ \;\ \{h,i\}\ \\j\ é👍"#),
    ("'+a", "+a", #"+a $(b) `c` "d" '\''e'\'' !f ~g ; {h,i} \j é👍"#),
    ("\"+a", "+a", #"+a \$(b) \`c\` \"d\" 'e' "\!"f ~g ; {h,i} \\j é👍"#),
    ("", "", #"+a\ \$\(b\)\ \`c\`\ \"d\"\ \'e\'\ \!f\ \~g\ \;\ \{h,i\}\ \\j\ é👍"#),
  ])
  func `a completed title is escaped to fit the open quote`(typed: String, part: String, insertion: String) {
    let line = ShellLine("dm-tail " + typed)
    #expect(line.insertion(of: Self.title, replacing: part) == insertion)
    // The completed line has the title as its last word.
    #expect(ShellLine(String(typed.dropLast(part.count)) + insertion).words == [Self.title])
  }

  @Test func `a completion closes an open quote that bash would not close`() {
    #expect(ShellLine("dm-tail \"+g").insertion(of: "+g!", replacing: "+g") == #"+g"\!"""#)
    #expect(ShellLine("dm-tail \"+g").insertion(of: "+g\"", replacing: "+g") == #"+g\"""#)
    #expect(ShellLine("dm-tail '+g").insertion(of: "+g'", replacing: "+g") == #"+g'\'''"#)
    #expect(ShellLine("dm-tail '+g").insertion(of: "+g", replacing: "+g") == "+g")
  }

  @Test func `a completion has only the part of the word that bash replaces`() {
    #expect(ShellLine("dm-edit bob:5").insertion(of: "bob:57", replacing: "5") == "57")
    #expect(ShellLine("dm-edit bob:").insertion(of: "bob:57", replacing: "") == "57")
    #expect(ShellLine("dm-list --as=bo").insertion(of: "--as=bob", replacing: "bo") == "bob")
    #expect(ShellLine("dm-list @bo").insertion(of: "@bob", replacing: "bo") == "bob")
    #expect(ShellLine("dm-list bob:5").insertion(of: "carol:5", replacing: "5") == nil)
    #expect(ShellLine("dm-list bob").insertion(of: "bob", replacing: "carol") == nil)
  }

  @Test func `the placeholder of an operand determines what completes it`() {
    func kinds(_ index: Int, _ operands: String) -> [Completed] { Completed.all(ofOperand: index, in: operands) }
    #expect(kinds(0, "CONVERSATION|USER TEXT...") == [.conversations, .people])
    #expect(kinds(1, "CONVERSATION|USER TEXT...") == [] && kinds(0, "") == [])
    #expect(kinds(5, "CONVERSATION RANGE...") == [.numbers] && kinds(1, "[USER]") == [])
    #expect(kinds(2, "[USER]...") == [.people])
    #expect(kinds(1, "CONVERSATION TIME|off") == [.words(["off"])])
  }
}
