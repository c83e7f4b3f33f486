import Glibc
import Testing

/// Purges on disks that are full.
struct PurgeRoomTests {
  private static let isRoot = geteuid() == 0

  /// - Parameter left: the free space on a disk of 4 MiB, which also has a store of more than 1 MiB.
  @Test(.enabled(if: isRoot, "mounting needs root"), arguments: ["0", "600K"])
  func `a purge on a full disk says how much space it needs, and loses nothing`(left: String) throws {
    let f = try ToolFixture()
    let script = """
      mkdir disk && mount -t tmpfs -o size=4m none disk && cd disk || exit 99
      # In a chroot, the propagation of mounts cannot be changed, so the mount would stay.
      trap 'cd /; umount -l "$TMPDIR"' EXIT
      export DM_STORE="$PWD/store" TMPDIR="$PWD"
      dm-user add alice -q && dm-user add bob -q
      seq 4000 | sed 's/$/ is a number of four thousand, with words behind it/' | dm-send --lines bob -q
      head -c \(left) /dev/zero >room; cat /dev/zero >fill 2>/dev/null; rm room
      dm-doctor purge; echo "status $?"
      rm fill
      dm-doctor check --deep -q; echo "check $?"
      dm-tail bob --peek -n all | wc -l
      dm-doctor purge -q; echo "status $?"
      """
    let outcome = try f.run(
      "unshare", ["--mount", "--propagation", "unchanged", "sh", "-c", "cd '\(f.directory)'; \(script)"], as: "alice")
    #expect(outcome.stdout.hasSuffix("status 74\ncheck 0\n4000\nstatus 0\n"), "\(outcome.stdout)\(outcome.stderr)")
    #expect(outcome.stderr.contains("KiB of free space beside it"), "\(outcome.stderr)")
  }
}
