import DMKit
import Testing

@testable import DMCLI

/// How the text of a remedy is added to the message of an error.
struct RemedyTests {
  @Test func `an error without a remedy is printed as it is`() {
    #expect(DMError(.busy, "the store is busy").text == "the store is busy")
  }

  @Test func `a remedy follows a semicolon, or a comma if the message already offers a choice`() {
    let unknown = DMError(.unknownUser, "there is no user 'bob'", subject: "bob", remedy: .addUser)
    #expect(unknown.message == "there is no user 'bob'")
    #expect(unknown.text == "there is no user 'bob'; add them with 'dm-user add bob'")
    let taken = DMError(.cannotCreate, "'x' is there; name another file", remedy: .replaceFile)
    #expect(taken.text == "'x' is there; name another file, or say --force")
  }

  @Test func `the detail of an error follows its remedy`() {
    let error = DMError(.ambiguousTitle, "2 groups are titled 'g'", remedy: .chooseGroup, detail: ": A, B")
    #expect(error.message == "2 groups are titled 'g': A, B")
    #expect(
      error.text
        == "2 groups are titled 'g'; write the id of one, or name it for yourself with 'dm-conversation name': A, B")
    #expect(error.adding("; why").text.hasSuffix(": A, B; why"))
  }

  @Test(arguments: [1000, 1023, 1024, 1025, 2000])
  func `an error text together with its remedy is cut after 1,024 bytes`(length: Int) {
    let clause = String(repeating: "x", count: length)
    let error = DMError(.badField, clause, remedy: .nameConsumer)
    #expect(error.message == (length > 1024 ? clause.prefix(1024) + "…" : clause[...]))
    #expect(error.text == (clause + "; add --consumer NAME, or leave it out").prefix(1024) + "…")
  }

  @Test func `a finding prints its remedy as an error does`() {
    #expect(Finding(check: .files, subject: nil, message: "m").text == "m")
    let finding = Finding(check: .counts, subject: "s", message: "its count is 1", remedy: .repairFinding)
    #expect(finding.text == "its count is 1; dm-doctor repair corrects it")
  }
}
