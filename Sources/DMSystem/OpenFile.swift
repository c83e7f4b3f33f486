package import DMModel
internal import Glibc

/// A file that is open while this value exists.
///
/// Must not be used for a database that this process has open: closing a descriptor of the file would release SQLite's
/// locks.
package struct OpenFile: ~Copyable {
  package enum Purpose {
    /// Symbolic links are followed.
    case reading
    /// A symbolic link is an error, as in all following cases except `readingAtOnce`.
    case readingItself
    /// Symbolic links are followed, and opening a FIFO does not wait for its writer.
    case readingAtOnce
    case writing
    case readingAndWriting
    /// If the file exists already, that is an error; only the owner can access the new file.
    case creating
    /// If the file exists already, it is emptied.
    case creatingOrEmptying
    /// Each write is added to the end of the file, even if other processes write, too; opening a FIFO does not wait for
    /// its reader.
    case appending

    fileprivate var flags: Int32 {
      switch self {
      case .reading: O_RDONLY
      case .readingItself: O_RDONLY | O_NOFOLLOW
      case .readingAtOnce: O_RDONLY | O_NONBLOCK | O_NOCTTY
      case .writing: O_WRONLY | O_NOFOLLOW
      case .readingAndWriting: O_RDWR | O_NOFOLLOW
      case .creating: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
      case .creatingOrEmptying: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
      case .appending: O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
      }
    }
  }

  package let path: String
  /// The descriptor of the file, which is valid while the `OpenFile` exists.
  package let descriptor: Int32

  /// - Parameter fault: makes the error from the reason why the file cannot be opened.
  package init(
    _ path: String, for purpose: Purpose, or fault: (SystemFailure) -> DMError
  ) throws(DMError) {
    let descriptor = open(path, purpose.flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw fault(.current) }
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a file of a folder for reading, also in a folder inside of it.
  ///
  /// No name of the path may be `..` or that of a symbolic link, so that the path cannot lead out of the folder, even if
  /// another process changes it meanwhile.
  ///
  /// - Parameter fault: makes the error from the reason why the file cannot be opened.
  package init(_ path: String, inside folder: String, or fault: (SystemFailure) -> DMError) throws(DMError) {
    var descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // The path is split as bytes, because Swift treats a slash and a combining mark after it as one Character.
    let names = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    for (index, name) in names.enumerated() where descriptor >= 0 {
      let parent = descriptor
      let kind = index < names.count - 1 ? O_DIRECTORY : O_NONBLOCK | O_NOCTTY
      let isName = !["", ".", ".."].contains(name)
      descriptor = isName ? openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind) : -1
      let reason = isName ? errno : ENOENT
      close(parent)
      errno = reason
    }
    guard descriptor >= 0 else { throw fault(.current) }
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  /// - Throws: `io_error`.
  package borrowing func status() throws(DMError) -> FileStatus {
    guard let status = FileStatus(descriptor: descriptor) else { throw fileError(.inputOutput, "read", path) }
    return status
  }

  /// The next bytes, at most `count`; nil if they cannot be read.
  package borrowing func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let length = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    return length < 0 ? nil : Array(bytes[..<length])
  }

  /// Reads the bytes at an offset until the buffer is full: pread(2).
  ///
  /// - Throws: `io_error`, also if the file ends before.
  package borrowing func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DMError) {
    var filled = 0
    while filled < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw fileError(.inputOutput, "read", path) }
      filled += count
    }
  }

  /// - Throws: `io_error`.
  package borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(DMError) {
    try writeAll(bytes, to: descriptor, path)
  }

  /// - Throws: `io_error`.
  package borrowing func write(_ bytes: [UInt8]) throws(DMError) {
    let (descriptor, path) = (descriptor, path)
    try bytes.withUnsafeBufferPointer { (bytes) throws(DMError) in
      try writeAll(UnsafeRawBufferPointer(bytes), to: descriptor, path)
    }
  }

  /// Sets the offset of the next read or write, in bytes from the beginning.
  package borrowing func seek(to offset: Int) { lseek(descriptor, off_t(offset), SEEK_SET) }

  /// Adds zeros to the end of the file, which take no space on the disk: ftruncate(2).
  ///
  /// - Throws: `io_error`.
  package borrowing func grow(to count: Int) throws(DMError) {
    guard ftruncate(descriptor, off_t(count)) == 0 else { throw fileError(.inputOutput, "write", path) }
  }

  /// Syncs the file to the disk.
  ///
  /// - Throws: `io_error`.
  package borrowing func sync() throws(DMError) {
    guard fsync(descriptor) == 0 else { throw fileError(.inputOutput, "make durable", path) }
  }
}
