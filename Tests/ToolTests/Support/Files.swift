import Foundation
import Glibc
import Synchronization

/// The standard input of a program.
enum Input: ExpressibleByStringInterpolation, Sendable {
  case none
  case bytes([UInt8])
  case file(String)

  init(stringLiteral text: String) { self = .bytes(Array(text.utf8)) }
  init(_ text: String) { self = .bytes(Array(text.utf8)) }
  init(lines: [String]) { self = .bytes(Array(lines.map { $0 + "\n" }.joined().utf8)) }
}

/// A file descriptor that no child process inherits, and that is closed with its owner.
final class Descriptor: Sendable {
  let number: Int32

  init(_ number: Int32, _ what: String) throws {
    guard number >= 0 else {
      throw SpawnError(description: "cannot open \(what): \(String(cString: strerror(errno)))")
    }
    self.number = number
  }

  convenience init(path: String, _ flags: Int32) throws {
    try self.init(open(path, flags | O_CLOEXEC, 0o600), path)
  }

  /// A temporary file without a name.
  static func temporary(in directory: String, _ bytes: [UInt8] = []) throws -> Descriptor {
    let path = "\(directory)/\(UUID().uuidString)"
    let file = try Descriptor(path: path, O_CREAT | O_EXCL | O_RDWR)
    unlink(path)
    try file.write(bytes)
    lseek(file.number, 0, SEEK_SET)
    return file
  }

  static func pipe() throws -> (read: Descriptor, write: Descriptor) {
    try kept("a pipe") { ends in Glibc.pipe(&ends) }
  }

  /// The two ends of a pseudo-terminal that changes no byte.
  static func terminal() throws -> (main: Descriptor, other: Descriptor) {
    let pair = try kept("a pseudo-terminal") { ends in
      var (main, other): (Int32, Int32) = (-1, -1)
      let result = openpty(&main, &other, nil, nil, nil)
      ends = [main, other]
      return result
    }
    var mode = termios()
    tcgetattr(pair.1.number, &mode)
    cfmakeraw(&mode)
    tcsetattr(pair.1.number, TCSANOW, &mode)
    return pair
  }

  /// Creates two descriptors, and lets no process start before they have close-on-exec, because it would keep them open.
  private static func kept(
    _ what: String, _ make: (inout [Int32]) -> Int32
  ) throws -> (Descriptor, Descriptor) {
    var ends: [Int32] = [-1, -1]
    ToolProcess.starting.withLock { _ in
      guard make(&ends) == 0 else { return }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }
    return (try Descriptor(ends[0], what), try Descriptor(ends[1], what))
  }

  deinit { close(number) }

  func write(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SpawnError(description: "cannot write: \(String(cString: strerror(errno)))") }
      rest = rest.dropFirst(count)
    }
  }

  /// Everything from the file's beginning.
  func contents() -> [UInt8] {
    lseek(number, 0, SEEK_SET)
    var bytes: [UInt8] = []
    while let more = some(), !more.isEmpty { bytes += more }
    return bytes
  }

  /// The next bytes; empty at the end of a file or terminal, and nil if read(2) fails.
  func some() -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(number, &chunk, chunk.count)
      if count >= 0 { return Array(chunk[..<count]) }
      if errno != EINTR { return errno == EIO ? [] : nil }
    }
  }

  func isReadable(within seconds: Double) -> Bool {
    var request = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, Int32(max(0, seconds * 1000))) > 0
  }
}
