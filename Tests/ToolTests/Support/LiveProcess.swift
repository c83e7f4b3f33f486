import Foundation
import Glibc
import JSONSupport
import Testing

/// A running program that a test communicates with through pipes or terminals.
final class LiveProcess {
  enum Stream { case pipe, terminal, null }

  let process: ToolProcess
  private var input: Descriptor?
  private var output: Descriptor?
  private let errors: Descriptor
  private var buffer: [UInt8] = []
  private let program: String
  private let location: SourceLocation
  private let isJSON: Bool

  init(
    _ f: ToolFixture, _ program: String, _ arguments: [String] = [], as user: String? = nil, stdin: Stream = .pipe,
    stdout: Stream = .pipe, at location: SourceLocation = #_sourceLocation
  ) throws {
    self.program = program
    self.location = location
    isJSON =
      Contract.isJSON(program, arguments) && (stdout == .pipe || arguments.contains("--json"))
    let (childInput, ownInput) = try Self.open(stdin, forReading: true)
    let (childOutput, ownOutput) = try Self.open(stdout, forReading: false)
    (input, output) = (ownInput, ownOutput)
    errors = try Descriptor.temporary(in: f.directory)
    process = try ToolProcess(
      ToolFixture.executable(program), arguments, environment: f.environment(as: user),
      streams: [childInput.number, childOutput.number, errors.number])
  }

  /// The ends of the child process and of the test.
  private static func open(_ stream: Stream, forReading: Bool) throws -> (Descriptor, Descriptor?) {
    switch stream {
    case .null: return (try Descriptor(path: "/dev/null", O_RDWR), nil)
    case .terminal:
      let (main, other) = try Descriptor.terminal()
      return (other, main)
    case .pipe:
      let (read, write) = try Descriptor.pipe()
      return forReading ? (read, write) : (write, read)
    }
  }

  func send(bytes: [UInt8]) throws { try input?.write(bytes) }
  func send(_ line: String) throws { try input?.write(Array((line + "\n").utf8)) }
  func closeInput() { input = nil }
  func closeOutput() { output = nil }

  /// The next line without its LF; nil at the end.
  func line(within seconds: Double = 60) throws -> String? {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while true {
      if let end = buffer.firstIndex(of: 0x0A) {
        let line = Array(buffer[..<end])
        buffer = Array(buffer[(end + 1)...])
        if isJSON {
          for fault in try Contract.faults(in: line, Contract.schema(of: program)) {
            Issue.record("\(program): \(fault)", sourceLocation: location)
          }
        }
        return String(decoding: line, as: UTF8.self)
      }
      guard let output, output.isReadable(within: deadline.timeIntervalSinceNow) else {
        throw SpawnError(description: "\(program) printed no line in \(seconds) s: \(stderr)")
      }
      guard let more = output.some(), !more.isEmpty else { return nil }
      buffer += more
    }
  }

  /// The next line, or nil if none comes in time.
  func lineIfAny(within seconds: Double) throws -> String? {
    do { return try line(within: seconds) } catch is SpawnError { return nil }
  }

  func record(within seconds: Double = 60) throws -> JSON {
    try JSON(try #require(try line(within: seconds), "\(stderr)").utf8.map { $0 })
  }

  /// The peak memory of the program, in KiB.
  ///
  /// The figure of wait4(2) is not used, because it includes the memory that the tests had when they started the program.
  func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.filter(\.isNumber)))
  }

  var stderr: String { String(decoding: errors.contents(), as: UTF8.self) }

  /// Reads the rest of the output, and waits until the program ends.
  ///
  /// A terminal hangs up when its input is closed.
  func finish(seconds: Double = 60, closingInput: Bool = true) -> Outcome {
    if closingInput { closeInput() }
    let deadline = Date(timeIntervalSinceNow: seconds)
    while let output {
      // The end of a terminal can be read only after all processes have closed its other end.
      if output.isReadable(within: 0.05) {
        guard let more = output.some(), !more.isEmpty else { break }
        buffer += more
      } else if !process.isRunning || deadline.timeIntervalSinceNow < 0 {
        break
      }
    }
    let end = process.wait(seconds: max(0, deadline.timeIntervalSinceNow))
    return Outcome(output: buffer, stderr: stderr, status: end.ending, cpu: end.cpu)
  }
}
