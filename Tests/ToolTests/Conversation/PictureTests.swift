import Foundation
import JSONSupport
import Testing

/// Small pictures of users and groups.
@Suite(.enabled(if: ToolFixture.has("vips") && ToolFixture.has("exiftool"))) struct PictureTests {
  let f: ToolFixture

  init() throws {
    f = try ToolFixture()
    try f.addUsers("alice", "bob")
    _ = try f.shell(
      """
      cd \(f.directory) && vips gaussnoise noise.v 1200 800 && vips cast noise.v large.jpg uchar &&
      exiftool -q -overwrite_original -Artist=Eve -Orientation#=6 large.jpg && vips black small.png 20 30 &&
      echo text >text.txt
      """)
  }

  private func path(_ name: String) -> String { "\(f.directory)/\(name)" }

  @Test func `a picture becomes small, upright and free of metadata, and its avatar_url has its SHA-256`() throws {
    let user = try f.done("dm-user", ["set", "--picture", path("large.jpg")], as: "alice").record
    let url = try #require(user["avatar_url"]?.string)
    try #require(f.shell("dm-user picture alice >\(path("seen.jpg"))", as: "bob").status == .exit(0))
    let sum = try f.done("sha256sum", [path("seen.jpg")]).stdout.prefix(64)
    #expect(url == "nih:sha-256;\(sum)")
    let bytes = try Data(contentsOf: URL(filePath: path("seen.jpg")))
    #expect(1...10_240 ~= bytes.count)
    let tags = try f.done("exiftool", ["-s2", "-Artist", "-Orientation", "-ImageSize", path("seen.jpg")]).stdout
    #expect(!tags.contains("Artist") && !tags.contains("Orientation"))
    let size = try #require(
      tags.split(separator: " ").last?.split(separator: "x").compactMap { Int($0.filter(\.isNumber)) })
    #expect(size.count == 2 && size[0] < size[1])
  }

  @Test func `a small image becomes the picture of a group, and --picture '' removes the picture of a user`() throws {
    try f.done("dm-conversation", ["create", "--title", "ops", "bob"], as: "alice")
    let group = try f.done("dm-conversation", ["picture", "+ops", path("small.png")], as: "bob").record
    #expect(group["avatar_url"]?.string?.hasPrefix("nih:sha-256;") == true)
    try #require(f.shell("dm-conversation picture +ops >\(path("seen.png"))", as: "alice").status == .exit(0))
    #expect(try f.done("vipsheader", ["-f", "height", path("seen.png")]).stdout == "30\n")
    try f.done("dm-user", ["set", "--picture", path("small.png")], as: "alice")
    let bare = try f.done("dm-user", ["set", "--picture", ""], as: "alice").record
    #expect(bare["avatar_url"] == nil)
    #expect(try f.sql("SELECT count(*) FROM picture") == "1")
    try f.checkIntegrity()
  }

  @Test func `a file that is not an image is refused, and printing a missing picture is an error`() throws {
    for (arguments, words) in [
      (["set", "--picture", path("text.txt")], "is not an image"), (["set", "--picture", path("none")], "none"),
      (["set", "--picture", path("small.png"), "--avatar-url", "x"], "--avatar-url"),
      (["picture", "bob"], "no picture"),
    ] {
      let outcome = try f.run("dm-user", arguments, as: "alice")
      #expect(outcome.status != .exit(0) && outcome.stderr.contains(words), "\(arguments): \(outcome.stderr)")
    }
    try f.done("dm-user", ["set", "--avatar-url", "https://example.org/a.png"], as: "alice")
    let elsewhere = try f.run("dm-user", ["picture", "alice"], as: "bob")
    #expect(elsewhere.stderr.contains("https://example.org/a.png"))
  }

  @Test func `without vips, a large image is refused, and a small image becomes a picture`() throws {
    f.set("PATH", "/nowhere")
    let refused = try f.run("dm-user", ["set", "--picture", path("large.jpg")], as: "alice")
    #expect(refused.status != .exit(0) && refused.stderr.contains("libvips-tools"))
    try f.done("dm-user", ["set", "--picture", path("small.png")], as: "alice")
  }

  @Test func `a dump and a restore keep pictures, and a purge removes unused pictures`() throws {
    try f.done("dm-user", ["set", "--picture", path("small.png")], as: "alice")
    _ = try f.sql("INSERT INTO picture VALUES (zeroblob(32), x'00')")
    let copy = path("copy")
    _ = try f.shell(
      "dm-doctor purge >/dev/null; dm-doctor dump >\(path("dump")); dm-doctor --store \(copy) restore \(path("dump"))")
    #expect(try f.sql("SELECT count(*) FROM picture") == "1")
    let seen = try f.shell("dm-user --store \(copy) picture alice | cmp - \(path("small.png"))", as: "bob")
    #expect(seen.status == .exit(0), "\(seen.stderr)")
  }
}
