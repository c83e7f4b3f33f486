import Glibc
import Testing

@testable import DMSystem
@testable import TestSupport

struct ToolTests {
  let folder: ToolFolder

  init() throws { folder = try ToolFolder() }

  private struct Stopped: Error {}

  private func failure(_ outcome: Tool.Outcome) -> String? {
    if case .failed(let reason) = outcome { reason } else { nil }
  }

  @Test func `the outcome of a tool is its output`() throws {
    #expect(try folder.script("printf 'one\\n%s' \"$1\"").run(["two three"]) == .ok(Array("one\ntwo three".utf8)))
  }

  @Test func `a tool that is not on the search path is missing`() throws {
    #expect(try folder.tool("no-such-tool").run([]) == .missing)
  }

  @Test func `an executable file that is not a program fails`() throws {
    try folder.write("no program".utf8, to: "script")
    chmod(folder.file("script"), 0o700)
    #expect(failure(try folder.tool("script").run([]))?.hasPrefix("cannot be run: ") == true)
  }

  @Test func `relative folders on the search path are ignored`() throws {
    try folder.write("#!/bin/sh\n".utf8, to: "script")
    chmod(folder.file("script"), 0o700)
    let tool = Tool(name: "script", folder: folder.path, searchPath: ".::bin", onTick: {})
    #expect(try tool.run([]) == .missing)
  }

  @Test func `the message of a failure is the last line of standard error without control characters`() throws {
    let tool = folder.script("printf 'first\\nsecond \\033[31m\\302\\233 \\342\\200\\256 third\\n\\n' >&2; exit 3")
    #expect(failure(try tool.run([])) == "second ?[31m? ? third")
  }

  @Test func `the message of a failure without error output is its exit status or signal`() throws {
    #expect(try folder.script("exit 3").run([]) == .failed("exit status 3"))
    #expect(try folder.script("kill -TERM $$").run([]) == .failed("signal 15"))
  }

  @Test func `the message of a failure has at most 200 characters`() throws {
    let tool = folder.script("head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 1")
    #expect(failure(try tool.run([]))?.count == 200)
  }

  @Test(arguments: [
    "exec sleep 1000", "trap '' TERM INT HUP; while :; do sleep 1000; done", "exec >&- 2>&-; sleep 1000",
    "sleep 1000 & sleep 1000 & wait", "yes >&2", "while :; do :; done",
  ])
  func `a tool that takes too long is killed with its child processes`(_ lines: String) throws {
    let before = monotonicMicroseconds()
    #expect(
      try folder.script("echo $$ >group; \(lines)", .init(seconds: 1)).run([])
        == .tooLong)
    #expect(monotonicMicroseconds() - before < 30_000_000)
    try expectNobody()
  }

  /// Expects that all processes of the script's group end soon.
  ///
  /// The script has written the number of its group to a file.
  private func expectNobody() throws {
    let group = try #require(pid_t(String(decoding: try folder.bytes(of: "group").dropLast(), as: UTF8.self)))
    let deadline = monotonicMicroseconds() + 10_000_000
    while kill(-group, 0) == 0, monotonicMicroseconds() < deadline { sched_yield() }
    #expect(kill(-group, 0) != 0)
  }

  @Test func `a background child of a tool does not delay its end and is killed`() throws {
    let before = monotonicMicroseconds()
    #expect(try folder.script("echo $$ >group; sleep 1000 & echo done").run([]) == .ok(Array("done\n".utf8)))
    #expect(monotonicMicroseconds() - before < 30_000_000)
    try expectNobody()
  }

  @Test func `a tool that uses too much processor time is killed`() throws {
    #expect(try folder.script("while :; do :; done", .init(seconds: 60, processorSeconds: 1)).run([]) == .tooLong)
  }

  @Test func `a tool cannot use more memory than its limit`() throws {
    let words = ["-e", "my $x = 'x' x (150 << 20); print length $x"]
    #expect(try folder.tool("perl", .init(memory: 400 << 20)).run(words) == .ok(Array("157286400".utf8)))
    #expect(failure(try folder.tool("perl", .init(memory: 100 << 20)).run(words)) != nil)
  }

  @Test func `a tool cannot write a file larger than its limit`() throws {
    let words = ["if=/dev/zero", "of=\(folder.file("large"))", "bs=1k", "count=100", "status=none"]
    #expect(try folder.tool("dd", .init(fileSize: 100 << 10)).run(words) == .ok([]))
    #expect(try folder.tool("dd", .init(fileSize: 99 << 10)).run(words) == .tooLarge)
    #expect(try folder.bytes(of: "large").count == 99 << 10)
  }

  @Test func `a tool cannot write more output than its limit`() throws {
    let tool = folder.script("head -c \"$1\" /dev/zero", .init(output: 1000))
    #expect(try tool.run(["1000"]) == .ok([UInt8](repeating: 0, count: 1000)))
    #expect(try tool.run(["1001"]) == .tooLarge)
    #expect(try folder.script("yes", .init(seconds: 60)).run([]) == .tooLarge)
  }

  @Test func `output that is received in parts has no limit`() throws {
    var count = 0
    let outcome = try folder.script("head -c 5000000 /dev/zero", .init(output: 1)).run(
      [], receive: { count += $0.count })
    #expect(outcome == .ok([]))
    #expect(count == 5_000_000)
  }

  @Test func `onTick is called about five times a second`() throws {
    var count = 0
    #expect(try folder.script("sleep 1000", .init(seconds: 1), onTick: { count += 1 }).run([]) == .tooLong)
    #expect((2...5).contains(count))
  }

  @Test func `an error thrown by a callback kills the tool and its child processes`() throws {
    let tool = folder.script("echo $$ >group; sleep 1000 & sleep 1000", onTick: { throw Stopped() })
    #expect(throws: Stopped.self) { try tool.run([]) }
    try expectNobody()
    let speaking = folder.script("echo $$ >group; sleep 1000 & yes")
    #expect(throws: Stopped.self) { try speaking.run([], receive: { _ in throw Stopped() }) }
    try expectNobody()
  }

  @Test func `a tool inherits no open files except its standard streams`() throws {
    let leaked = open("/dev/null", O_RDONLY)
    defer { close(leaked) }
    #expect(fcntl(leaked, F_GETFD) == 0)
    // Descriptor 3 is the folder that ls(1) reads.
    #expect(try folder.run("ls", "/proc/self/fd") == "0\n1\n2\n3\n")
    #expect(try folder.run("readlink", "/proc/self/fd/0") == "/dev/null\n")
  }

  @Test func `a tool starts with no signal ignored or blocked`() throws {
    signal(SIGUSR1, SIG_IGN)
    defer { signal(SIGUSR1, SIG_DFL) }
    let status = try folder.run("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")
    let masks = status.split(separator: "\n").compactMap {
      $0.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) }
    }
    // glibc uses the signals 32 and 33 itself.
    #expect(masks.map { $0 & 0x7FFF_FFFF } == [0, 0])
  }

  @Test func `a tool runs in its folder, and its own environment variables replace ours`() throws {
    var script = folder.script("pwd -P; echo \"$HOME $TMPDIR\"; env | grep -c ^HOME=")
    script.tool.environment = ["HOME": "a=b", "TMPDIR": "."]
    let real = try #require(realpath(folder.path, nil))
    defer { free(real) }
    #expect(try script.run([]) == .ok(Array("\(String(cString: real))\na=b .\n1\n".utf8)))
  }
}
