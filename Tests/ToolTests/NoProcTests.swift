import Glibc
import Testing

/// The Swift runtime reads the arguments of a program from /proc.
@Suite(.enabled(if: geteuid() == 0 && ToolFixture.has("unshare"), "needs root and unshare")) struct NoProcTests {
  @Test func `a program that cannot read its arguments does not act as if there were none`() throws {
    let f = try ToolFixture.furnished()
    let script = "mount -t tmpfs none /proc && exec dm-tail bob -n 1"
    let outcome = try f.run("unshare", ["--mount", "sh", "-c", script], as: "alice", validatedAs: "dm-tail")
    #expect(outcome.status == .exit(74), "\(outcome.stdout)\(outcome.stderr)")
    #expect(outcome.output.isEmpty)
    #expect(outcome.stderr.contains("/proc"), "\(outcome.stderr)")
  }
}
