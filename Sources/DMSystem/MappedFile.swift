internal import CSystem
package import DMModel
internal import Glibc

/// A file in memory for as long as this lives.
///
/// Of a private copy only, which nobody shortens: to look at what is gone ends the process.
package struct MappedFile: ~Copyable {
  /// To be looked at while the file lives: it has to be in a variable, for `MappedFile(path: path).bytes` is gone already.
  package let bytes: UnsafeRawBufferPointer

  package init(path: String) throws(DMError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw fileFault(.inputOutput, "open", path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw fileFault(.inputOutput, "read", path) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw fileFault(.inputOutput, "read", path, EINVAL) }
    // Nothing cannot be mapped.
    guard status.st_size > 0 else {
      bytes = UnsafeRawBufferPointer(start: nil, count: 0)
      return
    }
    let address = mmap(nil, status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let address, address != MAP_FAILED else { throw fileFault(.inputOutput, "read", path) }
    bytes = UnsafeRawBufferPointer(start: address, count: status.st_size)
  }

  deinit {
    if let address = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: address), bytes.count) }
  }
}
