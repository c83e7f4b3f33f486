import Foundation
import JSONSupport
import Testing

/// Sends real files with and without external tools on the PATH, and checks what the receiver gets.
struct AttachTableTests {
  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let rows = AttachRow.photos + AttachRow.images + AttachRow.others
    let picture =
      "ffmpeg -v error -f lavfi -i color=c=blue:size=120x80 -vf drawbox=x=0:y=0:w=40:h=30:color=red:t=fill -frames:v 1 upright.png"
    try f.done(
      "sh", ["-c", "cd \"$0\"; \(picture); \(rows.map(\.make).joined(separator: "\n"))", f.directory], seconds: 300)
    return f
  }

  @Test(arguments: AttachRow.photos + AttachRow.images + AttachRow.others, [true, false])
  func `each file in the table is sent or refused as the table says`(row: AttachRow, hasTools: Bool) throws {
    let f = try ToolFixture(copyOf: Self.template.get())
    let path = try "\(Self.template.get().directory)/\(row.file)"
    let expected = hasTools ? row.withTools : row.without
    let outcome = try attach(row.options + [path], hasTools: hasTools, f)
    if let refusal = expected.refusal {
      #expect(outcome.status == .exit(65) && outcome.output.isEmpty, "\(refusal): \(outcome.stderr)")
      #expect(outcome.stderr.contains("--as-file"))
      #expect(try peak(outcome) < 256 * 1024, "KiB, the peak memory of dm-attach and its tools")
      return
    }
    let sent = try #require(
      try f.done("dm-send", as: "alice", stdin: Input(lines: [outcome.stdout.trimmed])).record["attachments"]?.array
        .first)
    try check(sent, against: expected)
    let said = outcome.stderr.split(separator: "\n").filter { !$0.hasPrefix("peak ") }
    #expect(said.filter { $0.contains("install") }.count <= 1, "\(outcome.stderr)")
    try f.done("dm-attach", ["--get", "alice:1", "-o", f.directory + "/got"], as: "bob")
    if expected.isUnchanged {
      try f.done("cmp", [path, f.directory + "/got"])
    }
    if expected.keepsLocation {
      #expect(said.contains { $0.contains("metadata") }, "no warning for the sender: \(said)")
    } else if row.options != ["--as-file"] {
      try checkClean(f.directory + "/got", sent, f)
    }
    if row.file.hasPrefix("turned"), !row.options.contains("--as-file") {
      try checkUpright(f.directory + "/got", f)
    }
    if expected.hasThumbnail {
      try f.done("dm-attach", ["--get", "alice:1", "--thumbnail", "-o", f.directory + "/small"], as: "bob")
      try checkClean(f.directory + "/small", sent, f)
      // The thumbnail must be upright, too.
      if row.file.hasPrefix("turned") { try checkUpright(f.directory + "/small", f) }
    }
  }

  /// Runs dm-attach with or without external tools on the PATH; its output is a line for dm-send.
  private func attach(_ arguments: [String], hasTools: Bool, _ f: ToolFixture) throws -> Outcome {
    let path = hasTools ? [] : ["PATH=/nowhere"]
    let program = try ToolFixture.executable("dm-attach")
    return try f.run(
      "/usr/bin/time", ["-q", "-f", "peak %M", "/usr/bin/env"] + path + [program, "--to", "bob"] + arguments,
      as: "alice",
      validatedAs: "dm-attach", seconds: 60)
  }

  private func peak(_ outcome: Outcome) throws -> Int {
    try #require(outcome.stderr.split(separator: "\n").last?.split(separator: " ").last.flatMap { Int($0) })
  }

  private func check(_ sent: JSON, against expected: AttachRow.Result) throws {
    #expect(sent["kind"]?.string == expected.kind)
    #expect(sent["mime_type"]?.string == expected.type)
    let size = sent["width"].flatMap { width in sent["height"].map { "\(width.int ?? 0)x\($0.int ?? 0)" } }
    #expect(size == expected.size)
    #expect((sent["thumbnail"] != nil) == expected.hasThumbnail)
    #expect((sent["duration"] != nil) == expected.hasDuration)
    #expect((sent["waveform"] != nil) == (expected.kind == "voice"))
  }

  /// Checks that the file has no location, author or comment, and no data after its end.
  private func checkClean(_ path: String, _ sent: JSON, _ f: ToolFixture) throws {
    if sent["size_bytes"]?.int == 0 { return }
    let tags = try f.done("exiftool", ["-a", "-ee", "-s2", path]).stdout
    for secret in ["GPS", "XMP", "Creator:", "Artist:", "Comment:", "Location", "Title:"] {
      #expect(!tags.split(separator: "\n").contains { $0.hasPrefix(secret) }, "\(tags)")
    }
    let bytes = try Data(contentsOf: URL(filePath: path))
    #expect(bytes.range(of: Data("alert(1)".utf8)) == nil && bytes.range(of: Data("alice".utf8)) == nil)
  }

  /// Checks that the image is red at the upper left when a viewer shows it.
  private func checkUpright(_ path: String, _ f: ToolFixture) throws {
    try f.done("vips", ["autorot", path, f.directory + "/seen.v"])
    let red = try f.done("vips", ["getpoint", f.directory + "/seen.v", "10", "10"]).stdout.split(separator: " ")
    let blue = try f.done("vips", ["getpoint", f.directory + "/seen.v", "110", "70"]).stdout.split(separator: " ")
    #expect(
      red.first.flatMap { Double($0) } ?? 0 > 200 && blue.first.flatMap { Double($0) } ?? 255 < 60, "\(red) \(blue)")
  }

  @Test(arguments: [
    ("../../etc/passwd", "passwd"), ("a/b.txt", "b.txt"), ("-rf", "rf"), (".profile", "profile"),
    (String(repeating: "ä", count: 150) + ".txt", String(repeating: "ä", count: 125) + ".txt"),
    ("photo\u{202E}gpj.exe", "photogpj.exe"), ("new\nline\u{7}.txt", "newline.txt"), ("..", "file"), ("/", "file"),
  ])
  func `an unsafe file name is made safe when the file is sent`(name: String, safe: String) throws {
    let f = try ToolFixture(copyOf: Self.template.get())
    let folder = f.directory + "/saved"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let sent = try f.run("dm-attach", ["--as-file", "--name", name, "-"], as: "alice", stdin: "x")
    #expect(try sent.record["name"]?.string == safe)
    try f.done("dm-attach", ["--get", try #require(try sent.record["id"]?.string), "-o", folder], as: "alice")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [safe])
  }

  @Test(arguments: [
    "../escaped", "a/b", "/tmp/dm-escaped", "nul\0byte", "-o", String(repeating: "x", count: 300), "\u{202E}gpj",
  ])
  func `a file name is made safe when the file is saved, even if the stored name is unsafe`(name: String) throws {
    let f = try ToolFixture(copyOf: Self.template.get())
    let folder = f.directory + "/saved"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let id = try #require(
      try f.run("dm-attach", ["--as-file", "--name", "x", "-"], as: "alice", stdin: "x").record["id"]?.string)
    let hex = name.utf8.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
    _ = try f.sql("UPDATE attachment SET name = CAST(x'\(hex)' AS TEXT)")
    try f.done("dm-attach", ["--get", id, "-o", folder], as: "alice")
    let saved = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(saved.count == 1 && !saved[0].hasPrefix("-") && saved[0].utf8.count <= 255, "\(saved)")
    #expect(!FileManager.default.fileExists(atPath: f.directory + "/escaped"))
    let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(saved[0])")[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }
}

extension String {
  fileprivate var trimmed: String { trimmingCharacters(in: .newlines) }
}
