import Foundation
import JSONSupport
import Testing

/// Damaged images and videos: dm-attach does not crash, and does not store a camera's metadata without a warning.
@Suite(.serialized, .enabled(if: ToolFixture.has("ffmpeg") && ToolFixture.has("vips") && ToolFixture.has("exiftool")))
struct MediaFuzzTortureTests {
  private static let suite = "media-fuzz"
  private static let secret = Data("GPSSECRET".utf8)

  private static let files = ["a.jpg", "a.png", "a.gif", "a.webp", "a.heic", "a.mp4", "a.mov"]

  private static let scene = Result {
    let f = try ToolFixture()
    try f.addUsers("alice")
    try f.done(
      "sh",
      [
        "-c",
        """
        cd "$0"; picture="ffmpeg -v error -f lavfi -i testsrc=size=64x48:rate=5"
        $picture -frames:v 1 a.png; for e in jpg webp; do vips copy a.png a.$e; done
        vips heifsave a.png a.heic || cp a.jpg a.heic
        $picture -t 1 a.gif; $picture -t 1 -metadata title=GPSSECRET -metadata comment=GPSSECRET a.mp4
        $picture -t 1 -metadata location=GPSSECRET -metadata artist=GPSSECRET a.mov
        for e in jpg png webp heic mov mp4; do
          exiftool -q -q -overwrite_original -XMP:Creator=GPSSECRET -Artist=GPSSECRET -UserComment=GPSSECRET a.$e; done
        exiftool -q -q -overwrite_original -IPTC:Caption-Abstract=GPSSECRET -Comment=GPSSECRET a.jpg
        exiftool -q -q -overwrite_original -Comment=GPSSECRET -XMP:Creator=GPSSECRET a.gif
        exiftool -q -q -overwrite_original -PNG:Comment=GPSSECRET a.png; true
        """, f.directory,
      ], seconds: 120)
    return f
  }

  /// Whether the secret was stored without a warning.
  private func leak(_ outcome: Outcome, _ f: ToolFixture) throws -> Bool {
    let isSaid = ["metadata", "hidden data"].contains(where: outcome.stderr.contains)
    guard outcome.status == .exit(0), !isSaid else { return false }
    let record = try outcome.record
    // A file that is not an image or a video is sent unchanged.
    guard ["image", "video"].contains(record["kind"]?.string) else { return false }
    let hashes = [record["sha256"], record["thumbnail"]?["sha256"]].compactMap { $0?.string }
    return try hashes.contains { hash in
      try Data(contentsOf: URL(filePath: "\(f.store)/attachments/\(hash.prefix(2))/\(hash)")).range(of: Self.secret)
        != nil
    }
  }

  @Test(arguments: files, [false, true])
  func `a damaged file is cleaned, refused or sent with a warning`(name: String, hasTools: Bool) throws {
    let scene = try Self.scene.get()
    let f = try ToolFixture(copyOf: scene)
    let bytes = Array(try Data(contentsOf: URL(filePath: "\(scene.directory)/\(name)")))
    #expect(Data(bytes).range(of: Self.secret) != nil, "\(name) must contain the secret")
    var dice = Dice((Self.files.firstIndex(of: name) ?? 0) * 2 + (hasTools ? 1 : 0))
    let path = "\(f.directory)/damaged"
    let program = try ToolFixture.executable("dm-attach")
    var tries = Torture.Tries(14, seconds: 280, part: 1 / Double(2 * Self.files.count))
    var round = 0
    while tries.goOn() {
      // The first file is not damaged.
      let damaged = round == 0 ? bytes : dice.mutated(bytes)
      try Data(damaged).write(to: URL(filePath: path))
      let outcome = try f.run(
        "env", (hasTools ? [] : ["PATH=/nowhere"]) + [program, path], as: "alice", validatedAs: "dm-attach", seconds: 60
      )
      let what = "\(name) \(hasTools ? "with" : "without") tools, round \(round), DM_SEED=\(dice.seed)"
      Tally.add(.files, in: Self.suite)
      let isWell = [0, 65].contains { outcome.status == .exit($0) }
      let isLeak = try leak(outcome, f)
      Tally.add(.failures, isWell ? 0 : 1, in: Self.suite)
      Tally.add(.leaks, isLeak ? 1 : 0, in: Self.suite)
      #expect(isWell, "\(what): \(outcome.status) \(outcome.stderr)")
      #expect(!isLeak, "\(what): the camera's metadata was stored without a warning")
      round += 1
    }
    try f.done("dm-doctor", ["check", "--deep"])
  }
}
