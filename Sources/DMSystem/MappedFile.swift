internal import CSystem
package import DMModel
internal import Glibc

/// A file that is mapped into memory while this value exists.
///
/// Must be used only for private copies, because no process shortens them: a read beyond the end of a file that was
/// shortened kills this process (mmap(2)).
package struct MappedFile: ~Copyable {
  /// The bytes of the file, which are valid while the `MappedFile` exists.
  ///
  /// Keep the `MappedFile` in a variable: the bytes of `MappedFile(path: path).bytes` are unmapped at once.
  package var bytes: CheckedBytes { CheckedBytes(buffer) }
  private let buffer: UnsafeRawBufferPointer

  package init(path: String) throws(DMError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw fileError(.inputOutput, "open", path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw fileError(.inputOutput, "read", path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw fileError(.inputOutput, "read", path, SystemFailure(number: EINVAL))
    }
    // mmap(2) fails for a length of 0.
    guard status.st_size > 0 else {
      buffer = UnsafeRawBufferPointer(start: nil, count: 0)
      return
    }
    let address = mmap(nil, status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let address, address != MAP_FAILED else { throw fileError(.inputOutput, "read", path) }
    buffer = UnsafeRawBufferPointer(start: address, count: status.st_size)
  }

  deinit {
    if let address = buffer.baseAddress { munmap(UnsafeMutableRawPointer(mutating: address), buffer.count) }
  }
}
