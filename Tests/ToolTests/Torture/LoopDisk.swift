import Foundation
import Testing

/// An ext4 file system in a file, which is mounted with a loop device.
///
/// The file has what a power loss leaves, because unsynced data is only in the cache of the mounted file system.
final class LoopDisk {
  /// A fixture whose store is on this disk, and whose other files are not.
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

  /// A disk with a copy of an image.
  convenience init(image other: String) throws {
    try self.init { image, f in try f.done("cp", ["--sparse=always", other, image]) }
  }

  /// A disk with what a power loss now would leave on this one.
  func afterPowerLoss() throws -> LoopDisk {
    // This disk stays mounted, because unmounting would sync it.
    try withExtendedLifetime(self) { try LoopDisk(image: image) }
  }

  private init(_ make: (_ image: String, ToolFixture) throws -> Void) throws {
    f = try ToolFixture(store: "disk/store")
    try make(image, f)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    // The file system's own commits would sync data that no program has synced, so they are made rare.
    try f.done("mount", ["-o", "loop,commit=600", image, folder])
  }

  deinit {
    do { try f.done("umount", ["-l", folder]) } catch { print("left mounted: \(folder)") }
  }
}
