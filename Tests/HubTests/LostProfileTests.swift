import Testing

@testable import DMKit
@testable import DMModel
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Profiles and reports that a restored hub has lost, or that a standby does not have yet.
struct LostProfileTests {
  let hub = SharedHub()

  private func named(_ name: String, _ machine: Machine) throws {
    _ = try machine.messenger.setProfile(ProfileChange(displayName: name))
  }

  /// Alice's name on the hub, and on machines.
  private func names(_ machines: [Machine]) throws -> [String?] {
    let person = hub.model.persons.values.first { $0.handle == "alice" }
    return try [HubPayload.profile(person?.profile).displayName]
      + machines.map { try $0.messenger.user("alice").displayName }
  }

  @Test func `a profile that a restored hub has lost is pushed again`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try connectAnewAndSettle([alice, bob])
    let backup = hub.model
    try named("Alice A.", alice)
    try connectAnewAndSettle([alice, bob])
    hub.model.restore(backup)
    try connectAnewAndSettle([bob, alice, bob])
    #expect(try names([alice, bob]) == ["Alice A.", "Alice A.", "Alice A."])
  }

  @Test func `after a new start of the server, a machine does not push an older profile over a newer one`() throws {
    let (alice, phone) = (try hub.joined("alice"), try hub.joined("alice"))
    try named("old", alice)
    try connectAnewAndSettle([alice, phone])
    try named("new", phone)
    try connectAnewAndSettle([phone])
    hub.model.startedAt = Timestamp(microseconds: 2)
    try connectAnewAndSettle([alice, phone])
    #expect(try names([alice, phone]) == ["new", "new", "new"])
  }

  @Test func `a machine with an older profile does not undo that another has pushed its profile again`() throws {
    let (alice, phone) = (try hub.joined("alice"), try hub.joined("alice"))
    try named("old", phone)
    try connectAnewAndSettle([alice, phone])
    let backup = hub.model
    // The phone reads changes of others, and is offline when the other machine changes the profile.
    for handle in ["bob", "carol"] { _ = hub.model.invite(handle) }
    try connectAnewAndSettle([phone])
    try named("new", alice)
    try connectAnewAndSettle([alice])
    hub.model.restore(backup)
    try connectAnewAndSettle([alice, phone, alice])
    #expect(try names([alice, phone]) == ["new", "new", "new"])
  }

  @Test func `a dropped change of the profile is not pushed after a restore`() throws {
    let (alice, phone) = (try hub.joined("alice"), try hub.joined("alice"))
    try connectAnewAndSettle([alice, phone])
    try named("first", alice)
    try connectAnewAndSettle([alice, phone])
    try named("dropped", alice)
    try alice.store.execute("UPDATE outbox SET state = 3, fault = 'over_quota' WHERE state = 0")
    #expect(try alice.messenger.drop([]).count == 1)
    hub.model.startedAt = Timestamp(microseconds: 2)
    try connectAnewAndSettle([alice, phone])
    #expect(try names([alice, phone]) == ["first", "first", "first"])
    try named("phone", phone)
    try connectAnewAndSettle([phone])
    let backup = hub.model
    hub.model.restore(backup)
    try connectAnewAndSettle([alice, phone])
    #expect(try names([alice, phone]) == ["phone", "phone", "phone"])
  }

  @Test func `the profile of another user stays if a standby has an older one`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try connectAnewAndSettle([alice, bob])
    var standby = hub.model
    try named("new", alice)
    try connectAnewAndSettle([alice, bob])
    let primary = hub.model
    (standby.isStandby, standby.startedAt) = (true, Timestamp(microseconds: 2))
    hub.model = standby
    bob.engine.close()
    try bob.sync()
    hub.model = primary
    try connectAnewAndSettle([bob])
    #expect(try names([alice, bob]) == ["new", "new", "new"])
  }

  @Test func `a dropped first change of the profile does not come back`() throws {
    let alice = try hub.joined("alice")
    try connectAnewAndSettle([alice])
    try named("dropped", alice)
    try alice.store.execute("UPDATE outbox SET state = 3, fault = 'over_quota' WHERE state = 0")
    #expect(try alice.messenger.drop([]).count == 1)
    try connectAnewAndSettle([alice])
    #expect(try names([alice]) == [nil, nil])
  }

  @Test func `a standby that lags does not replace the profile, and gets it when it becomes the primary`() throws {
    let alice = try hub.joined("alice")
    try named("old", alice)
    try connectAnewAndSettle([alice])
    var standby = hub.model
    try named("new", alice)
    try connectAnewAndSettle([alice])
    (standby.isStandby, standby.startedAt) = (true, Timestamp(microseconds: 2))
    hub.model = standby
    alice.engine.close()
    try alice.sync()
    #expect(try names([alice]) == ["old", "new"])
    hub.model.restore(standby)
    hub.model.isStandby = false
    try connectAnewAndSettle([alice])
    #expect(try names([alice]) == ["new", "new"])
  }

  @Test func `if the hub has lost the profile and the person, the machine that joins again keeps the profile`() throws {
    let alice = try hub.joined("alice")
    try named("Alice A.", alice)
    try connectAnewAndSettle([alice])
    let person = try #require(hub.model.persons.values.first)
    let rev = hub.model.peopleRev + 1
    hub.model.peopleRev = rev
    hub.model.persons[person.id]?.profile = nil
    hub.model.persons[person.id]?.rev = rev
    try connectAnewAndSettle([alice])
    #expect(try names([alice]) == ["Alice A.", "Alice A."])
  }

  @Test func `reports of a log that is pulled again are pushed again, except for a message that was deleted`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    for machine in [alice, bob] { try machine.sync() }
    for text in ["buy this", "and this"] { try alice.say(text, to: "bob") }
    try connectAnewAndSettle([alice, bob])
    let backup = hub.model
    for message in ["alice:1", "alice:2"] {
      try bob.messenger.edit([Edit(MessageReference(message), .report(reason: "spam"))]).forEach { _ = try $0.get() }
    }
    try alice.say("lost", to: "bob")
    try connectAnewAndSettle([alice, bob])
    #expect(hub.model.reports.values.map(\.count) == [2])
    hub.model.restore(backup)
    try alice.messenger.edit([Edit(MessageReference("bob:1"), .delete(forEveryone: true))]).forEach { _ = try $0.get() }
    try connectAnewAndSettle([alice, bob])
    #expect(hub.model.reports.values.map(\.count) == [1])
    #expect(try bob.store.integers("SELECT count(*) FROM outbox WHERE state < 4").first?.first == 0)
  }
}
