import Glibc
import Testing

/// The Swift runtime would read the arguments of a program from /proc.
@Suite(.enabled(if: geteuid() == 0 && ToolFixture.has("unshare"), "needs root and unshare")) struct NoProcTests {
  @Test func `a program gets its arguments where /proc is not mounted`() throws {
    let f = try ToolFixture.filled()
    // The mount is visible only in this namespace. In a chroot, /proc is the only mount whose propagation can be changed.
    let script = "mount --make-private /proc && mount -t tmpfs none /proc && exec dm-tail bob -n 1"
    let outcome = try f.run(
      "unshare", ["--mount", "--propagation", "unchanged", "sh", "-c", script], as: "alice", validatedAs: "dm-tail")
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    #expect(outcome.stdout.split(separator: "\n").count == 1)
  }
}
