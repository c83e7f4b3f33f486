internal import CSystem
internal import Glibc

/// The size of the terminal of standard output (TIOCGWINSZ in ioctl_tty(2)); nil if it is unknown.
package var terminalSize: (columns: Int, rows: Int)? { sizeOfTerminal(descriptor: STDOUT_FILENO) }

func sizeOfTerminal(descriptor: Int32) -> (columns: Int, rows: Int)? {
  var size = winsize()
  guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
  return (Int(size.ws_col), Int(size.ws_row))
}

/// The size of a cell of the terminal in pixels; nil if the terminal does not report it.
package var terminalCell: (width: Int, height: Int)? {
  var size = winsize()
  guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0,
    size.ws_xpixel >= size.ws_col, size.ws_ypixel >= size.ws_row
  else { return nil }
  return (Int(size.ws_xpixel / size.ws_col), Int(size.ws_ypixel / size.ws_row))
}

package func isTerminal(descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

/// The size in bytes up to which a write to a pipe is atomic: PIPE_BUF (POSIX, write(2)).
package var atomicPipeWrite: Int { Int(PIPE_BUF) }

/// Reads the next bytes of a descriptor, as many as are available and fit; returns their number, which is 0 at the end.
package func readSome(
  _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
) throws(SystemFailure) -> Int {
  while true {
    let count = read(descriptor, buffer.baseAddress, buffer.count)
    if count >= 0 { return count }
    if errno != EINTR { throw .current }
  }
}

/// Reads the next bytes of a descriptor into an array whose count does not change; returns the number of bytes, 0 at
/// the end.
package func readSome(_ descriptor: Int32, into buffer: inout [UInt8]) throws(SystemFailure) -> Int {
  try buffer.withUnsafeMutableBufferPointer { (buffer) throws(SystemFailure) in
    try readSome(descriptor, into: UnsafeMutableRawBufferPointer(buffer))
  }
}

/// Writes as many bytes to a descriptor as it accepts now; returns their number.
package func writeSome(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemFailure) -> Int {
  while true {
    let count = write(descriptor, bytes.baseAddress, bytes.count)
    if count >= 0 { return count }
    if errno != EINTR { throw .current }
  }
}

package func writeSome(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(SystemFailure) -> Int {
  try bytes.withUnsafeBufferPointer { (bytes) throws(SystemFailure) in
    try writeSome(UnsafeRawBufferPointer(bytes), to: descriptor)
  }
}

/// Writes bytes in one call, and ignores an error, because there is nowhere to report it.
package func writeOnce(_ bytes: [UInt8], to descriptor: Int32) {
  _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
}

/// Makes a pipe whose ends no other program inherits; nil if there are too many open files.
package func pipeEnds() -> (reading: Int32, writing: Int32)? {
  var ends: [Int32] = [-1, -1]
  return dm_pipe(&ends) == 0 ? (ends[0], ends[1]) : nil
}

package func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
