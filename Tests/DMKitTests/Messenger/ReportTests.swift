import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Reporting messages: `dm-edit report`.
struct ReportTests {
  private func reports(_ group: OpsGroup) throws -> [String] {
    try group.store.texts("SELECT coalesce(reason, 'no reason') || ': ' || coalesce(text, '') FROM report")
  }

  @Test func `a report keeps the reason and a copy of the text, which stays when the message is deleted`() throws {
    let group = try OpsGroup()
    try group.bob.say("buy this", to: "+ops")
    try group.alice.act(.report(reason: "they sell things"), on: "+ops:2")
    try group.bob.delete("+ops:2", forEveryone: true)
    #expect(try reports(group) == ["they sell things: buy this"])
  }

  @Test func `a second report of a message replaces the user's first, and each user has their own report`() throws {
    let group = try OpsGroup()
    try group.bob.say("buy this", to: "+ops")
    try group.alice.act(.report(reason: "spam"), on: "+ops:2")
    try group.alice.act(.report(reason: nil), on: "+ops:2")
    try group.carol.act(.report(reason: "rude"), on: "+ops:2")
    #expect(try reports(group) == ["no reason: buy this", "rude: buy this"])
  }

  @Test func `your own messages and announcements cannot be reported, and outsiders cannot report`() throws {
    let group = try OpsGroup()
    let sent = try group.bob.say("mine", to: "+ops")
    #expect(try code { try group.bob.act(.report(reason: nil), on: "+ops:2") } == .notAllowed)
    #expect(try code { try group.bob.act(.report(reason: nil), on: "+ops:1") } == .notAllowed)
    #expect(try code { try group.dave.act(.report(reason: nil), on: sent.id.description) } == .notAllowed)
    #expect(try reports(group) == [])
  }

  @Test func `a former member may report messages that they saw`() throws {
    let group = try OpsGroup()
    try group.bob.say("rude", to: "+ops")
    _ = try group.carol.leave(.title("ops"))
    try group.carol.act(.report(reason: "this is why"), on: "+ops:2")
    #expect(try reports(group) == ["this is why: rude"])
  }

  @Test func `a report does not appear in the change log, so that participants get no event`() throws {
    let group = try OpsGroup()
    try group.bob.say("rude", to: "+ops")
    #expect(try group.changes { try group.alice.act(.report(reason: nil), on: "+ops:2") } == 0)
  }

  @Test func `a reason has at most 1024 bytes and no NUL`() throws {
    func check(_ reason: String) throws -> DMError.Code? {
      try code { try Edit(MessageReference("bob:1"), .report(reason: reason)) }
    }
    #expect(try check(String(repeating: "x", count: 1024)) == nil)
    #expect(try check(String(repeating: "x", count: 1025)) == .badField)
    #expect(try check("a\u{0}") == .badField)
  }
}
