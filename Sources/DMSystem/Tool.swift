internal import CSystem
internal import Glibc

/// An external program that works on a private copy of a file, in a process of its own with limits.
///
/// The file may be an attack on the program: each of its failures is an `Outcome`, and it has no access to the
/// descriptors, locks or memory of this process.
package struct Tool {
  package enum Outcome: Equatable {
    /// The program succeeded; with its standard output, unless `receive` got that.
    case ok([UInt8])
    /// The program is not on the search path.
    case missing
    /// With a clause for the user: the last line of its standard error, or how it ended.
    case failed(String)
    case tooLong
    case tooLarge

    /// The reason of a failure; nil for `ok`.
    package var reason: String? {
      switch self {
      case .ok: nil
      case .missing: "the program for it is missing"
      case .failed(let reason): reason
      case .tooLong: "it took too long"
      case .tooLarge: "it became too large"
      }
    }
  }

  /// The limits of a program.
  package struct Limits {
    /// Seconds of elapsed time.
    package var seconds: Int64 = 120
    /// Seconds of processor time of all its threads.
    package var processorSeconds = 120
    /// Bytes of private memory, without its libraries.
    package var memory = 400 << 20
    /// Bytes of a file that it writes.
    package var fileSize = 256 << 20
    /// Bytes of standard output when there is no `receive`.
    package var output = 1 << 20

    package init(
      seconds: Int64 = 120, processorSeconds: Int = 120, memory: Int = 400 << 20, fileSize: Int = 256 << 20,
      output: Int = 1 << 20
    ) {
      self.seconds = seconds
      self.processorSeconds = processorSeconds
      self.memory = memory
      self.fileSize = fileSize
      self.output = output
    }
  }

  package let name: String
  /// Its working folder; arguments are names of files in it, so that no path is taken for an option or a pattern.
  package let folder: String
  /// In the format of PATH.
  package let searchPath: String
  package var limits = Limits()
  /// Variables of its environment, which replace those of this process.
  package var environment: [String: String] = [:]
  /// Called about five times a second while it runs; an error that this throws ends the program.
  package let onTick: () throws -> Void

  package init(
    name: String, folder: String, searchPath: String, limits: Limits = Limits(), environment: [String: String] = [:],
    onTick: @escaping () throws -> Void
  ) {
    self.name = name
    self.folder = folder
    self.searchPath = searchPath
    self.limits = limits
    self.environment = environment
    self.onTick = onTick
  }

  private static let chunk = 64 * 1024

  /// Runs the program to its end, or kills its process group.
  ///
  /// - Parameter receive: gets the standard output in pieces, without a limit; if it is nil, the output is part of the
  ///   outcome.
  /// - Throws: what `waiting` and `receive` throw.
  package func run(_ arguments: [String], receive: ((UnsafeRawBufferPointer) throws -> Void)? = nil) throws -> Outcome {
    guard let program = find() else { return .missing }
    guard var output = Pipe(), var errors = Pipe() else { return failure("make a pipe") }
    let process = start(program, arguments, writing: output.writing, errors.writing)
    guard process > 0 else { return failure("start it") }
    output.closeWriting()
    errors.closeWriting()
    var (written, said): ([UInt8], [UInt8]) = ([], [])
    let cutShort = Result {
      try watch(process, output.reading, errors.reading) { bytes in
        if let receive {
          try receive(bytes)
        } else {
          written += bytes
        }
        return written.count <= limits.output
      } onErrors: { bytes in
        said = (said + bytes).suffix(1024)
      }
    }
    let (status, processorSeconds) = end(process)
    if let outcome = try cutShort.get() { return outcome }
    if status == 0 { return .ok(written) }
    let number = status & 0x7F
    if number == SIGXFSZ { return .tooLarge }
    if number != 0, processorSeconds >= limits.processorSeconds { return .tooLong }
    return .failed(lastLine(of: said) ?? (number == 0 ? "exit status \(status >> 8)" : "signal \(number)"))
  }

  private func failure(_ act: String) -> Outcome {
    .failed("cannot \(act): \(SystemFailure.current.text)")
  }

  /// Reads the output of a process until the process has ended.
  ///
  /// The end of its streams does not count: it may close them and go on, or leave them to a child.
  ///
  /// - Parameters:
  ///   - onOutput: gets standard output, and returns whether the process may go on.
  ///   - onErrors: gets standard error.
  /// - Returns: the outcome if the process must be killed; nil if it has ended.
  private func watch(
    _ process: pid_t, _ output: Int32, _ errors: Int32, onOutput: (UnsafeRawBufferPointer) throws -> Bool,
    onErrors: (UnsafeRawBufferPointer) -> Void
  ) throws -> Outcome? {
    let ending = dm_process_descriptor(process)
    guard ending >= 0 else { return failure("wait for it") }
    defer { close(ending) }
    let deadline = monotonicMicroseconds() + limits.seconds * 1_000_000
    var pulse = RepeatingTimer(200_000)
    var requests = [ending, output, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 1)
    defer { buffer.deallocate() }
    while true {
      let hasEnded = requests[0].revents != 0
      let timeout = hasEnded ? 0 : milliseconds(until: min(deadline, pulse.due))
      guard poll(&requests, nfds_t(requests.count), timeout) >= 0 else { continue }
      for index in 1...2 where requests[index].revents != 0 {
        let count = read(requests[index].fd, buffer.baseAddress, buffer.count)
        // poll(2) ignores negative descriptors.
        if count <= 0 { requests[index].fd = -1 }
        let bytes = UnsafeRawBufferPointer(rebasing: buffer.prefix(max(0, count)))
        if index == 2 { onErrors(bytes) } else if try !onOutput(bytes) { return .tooLarge }
      }
      // The pipes still contain what it wrote before its end: at most their capacity, after the last writer has ended.
      if hasEnded, requests[1].revents == 0, requests[2].revents == 0 { return nil }
      if requests[0].revents != 0 { kill(-process, SIGKILL) }
      // A process that has ended meanwhile was in time, however long this process was stopped.
      if requests[0].revents == 0, monotonicMicroseconds() >= deadline { return .tooLong }
      if pulse.fires() { try onTick() }
    }
  }

  /// The last line that is not blank, at most 200 code points of it, safe for a terminal.
  private func lastLine(of bytes: [UInt8]) -> String? {
    let line = bytes.split { $0 == 0x0A || $0 == 0x0D }.last { $0.contains { $0 > 0x20 } }
    guard let line else { return nil }
    let scalars = String(decoding: line, as: UTF8.self).unicodeScalars.prefix(200).map { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: Unicode.Scalar(UInt8(ascii: "?"))
      default: scalar
      }
    }
    return String(String.UnicodeScalarView(scalars))
  }
}
