internal import CSystem
internal import Glibc

/// An external program that works on a private copy of a file, in a separate process with limits.
///
/// The file may be an attack on the program. Therefore each failure of the program is an `Outcome`, and the program has
/// no access to the descriptors, locks or memory of this process.
package struct Tool {
  package enum Outcome: Equatable {
    /// The program succeeded. The bytes are its standard output; they are empty if `receive` got the output.
    case ok([UInt8])
    /// The program is not on the search path.
    case missing
    /// The program failed. The text is a reason for the user: the last line of its standard error, or how it ended.
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
    /// Bytes of private memory, not counting the libraries of the program.
    package var memory = 400 << 20
    /// Bytes of each file that the program writes.
    package var fileSize = 256 << 20
    /// Bytes of standard output if `run` has no `receive`.
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
  /// The working folder of the program; its arguments are names of files in this folder, so that no path is taken for
  /// an option or a pattern.
  package let folder: String
  /// The folders in which to look for the program, in the format of PATH.
  package let searchPath: String
  package var limits = Limits()
  /// The environment variables of the program that differ from those of this process.
  package var environment: [String: String] = [:]
  /// Called about five times a second while the program runs; an error that `onTick` throws ends the program.
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

  /// Runs the program to its end, or kills its process group if it exceeds a limit or if one of the functions throws.
  ///
  /// - Parameters:
  ///   - input: the standard input.
  ///   - receive: gets the standard output in pieces, without a limit; if `receive` is nil, the output is part of the
  ///     outcome.
  /// - Throws: the errors of `onTick` and `receive`.
  package func run(
    _ arguments: [String], input: [UInt8] = [], receive: ((UnsafeRawBufferPointer) throws -> Void)? = nil
  ) throws -> Outcome {
    guard let program = find() else { return .missing }
    guard let file = MemoryFile(input) else { return failure("keep its input in memory") }
    guard var output = Pipe(), var errors = Pipe() else { return failure("make a pipe") }
    let process = start(program, arguments, reading: file.descriptor, writing: output.writing, errors.writing)
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
  /// The end of its output is not the end of the process: the process may close its streams and continue, or a child
  /// may keep them open.
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
      // After the end of the process, the pipes may still contain output, which is read before this loop ends.
      if hasEnded, requests[1].revents == 0, requests[2].revents == 0 { return nil }
      if requests[0].revents != 0 { kill(-process, SIGKILL) }
      // If the process has ended, it was in time, even if this process was suspended past the deadline.
      if requests[0].revents == 0, monotonicMicroseconds() >= deadline { return .tooLong }
      if pulse.fires() { try onTick() }
    }
  }

  /// The first 200 code points of the last line that is not blank, with control characters replaced.
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

extension Tool {
  /// The search path of the environment, or a usual one if PATH is not set.
  package static var environmentPath: String {
    getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
  }

  /// The path of the program; nil if it is not on the search path.
  ///
  /// Relative folders of the search path are skipped, because the tool runs in another folder, where they would mean
  /// other folders.
  package func find() -> String? {
    searchPath.split(separator: ":").lazy.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
      .first { access($0, X_OK) == 0 }
  }

  /// Starts the program in a new process group, with no signal ignored or blocked, with standard streams only, and with
  /// its limits.
  ///
  /// The system kills the program when this process ends.
  ///
  /// - Returns: the process id; negative, with errno(3) set, if the process cannot be made.
  func start(
    _ program: String, _ arguments: [String], reading input: Int32, writing output: Int32, _ errors: Int32
  ) -> pid_t {
    var argv = ([name] + arguments).map { strdup($0) } + [nil]
    var envp = variables().map { strdup($0) } + [nil]
    defer { for word in argv + envp { free(word) } }
    return dm_start(
      program, &argv, &envp, folder, input, output, errors, UInt(limits.processorSeconds), UInt(limits.memory),
      UInt(limits.fileSize))
  }

  /// The environment of this process, in which the tool's own variables replace those with the same name.
  private func variables() -> [String] {
    var variables = environment.map { "\($0)=\($1)" }
    var entry = environ
    while let variable = entry.pointee {
      let text = String(cString: variable)
      if environment[String(text.prefix { $0 != "=" })] == nil { variables.append(text) }
      entry += 1
    }
    return variables
  }

  /// Kills the process group of a process, and waits for the process to end.
  ///
  /// - Returns: the status that waitpid(2) reports, and the processor time in whole seconds. This time is rounded,
  ///   because it may differ a little from the time that the limit counts.
  func end(_ process: pid_t) -> (status: Int32, processorSeconds: Int) {
    kill(-process, SIGKILL)
    var status: Int32 = -1
    var usage = rusage()
    while wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
    let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec + 500_000
    return (status, usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + Int(microseconds) / 1_000_000)
  }
}

/// Bytes as a file in memory, which a program reads as its standard input; /dev/null if there are none.
struct MemoryFile: ~Copyable {
  let descriptor: Int32

  /// The file is positioned at its beginning; nil, with errno(3) set, if it cannot be made.
  init?(_ bytes: [UInt8]) {
    let made = bytes.isEmpty ? open("/dev/null", O_RDONLY | O_CLOEXEC) : dm_memory_file("input")
    guard made >= 0 else { return nil }
    guard Self.fill(made, bytes) else {
      close(made)
      return nil
    }
    descriptor = made
  }

  private static func fill(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
    do {
      try bytes.withUnsafeBytes { try writeAll($0, to: descriptor, "input") }
    } catch {
      return false
    }
    return lseek(descriptor, 0, SEEK_SET) == 0
  }

  deinit { close(descriptor) }
}

/// Both ends of a pipe(7).
struct Pipe: ~Copyable {
  let reading: Int32
  private(set) var writing: Int32

  /// Nil, with errno(3) set, if the pipe cannot be made.
  init?() {
    var ends: [Int32] = [0, 0]
    guard dm_pipe(&ends) == 0 else { return nil }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    if writing >= 0 { close(writing) }
  }

  /// Closes the writing end, so that the reader gets the end of file after all other writers have closed it.
  mutating func closeWriting() {
    close(writing)
    writing = -1
  }
}
