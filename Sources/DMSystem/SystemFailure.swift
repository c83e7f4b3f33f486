internal import Glibc

/// The reason why a system call failed: errno(3) as a value.
package struct SystemFailure: Error, Equatable {
  package let number: Int32

  package init(number: Int32) { self.number = number }

  /// The reason of this thread's last failed call.
  package static var current: SystemFailure { SystemFailure(number: errno) }

  /// The system's words for the reason (strerror(3)).
  package var text: String { String(cString: strerror(number)) }

  package static var notFound: SystemFailure { SystemFailure(number: ENOENT) }
  package static var exists: SystemFailure { SystemFailure(number: EEXIST) }

  /// Whether the reason is that there is no file at the path.
  package var isAbsence: Bool { number == ENOENT || number == ENOTDIR }

  /// Whether the reason is that this user, or any user, cannot change the file.
  var isReadOnly: Bool { number == EROFS || number == EACCES }

  /// Whether the reason is that the file system has no hard links (link(2)).
  package var hasNoLinks: Bool { number == EPERM || number == EOPNOTSUPP }

  /// Whether the reason is that the reader of a pipe has gone.
  package var isBrokenPipe: Bool { number == EPIPE }

  /// Whether the same call may succeed later: now there is nothing to read, or no space to write.
  package var isTemporary: Bool { number == EAGAIN }
}
