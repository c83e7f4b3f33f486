import Foundation
import JSONSupport
import Testing

/// dm-attach, killed at its system calls: no incomplete file is visible, a repetition succeeds, and a purge leaves nothing.
@Suite(.enabled(if: CrashTests.canTrace && ToolFixture.has("faketime"), "needs strace and faketime"))
struct AttachTortureTests {
  static let calls = ["write", "fsync", "rename"] + (Torture.isLong ? ["mkdir", "pwrite64", "unlink", "flock"] : [])

  /// A store that no process has open, and files beside it.
  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    try f.done(
      "sh",
      [
        "-c",
        """
        cd "$0" && ffmpeg -v error -f lavfi -i testsrc=size=2400x1600 -frames:v 1 photo.jpg &&
          ffmpeg -v error -f lavfi -i testsrc=size=96x64:rate=10 -t 1 film.mp4 && head -c 600000 /dev/urandom >data
        """, f.directory,
      ])
    return f
  }

  @Test(arguments: [["photo.jpg"], ["film.mp4"], ["--as-file", "data"]], calls)
  func `dm-attach that is killed at any system call leaves no incomplete file`(arguments: [String], call: String) throws
  {
    let template = try Self.template.get()
    let words = arguments.dropLast() + ["\(template.directory)/\(arguments.last ?? "")"]
    var number = 0
    var wasWhole = false
    while !wasWhole {
      number += 1
      try #require(number < 300, "\(call) has no end")
      let f = try ToolFixture(copyOf: template)
      let killed = try f.run(
        "strace", try f.meddling(call, "signal=SIGKILL:when=\(number)", "dm-attach") + words, as: "alice",
        validatedAs: "dm-attach")
      wasWhole = killed.status == .exit(0)
      try checkWhole(f)
      if !killed.output.isEmpty { try fetch(try killed.record["id"]?.string, f) }
      let again = try f.done("dm-attach", Array(words), as: "alice").record
      try fetch(again["id"]?.string, f)
      try f.done("dm-doctor", ["check", "--deep"])
      // Purges three days later, when nothing was sent.
      let purge = try f.run("faketime", ["-f", "+3d", "env", "NO_FAKE_STAT=1", "dm-doctor", "purge"], as: "alice")
      #expect(purge.status == .exit(0), "\(purge.stderr)")
      #expect(try contents(f) == [], "\(call) \(number): after the purge")
      #expect(try workFolders(f) == [], "\(call) \(number): after the purge")
      try f.done("dm-doctor", ["check", "--deep"])
    }
    Tally.add(.kills, number - 1, in: "attach")
    print("killed 'dm-attach \(arguments.joined(separator: " "))' at \(number - 1) calls of \(call)")
  }

  /// Checks that each file with a final name has the hash that is its name.
  private func checkWhole(_ f: ToolFixture) throws {
    for path in try contents(f) {
      let hash = try f.done("sha256sum", [path]).stdout.prefix(64)
      #expect(path.hasSuffix("/\(hash.prefix(2))/\(hash)"), "\(path) has the hash \(hash)")
    }
  }

  private func fetch(_ id: String?, _ f: ToolFixture) throws {
    try f.done("dm-attach", ["--get", try #require(id), "-o", f.directory + "/fetched", "--force"], as: "alice")
  }

  private func contents(_ f: ToolFixture) throws -> [String] {
    try found(f, ["-type", "f", "-not", "-path", "*/.work-*"])
  }

  private func workFolders(_ f: ToolFixture) throws -> [String] {
    try found(f, ["-name", ".*"])
  }

  private func found(_ f: ToolFixture, _ what: [String]) throws -> [String] {
    let folder = f.store + "/attachments"
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try f.done("find", [folder] + what).stdout.split(separator: "\n").map(String.init)
  }
}
