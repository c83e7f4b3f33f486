internal import CSystem
internal import Glibc

/// Whether a file is on a network file system: NFS, SMB, CIFS, SMB2, 9P, AFS, Coda, NCP or Ceph, by the numbers of
/// statfs(2).
package func isOnNetwork(_ path: String) -> Bool {
  let remote: [UInt32] = [
    0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x5346_414F, 0x7375_7245, 0x564C, 0x00C3_6400,
  ]
  return remote.contains(UInt32(truncatingIfNeeded: dm_file_system(path)))
}

/// The bytes of a file system that are free for this user (statvfs(3)); nil if that cannot be asked.
package func freeBytes(_ path: String) -> Int? {
  var status = statvfs()
  guard statvfs(path, &status) == 0 else { return nil }
  return Int(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
}
