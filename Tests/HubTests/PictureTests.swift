import Testing

@testable import DMJSON
@testable import DMKit
@testable import DMMedia
@testable import DMModel
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Pictures of users and groups, which a hub carries with the profile and the settings.
struct PictureTests {
  let hub = SharedHub()

  private func picture(of handle: String, on machine: Machine) throws -> Picture {
    try machine.messenger.picture(of: Handle(handle))
  }

  private func count(_ machine: Machine) throws -> Int64? {
    try machine.store.integers("SELECT count(*) FROM picture").first?.first ?? nil
  }

  @Test func `the picture of a user reaches the other users, and replaces the previous one`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    for machine in [alice, bob] { try machine.sync() }
    _ = try alice.messenger.setProfile(ProfileChange(bio: "here"), picture: .gif(1))
    try alice.sync()
    try bob.sync()
    #expect(try picture(of: "alice", on: bob) == .gif(1))
    _ = try alice.messenger.setProfile(ProfileChange(), picture: .gif(2))
    try alice.sync()
    try bob.sync()
    #expect(try picture(of: "alice", on: bob) == .gif(2))
    #expect(try count(alice) == 1 && count(bob) == 1)
    _ = try alice.messenger.setProfile(ProfileChange(avatarURL: ""))
    try alice.sync()
    try bob.sync()
    #expect(try bob.messenger.user("alice").avatarURL == nil)
    #expect(try count(alice) == 0 && count(bob) == 0)
    for machine in [alice, bob] { try machine.check() }
  }

  @Test func `the picture of a group reaches its members, also one who is added later`() throws {
    let machines = try ["alice", "bob", "carol"].map(hub.joined)
    let (alice, bob, carol) = (machines[0], machines[1], machines[2])
    for machine in machines { try machine.sync() }
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    for machine in machines { try machine.sync() }
    _ = try bob.messenger.setPicture(.gif(3), of: .title("ops"))
    for machine in [bob, alice] { try machine.sync() }
    #expect(try alice.messenger.picture(ofGroup: .title("ops")) == .gif(3))
    _ = try alice.messenger.add([Handle("carol")], to: .title("ops"), withHistory: false)
    for machine in [alice, carol] { try machine.sync() }
    #expect(try carol.messenger.picture(ofGroup: .title("ops")) == .gif(3))
    #expect(try bob.messenger.setPicture(.gif(3), of: .title("ops")) == nil)
    for machine in machines { try machine.check() }
  }

  @Test func `a picture that a restored hub has lost is pushed again`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    for machine in [alice, bob] { try machine.sync() }
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    try connectAnewAndSettle([alice, bob])
    let backup = hub.model
    _ = try alice.messenger.setPicture(.gif(4), of: .title("ops"))
    try connectAnewAndSettle([alice, bob])
    hub.model.restore(backup)
    try connectAnewAndSettle([alice, bob, alice, bob])
    let group = try #require(hub.model.conversations.values.first)
    #expect(HubPayload.group(group.entries.last?.payload).picture == .gif(4))
    #expect(try bob.messenger.picture(ofGroup: .title("ops")) == .gif(4))
    for machine in [alice, bob] { try machine.check() }
  }

  /// Payloads of a hostile member, with the name of a picture that they do not have.
  static let hostile: [(picture: [UInt8]?, url: String)] = [
    (nil, Picture.gif(5).url), (Picture.gif(6).bytes, Picture.gif(5).url), ([], Picture.gif(5).url),
    (Array("<svg onload='alert(1)'/>".utf8), Picture.gif(5).url),
    (Picture.gif(5).bytes + [UInt8](repeating: 0, count: Picture.limit), Picture.gif(5).url),
  ]

  @Test(arguments: hostile.indices) func `a picture that does not have its name is left out`(_ index: Int) throws {
    let (picture, url) = Self.hostile[index]
    let member = picture.map { #","picture":"\#($0.withUnsafeBytes(base64))""# } ?? ""
    let profile = HubPayload.profile(Array(#"{"v":1,"bio":"x","avatar_url":"\#(url)"\#(member)}"#.utf8))
    #expect(profile.bio == "x" && profile.avatarURL == nil && profile.picture == nil)
    let group = HubPayload.group(Array(#"{"v":1,"title":"x","avatar_url":"\#(url)"\#(member)}"#.utf8))
    #expect(group.title == "x" && group.avatarURL == nil && group.picture == nil)
  }

  @Test func `an image with too many pixels or with several frames is not a picture`() throws {
    var large = Picture.gif(7).bytes
    // The width in the screen descriptor and in the image descriptor.
    for offset in [7, 25] { large[offset] = 3 }
    #expect(Picture(checked: large) == nil)
    let frame = Picture.gif(7).bytes[19..<34]
    #expect(Picture(checked: Picture.gif(7).bytes.dropLast() + frame + [0x3B]) == nil)
  }

  @Test func `the settings for a new member fit the hub with the largest picture and the longest title`() throws {
    let bytes = [UInt8](repeating: 255, count: Picture.limit)
    let picture = Picture(bytes: bytes, sha256: Picture.gif(8).sha256)
    let group = HubPayload.Group(
      title: String(repeating: "\u{1F468}", count: 64), avatarURL: picture.url, picture: picture,
      expireAfter: .max, creator: Handle(stored: String(repeating: "x", count: Handle.limit)))
    #expect(HubPayload.group(group).bytes.count < 16_384)
  }
}
