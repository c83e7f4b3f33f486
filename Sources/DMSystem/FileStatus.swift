internal import CSystem
package import DMModel
internal import Glibc

/// The attributes of a file: stat(2).
package struct FileStatus {
  package enum Kind { case folder, regular, other }

  private let status: stat

  /// The status of the file to which a path leads; nil if this fails, with the reason in `SystemFailure.current`.
  package init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.status = status
  }

  /// The status of the file at the path itself: a symbolic link there is not followed.
  package init?(itself path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.status = status
  }

  package init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.status = status
  }

  package var kind: Kind {
    switch status.st_mode & S_IFMT {
    case S_IFDIR: .folder
    case S_IFREG: .regular
    default: .other
    }
  }

  /// The size in bytes.
  package var size: Int { Int(status.st_size) }

  /// The permission bits, as in chmod(2).
  package var permissions: UInt32 { status.st_mode & 0o7777 }

  /// Whether the file belongs to this account, to root, or to a system account, whose number is below 1000
  /// (login.defs(5), UID_MIN).
  package var isOfSystem: Bool { isOwn || status.st_uid < 1000 }

  package var isOfRoot: Bool { status.st_uid == 0 }

  /// Whether the file belongs to the account that runs this process.
  package var isOwn: Bool { status.st_uid == geteuid() }

  /// The time of the last change of the content.
  package var modified: Timestamp {
    let time = status.st_mtim
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }

  package var identity: FileIdentity { FileIdentity(device: status.st_dev, number: status.st_ino) }

  /// Whether the size and the time of the last change are the same.
  package func isUnchanged(since other: FileStatus) -> Bool {
    status.st_size == other.status.st_size && status.st_mtim.tv_sec == other.status.st_mtim.tv_sec
      && status.st_mtim.tv_nsec == other.status.st_mtim.tv_nsec
  }
}

/// The identity of a file: its device and inode number.
///
/// It shows whether a path now leads to another file.
package struct FileIdentity: Equatable {
  let device: UInt
  let number: UInt
}

/// Whether a file is on a network file system: NFS, SMB, CIFS, SMB2, 9P, AFS, Coda, NCP or Ceph, by the numbers of
/// statfs(2).
package func isOnNetwork(_ path: String) -> Bool {
  let remote: [UInt32] = [
    0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x5346_414F, 0x7375_7245, 0x564C, 0x00C3_6400,
  ]
  return remote.contains(UInt32(truncatingIfNeeded: dm_file_system(path)))
}

/// How many bytes of a file system are free for this user (statvfs(3)); nil if that is unknown.
package func freeBytes(_ path: String) -> Int? {
  var status = statvfs()
  guard statvfs(path, &status) == 0 else { return nil }
  return Int(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
}
