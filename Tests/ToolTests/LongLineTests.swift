import Foundation
import Testing

@Suite(.serialized) struct LongLineTests {
  @Test(arguments: ["dm-send", "dm-import", "dm-read"])
  func `a line of 1 GiB costs an error record and no memory`(program: String) throws {
    let f = try ToolFixture.furnished()
    let live = try LiveProcess(f, program, as: "alice")
    let mebibyte = [UInt8](repeating: UInt8(ascii: "a"), count: 1024 * 1024)
    for _ in 0..<1024 { try live.send(mebibyte) }
    try live.send("")
    let fault = try live.record()
    #expect(fault["code"]?.string == "line_too_long")
    #expect(fault["line"]?.int == 1)
    try live.send(#"{"type":"message","conversation":"bob","text":"after"}"#)
    let answer = try live.record()
    // To send it is a message; for the others it lacks something.
    if program == "dm-send" {
      #expect(answer["text"]?.string == "after")
    } else {
      #expect(answer["line"]?.int == 2)
    }
    #expect(try peak(of: live.process.pid) < 64 * 1024, "KiB")
    #expect(live.finish().status == .exit(1))
  }

  /// The most memory that a running process held at once, in KiB.
  ///
  /// What wait4(2) tells begins with the memory of whoever spawned it; proc(5) tells the program's
  /// own.
  private func peak(of pid: Int32) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.filter(\.isNumber)))
  }

  @Test func `a text without an end costs no memory either`() throws {
    let f = try ToolFixture.furnished()
    let outcome = try f.shell(
      "head -c 1073741824 /dev/zero | tr '\\0' a | { dm-send bob; echo $? >&2; }", as: "alice")
    #expect(outcome.output.isEmpty)
    #expect(outcome.stderr.hasSuffix("65\n"))
    #expect(outcome.stderr.contains("over 64 KiB"))
  }
}
