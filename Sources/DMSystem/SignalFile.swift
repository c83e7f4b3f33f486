internal import CSystem
package import DMModel
internal import Glibc

/// Sets the modification time of a file to now, if this process may do that.
///
/// - Returns: false if the file does not exist; it is not created.
package func markUsed(_ path: String) -> Bool {
  utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT && errno != ENOTDIR
}

/// An empty file whose modification time is a signal to other processes.
///
/// Nothing is thrown: if a file cannot be touched, the signal only comes later or not at all.
package enum SignalFile {
  /// - Returns: whether the file has the current time now.
  @discardableResult
  package static func touch(_ path: String) -> Bool {
    utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) == 0 || (errno == ENOENT && make(path))
  }

  /// Gives the file a modification time that is later than the one before, even if the clock was set back.
  ///
  /// Replaces a file that cannot be changed, such as one of another account.
  ///
  /// - Returns: that time; nil if the file cannot be touched.
  package static func advance(_ path: String) -> Timestamp? {
    if let time = advancePresent(path) { return time }
    removeFile(path)
    return advancePresent(path)
  }

  private static func advancePresent(_ path: String) -> Timestamp? {
    guard make(path), let before = FileStatus(path)?.modified else { return nil }
    let time = Timestamp(microseconds: max(Timestamp.now.microseconds, before.microseconds + 1))
    return set(time, of: path) ? time : nil
  }

  /// Gives the file a modification time, and creates the file if it does not exist.
  ///
  /// - Returns: whether the file has that time now.
  @discardableResult
  package static func set(_ time: Timestamp, of path: String) -> Bool {
    let (seconds, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    let fileTime = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest) * 1000)
    return make(path) && utimensat(AT_FDCWD, path, [fileTime, fileTime], AT_SYMLINK_NOFOLLOW) == 0
  }

  /// - Returns: whether the file exists now.
  @discardableResult
  package static func make(_ path: String) -> Bool {
    let descriptor = open(path, O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600)
    return descriptor >= 0 && close(descriptor) == 0
  }
}
