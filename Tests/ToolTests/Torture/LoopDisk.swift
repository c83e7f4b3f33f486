import Foundation
import Testing

/// An ext4 in a file, which a loop device mounts: the file has what a power loss leaves, because what was written and
/// not synced is in the cache of the mounted file system only.
final class LoopDisk {
  /// Its store is on the disk, and everything else beside it.
  let f: ToolFixture
  private var image: String { f.directory + "/image" }
  private var folder: String { f.directory + "/disk" }

  static let isPossible: Bool = {
    do { return try LoopDisk().f.run("true").status == .exit(0) } catch {}
    print("skipped: the tests of power losses; they need root, mkfs.ext4 and loop devices")
    return false
  }()

  /// A new disk.
  convenience init() throws {
    try self.init { image, f in
      try f.done("truncate", ["-s", "96M", image])
      try f.done(
        "mkfs.ext4", ["-q", "-F", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", image])
    }
  }

  /// A disk with what is in a file.
  convenience init(image other: String) throws {
    try self.init { image, f in try f.done("cp", ["--sparse=always", other, image]) }
  }

  /// What it would have if its power failed now.
  func afterPowerLoss() throws -> LoopDisk {
    // Unmounting it would sync it.
    try withExtendedLifetime(self) { try LoopDisk(image: image) }
  }

  private init(_ make: (_ image: String, ToolFixture) throws -> Void) throws {
    f = try ToolFixture(store: "disk/store")
    try make(image, f)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    // Its own commits would sync what a program has not.
    try f.done("mount", ["-o", "loop,commit=600", image, folder])
  }

  deinit {
    do { try f.done("umount", ["-l", folder]) } catch { print("left mounted: \(folder)") }
  }
}
