import Glibc
import Testing

/// The Swift runtime reads the arguments of a program from /proc.
@Suite(.enabled(if: geteuid() == 0 && ToolFixture.has("unshare"), "needs root and unshare")) struct NoProcTests {
  @Test func `a program that cannot read its arguments fails instead of running without them`() throws {
    let f = try ToolFixture.filled()
    // The mount is visible only in this namespace. In a chroot, /proc is the only mount whose propagation can be changed.
    let script = "mount --make-private /proc && mount -t tmpfs none /proc && exec dm-tail bob -n 1"
    let outcome = try f.run(
      "unshare", ["--mount", "--propagation", "unchanged", "sh", "-c", script], as: "alice", validatedAs: "dm-tail")
    #expect(outcome.status == .exit(74), "\(outcome.stdout)\(outcome.stderr)")
    #expect(outcome.output.isEmpty)
    #expect(outcome.stderr.contains("/proc"), "\(outcome.stderr)")
  }
}
