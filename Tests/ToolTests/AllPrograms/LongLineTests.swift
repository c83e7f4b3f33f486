import Foundation
import JSONSupport
import Testing

@Suite(.serialized) struct LongLineTests {
  /// The length of the line: twice the memory that a program may use; in `make torture`, 1 GiB.
  private static let mebibytes = Torture.size(128, long: 1024)

  @Test(arguments: ["dm-send", "dm-import", "dm-read"])
  func `a line far over the limit gives an error record, and the program uses under 64 MiB`(program: String) throws {
    let f = try ToolFixture.filled()
    let live = try LiveProcess(f, program, as: "alice")
    let mebibyte = [UInt8](repeating: UInt8(ascii: "a"), count: 1024 * 1024)
    for _ in 1...Self.mebibytes { try live.send(bytes: mebibyte) }
    try live.send("")
    try live.send(#"{"type":"message","conversation":"bob","text":"after"}"#)
    let first = try live.record(within: 120)
    #expect(first["code"]?.string == "line_too_long")
    #expect(first["line"]?.int == 1)
    // For dm-send, this line is a message; for the other programs, it lacks a field.
    let second = try live.record()
    #expect(program == "dm-send" ? second["text"]?.string == "after" : second["line"]?.int == 2)
    let peak = try live.peak()
    #expect(peak > 1024)
    #expect(peak < 64 * 1024, "KiB")
    #expect(live.finish().status == .exit(1))
  }

  @Test func `a text on standard input that is far over the limit is refused, and the error names the limit`() throws {
    let f = try ToolFixture.filled()
    let outcome = try f.shell(
      "head -c \(Self.mebibytes << 20) /dev/zero | tr '\\0' a | { dm-send bob; echo $? >&2; }", as: "alice")
    #expect(outcome.output.isEmpty)
    #expect(outcome.stderr.hasSuffix("65\n"))
    #expect(outcome.stderr.contains("over 64 KiB"))
  }
}
