internal import Glibc

/// An empty file whose modification time is a signal.
///
/// Nothing is thrown: if the file cannot be touched, the signal comes later or not at all.
package enum SignalFile {
  /// - Returns: whether the file has the current time now.
  @discardableResult
  package static func touch(_ path: String) -> Bool {
    utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) == 0 || (errno == ENOENT && make(path))
  }

  /// - Returns: whether the file exists now.
  @discardableResult
  package static func make(_ path: String) -> Bool {
    let descriptor = open(path, O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600)
    return descriptor >= 0 && close(descriptor) == 0
  }
}
