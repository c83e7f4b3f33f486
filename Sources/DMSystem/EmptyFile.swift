internal import Glibc

/// An empty file whose time of change is all that it says.
///
/// Not an act: where it cannot be touched, somebody is told later or not at all.
package enum EmptyFile {
  /// - Returns: whether it bears the present time now.
  @discardableResult
  package static func touch(_ path: String) -> Bool {
    utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) == 0 || (errno == ENOENT && make(path))
  }

  /// - Returns: whether it is there now.
  @discardableResult
  package static func make(_ path: String) -> Bool {
    let descriptor = open(path, O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600)
    return descriptor >= 0 && close(descriptor) == 0
  }
}
