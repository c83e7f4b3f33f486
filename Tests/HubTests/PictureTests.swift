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
    _ = try alice.messenger.setProfile(ProfileChange(bio: "here"), picture: .pixel(1))
    try alice.sync()
    try bob.sync()
    #expect(try picture(of: "alice", on: bob) == .pixel(1))
    _ = try alice.messenger.setProfile(ProfileChange(), picture: .pixel(2))
    try alice.sync()
    try bob.sync()
    #expect(try picture(of: "alice", on: bob) == .pixel(2))
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
    _ = try bob.messenger.setPicture(.pixel(3), of: .title("ops"))
    for machine in [bob, alice] { try machine.sync() }
    #expect(try alice.messenger.picture(ofGroup: .title("ops")) == .pixel(3))
    _ = try alice.messenger.add([Handle("carol")], to: .title("ops"), withHistory: false)
    for machine in [alice, carol] { try machine.sync() }
    #expect(try carol.messenger.picture(ofGroup: .title("ops")) == .pixel(3))
    #expect(try bob.messenger.setPicture(.pixel(3), of: .title("ops")) == nil)
    for machine in machines { try machine.check() }
  }

  @Test func `a picture that a restored hub has lost is pushed again`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    for machine in [alice, bob] { try machine.sync() }
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    try connectAnewAndSettle([alice, bob])
    let backup = hub.model
    _ = try alice.messenger.setPicture(.pixel(4), of: .title("ops"))
    try connectAnewAndSettle([alice, bob])
    hub.model.restore(backup)
    try connectAnewAndSettle([alice, bob, alice, bob])
    let group = try #require(hub.model.conversations.values.first)
    #expect(HubPayload.group(group.entries.last?.payload).picture == .pixel(4))
    #expect(try bob.messenger.picture(ofGroup: .title("ops")) == .pixel(4))
    for machine in [alice, bob] { try machine.check() }
  }

  /// Payloads of a hostile member: each names a picture that is not in the payload.
  static let hostile: [(picture: [UInt8]?, url: String)] = [
    (nil, Picture.pixel(5).url), (Picture.pixel(6).bytes, Picture.pixel(5).url), ([], Picture.pixel(5).url),
    (Array("<svg onload='alert(1)'/>".utf8), Picture.pixel(5).url),
    (Picture.pixel(5).bytes + [UInt8](repeating: 0, count: Picture.limit), Picture.pixel(5).url),
  ]

  @Test(arguments: hostile.indices) func `a picture whose content does not match its URL is left out`(_ index: Int)
    throws
  {
    let (picture, url) = Self.hostile[index]
    let member = picture.map { #","picture":"\#($0.withUnsafeBytes(base64))""# } ?? ""
    let profile = HubPayload.profile(Array(#"{"v":1,"bio":"x","avatar_url":"\#(url)"\#(member)}"#.utf8))
    #expect(profile.bio == "x" && profile.avatarURL == url && profile.picture == nil)
    let group = HubPayload.group(Array(#"{"v":1,"title":"x","avatar_url":"\#(url)"\#(member)}"#.utf8))
    #expect(group.title == "x" && group.picture == nil)
  }

  @Test func `a URL that only resembles the URL of a picture has no hash of a picture`() throws {
    let url = Picture.pixel(5).url
    #expect(ContentHash(url: url) == Picture.pixel(5).sha256)
    for other in [url.uppercased(), url.replacing(";", with: "\u{37E}"), url + "0", String(url.dropLast()), "", "nih:"]
    {
      #expect(ContentHash(url: other) == nil)
    }
  }

  @Test func `a user who sets and clears a similar URL does not delete the picture of another user`() throws {
    let store = try TemporaryStore(users: ["alice", "bob"])
    _ = try store.messenger("bob").setProfile(ProfileChange(), picture: .pixel(5))
    let alice = try store.messenger("alice")
    for url in [
      Picture.pixel(5).url.uppercased(), Picture.pixel(5).url.replacing(";", with: "\u{37E}"), Picture.pixel(5).url,
    ] {
      _ = try alice.setProfile(ProfileChange(avatarURL: url))
      _ = try alice.setProfile(ProfileChange(avatarURL: ""))
    }
    #expect(try alice.picture(of: "bob") == .pixel(5))
    #expect(throws: DMError.self) { try alice.setProfile(ProfileChange(avatarURL: Picture.pixel(6).url)) }
  }

  @Test func `stored pictures that only former members saw are deleted when these members return`() throws {
    let store = try TemporaryStore(users: ["alice", "bob"])
    let alice = try store.messenger("alice")
    _ = try alice.createGroup(titled: "ops", with: ["bob"])
    for number in 0..<10 as Range<UInt8> {
      _ = try alice.setPicture(.pixel(2 * number), of: .title("ops"))
      _ = try alice.remove(["bob"], from: .title("ops"))
      _ = try alice.setPicture(.pixel(2 * number + 1), of: .title("ops"))
      _ = try alice.add(["bob"], to: .title("ops"), withHistory: false)
    }
    #expect(try store.integers("SELECT count(*) FROM picture") == [[1]])
    #expect(try store.findings() == [])
  }

  @Test func `a machine without the bytes of a picture does not take the picture from others`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    let second = try hub.joined("alice")
    for machine in [alice, bob, second] { try machine.sync() }
    _ = try alice.messenger.setProfile(ProfileChange(), picture: .pixel(9))
    for machine in [alice, bob, second] { try machine.sync() }
    try second.store.execute("DELETE FROM picture; DELETE FROM table_digest WHERE name = 'picture'")
    for bio in ["one", "two"] {
      _ = try second.messenger.setProfile(ProfileChange(bio: bio))
      for machine in [second, bob, second, bob] { try machine.sync() }
      #expect(try picture(of: "alice", on: bob) == .pixel(9))
    }
    // A new user gets the picture as soon as the first machine has seen that the profile lacks it.
    let carol = try hub.joined("carol")
    for machine in [alice, carol, bob, second] { try machine.sync() }
    for machine in [alice, carol, bob, second] { #expect(try picture(of: "alice", on: machine) == .pixel(9)) }
    #expect(try bob.messenger.user("alice").bio == "two")
  }

  @Test func `an added member gets the picture, but does not bring an older one back`() throws {
    let machines = try ["alice", "bob", "carol"].map(hub.joined)
    let (alice, bob, carol) = (machines[0], machines[1], machines[2])
    for machine in machines { try machine.sync() }
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    _ = try alice.messenger.setPicture(.pixel(1), of: .title("ops"))
    for machine in [alice, bob] { try machine.sync() }
    // Alice is offline while she adds Carol, and Bob sets another picture meanwhile.
    _ = try alice.messenger.add([Handle("carol")], to: .title("ops"), withHistory: false)
    _ = try bob.messenger.setPicture(.pixel(2), of: .title("ops"))
    for machine in [bob, alice, carol, bob] { try machine.sync() }
    for machine in [alice, bob] { #expect(try machine.messenger.picture(ofGroup: .title("ops")) == .pixel(2)) }
    // Carol has the settings that Alice saw when she added her, as with the title, until somebody sets another picture.
    #expect(try carol.messenger.picture(ofGroup: .title("ops")) == .pixel(1))
    for machine in machines { try machine.check() }
  }

  @Test
  func `an image is not a picture if its frame is larger than declared, or if it has other chunks or bytes`()
    throws
  {
    let pixel = Picture.pixel(7).bytes
    let plain = Array(pixel[12...])
    let canvas: [UInt8] = Array("VP8X".utf8) + [10, 0, 0, 0] + [UInt8](repeating: 0, count: 10)
    var wide = plain
    // 16,383 pixels.
    (wide[9], wide[10]) = (0xFE, 0x3F)
    let more: [UInt8] = Array("EXIF".utf8) + [2, 0, 0, 0, 0, 0]
    for chunks in [canvas + wide, plain + more, canvas] {
      let start: [UInt8] = Array("RIFF".utf8) + [UInt8(chunks.count + 4), 0, 0, 0]
      #expect(Picture(checked: start + Array("WEBP".utf8) + chunks) == nil)
    }
    let others: [[UInt8]] = [pixel + [0, 0], Array(pixel.dropLast(2)), Array("GIF89a".utf8), []]
    for bytes in others { #expect(Picture(checked: bytes) == nil) }
    #expect(Picture(checked: pixel) != nil)
  }

  @Test
  func `the settings for a new member fit into an entry of the hub, even with the largest picture and longest title`()
    throws
  {
    let bytes = [UInt8](repeating: 255, count: Picture.limit)
    let picture = Picture(bytes: bytes, sha256: Picture.pixel(8).sha256)
    let group = HubPayload.Group(
      title: String(repeating: "\u{1F468}", count: 64), avatarURL: picture.url, picture: picture,
      expireAfter: .max, creator: Handle(stored: String(repeating: "x", count: Handle.limit)))
    #expect(HubPayload.group(group).bytes.count < 16_384)
  }
}
