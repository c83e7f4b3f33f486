import Testing

@testable import DMKit
@testable import DMStore
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// Pins of messages that are not there.
struct PinAuditTests {
  @Test func `a check finds a pin without a message, and a repair removes it`() throws {
    let store = try TemporaryStore()
    let bob = try store.messenger("bob")
    try bob.say("hello", to: "alice")
    _ = try bob.edit([Edit(MessageReference("alice:1"), .pin(true))])[0].get()
    #expect(try store.findings() == [])
    try store.execute("UPDATE message_pin SET seq = 99")
    let findings = try store.findings()
    #expect(findings.contains { $0.check == .counts && $0.subject?.hasSuffix(":99") == true }, "\(findings)")
    _ = try store.upkeep.repair()
    #expect(try store.findings().filter { $0.check == .counts } == [])
    #expect(try store.integers("SELECT count(*) FROM message_pin") == [[0]])
  }
}
