internal import CSystem
internal import Glibc

/// A program of the field that works on a private copy, as a process of its own with limits.
///
/// What it reads may have been made to break it: whatever happens to it is an outcome, and none of this process's
/// descriptors, locks or memory is in its reach.
package struct Tool {
  package enum Outcome: Equatable {
    /// It ended well; with what it wrote to its standard output, where nobody took that before.
    case ok([UInt8])
    /// It is nowhere on the search path.
    case missing
    /// With a clause for a person: what it said last, or how it ended.
    case failed(String)
    case tooLong
    case tooLarge

    /// Why it has not done its work; nil when it has.
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

  /// What it may use at most.
  package struct Limits {
    /// Seconds on the clock.
    package var seconds: Int64 = 120
    /// Seconds of all its threads on processors.
    package var processorSeconds = 120
    /// Bytes of memory of its own, its libraries not counted.
    package var memory = 400 << 20
    /// Bytes of a file that it writes.
    package var fileSize = 256 << 20
    /// Bytes that it writes to its standard output for nobody to take.
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
  /// Where it works: files are named as they are called there, so that no path is taken for an option or a pattern.
  package let folder: String
  /// As in the environment's PATH.
  package let searchPath: String
  package var limits = Limits()
  /// What it has in its environment, in place of what stands there.
  package var environment: [String: String] = [:]
  /// Called about five times a second while it works; what that throws ends it.
  package let waiting: () throws -> Void

  package init(
    name: String, folder: String, searchPath: String, limits: Limits = Limits(), environment: [String: String] = [:],
    waiting: @escaping () throws -> Void
  ) {
    self.name = name
    self.folder = folder
    self.searchPath = searchPath
    self.limits = limits
    self.environment = environment
    self.waiting = waiting
  }

  private static let chunk = 64 * 1024

  /// Runs it to its end, or ends it with all that it started.
  ///
  /// - Parameter receive: takes its standard output as it comes, without end; without it, that is part of the outcome.
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
      } heard: { bytes in
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
    .failed("cannot \(act): \(String(cString: strerror(errno)))")
  }

  /// Takes what a process writes until it has ended.
  ///
  /// Its end is what counts, not that of its streams: it may close them and go on, or leave them to a child.
  ///
  /// - Parameter wrote: whether it may go on.
  /// - Returns: why it has to be ended; nil when it has ended by itself.
  private func watch(
    _ process: pid_t, _ output: Int32, _ errors: Int32, wrote: (UnsafeRawBufferPointer) throws -> Bool,
    heard: (UnsafeRawBufferPointer) -> Void
  ) throws -> Outcome? {
    let ending = dm_process_descriptor(process)
    guard ending >= 0 else { return failure("wait for it") }
    defer { close(ending) }
    let deadline = stopwatch() + limits.seconds * 1_000_000
    var pulse = Interval(200_000)
    var requests = [ending, output, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 1)
    defer { buffer.deallocate() }
    while true {
      let hasEnded = requests[0].revents != 0
      let timeout = hasEnded ? 0 : milliseconds(until: min(deadline, pulse.due))
      guard poll(&requests, nfds_t(requests.count), timeout) >= 0 else { continue }
      for index in 1...2 where requests[index].revents != 0 {
        let count = read(requests[index].fd, buffer.baseAddress, buffer.count)
        // A negative one is left alone by poll(2).
        if count <= 0 { requests[index].fd = -1 }
        let bytes = UnsafeRawBufferPointer(rebasing: buffer.prefix(max(0, count)))
        if index == 2 { heard(bytes) } else if try !wrote(bytes) { return .tooLarge }
      }
      // What it wrote before its end is in the pipes still, at most their capacity once nobody is left to write.
      if hasEnded, requests[1].revents == 0, requests[2].revents == 0 { return nil }
      if requests[0].revents != 0 { kill(-process, SIGKILL) }
      // One that has ended meanwhile was in time, however long this process was stopped.
      if requests[0].revents == 0, stopwatch() >= deadline { return .tooLong }
      if pulse.comes() { try waiting() }
    }
  }

  /// What was said last, short and with nothing in it that a terminal would obey.
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
