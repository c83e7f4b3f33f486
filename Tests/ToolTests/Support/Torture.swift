import Foundation
import Glibc
import JSONSupport
import Testing

/// How long the torture tests run: seconds in `make test`, minutes in `make torture`.
enum Torture {
  static let isLong = ProcessInfo.processInfo.environment["DM_TORTURE"] == "1"

  static func size(_ short: Int, long: Int) -> Int { isLong ? long : short }

  /// The repetitions of a test: a fixed number in `make test`, and for some time in `make torture`.
  struct Tries {
    private var left: Int
    private let end: ContinuousClock.Instant

    /// - Parameter seconds: the time of the long run, unless DM_TORTURE_SECONDS sets it; `part` is the share that is
    ///   used.
    init(_ count: Int, seconds: Double, part: Double = 1) {
      left = count
      let asked = ProcessInfo.processInfo.environment["DM_TORTURE_SECONDS"].flatMap(Double.init)
      end = .now + .seconds((asked ?? seconds) * part)
    }

    /// Whether to try once more.
    mutating func goOn() -> Bool {
      left -= 1
      return Torture.isLong ? .now < end : left >= 0
    }
  }

  /// The seconds in which something must happen; more in `make test`, where other suites run at the same time.
  static func bound(_ seconds: Double) -> Double { isLong ? seconds : 5 * seconds + 1 }

  /// Runs a function with 0 and with 1 at the same time, and returns both results.
  static func both<T: Sendable>(_ work: @escaping @Sendable (Int) -> T) async -> [T] {
    await withTaskGroup(of: T.self) { group in
      for number in 0...1 { group.addTask { work(number) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// Waits until a condition is true.
  static func wait(
    until what: String, seconds: Double = 60, at location: SourceLocation = #_sourceLocation, _ isSo: () throws -> Bool
  ) throws {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while try !isSo() {
      try #require(ContinuousClock.now < deadline, "waited \(seconds) s until \(what)", sourceLocation: location)
      // Lets other processes run, because the machine may have only one processor.
      poll(nil, 0, 1)
    }
  }

  /// Runs a function, and returns the seconds that it took, and its result.
  static func time<T>(_ body: () throws -> T) rethrows -> (Double, T) {
    let start = ContinuousClock.now
    let result = try body()
    return (seconds(since: start), result)
  }

  static func seconds(since start: ContinuousClock.Instant) -> Double { (ContinuousClock.now - start) / .seconds(1) }
}

/// Random numbers that can be repeated: DM_SEED sets the seed, for example that of a failed run.
///
/// Without DM_SEED, the seed is always the same in `make test`, and random in `make torture`.
struct Dice: RandomNumberGenerator {
  static let seed =
    ProcessInfo.processInfo.environment["DM_SEED"].flatMap(UInt64.init)
    ?? (Torture.isLong ? .random(in: 0...0xFFFF_FFFF) : 20_261_122)

  let seed: UInt64
  private var state: UInt64

  /// - Parameter stream: makes the numbers of several generators in one run different.
  init(_ stream: Int = 0) {
    seed = Self.seed
    state = seed &+ UInt64(stream) &* 0xD134_2543_DE82_EF95
  }

  /// SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &self) }
  mutating func happens(oneIn count: Int) -> Bool { number(1...count) == 1 }
  mutating func pick<T>(_ choices: [T]) -> T { choices[number(0...(choices.count - 1))] }
}

/// A process as the kernel lists it (proc(5)).
struct SeenProcess: Hashable {
  let pid: pid_t

  private func file(_ name: String) -> String {
    // The process may have ended.
    String(decoding: FileManager.default.contents(atPath: "/proc/\(pid)/\(name)") ?? Data(), as: UTF8.self)
  }

  var name: String { file("comm").trimmingCharacters(in: .newlines) }
  var children: [SeenProcess] {
    file("task/\(pid)/children").split(separator: " ").compactMap { pid_t($0) }.map(SeenProcess.init)
  }
  var descendants: [SeenProcess] { children.flatMap { [$0] + $0.descendants } }
  private var state: Substring { file("stat").split(separator: ")").last?.dropFirst().prefix(1) ?? "" }
  var isStopped: Bool { ["T", "t"].contains(state) || isHeldByChild }
  /// Whether it waits in vfork(2), which no signal ends, for a child that is stopped before its program begins.
  private var isHeldByChild: Bool { state == "D" && children.contains(where: \.isStopped) }
  /// Whether the process runs; a process that has ended and is not yet reaped does not count.
  var isAlive: Bool { !["", "Z", "X"].contains(state) }

  func send(_ signal: Int32) { kill(pid, signal) }
}

extension LiveProcess {
  var seen: SeenProcess { SeenProcess(pid: process.pid) }

  /// Waits for a process of this name that the program has started, directly or through another process.
  func descendant(_ name: String, seconds: Double = 10) throws -> SeenProcess {
    var found: SeenProcess?
    try Torture.wait(until: "\(name) runs", seconds: seconds) {
      found = seen.descendants.first { $0.isAlive && $0.name == name }
      return found != nil
    }
    return try #require(found)
  }

  /// The number with which the text of the next message begins; other lines are an error.
  func nextNumber(within seconds: Double = 30) throws -> Int {
    let line = try #require(try line(within: seconds), "the stream ended: \(stderr)")
    let text = line.components(separatedBy: "\"text\":\"").dropFirst().first
    return try #require(text.flatMap { Int($0.prefix { $0.isNumber }) }, "\(line)")
  }
}

extension ToolFixture {
  /// A follower that has caught up and prints new messages only; without `isJudged`, its many lines are not validated.
  func follower(
    _ arguments: [String] = [], as user: String, isJudged: Bool = true, at location: SourceLocation = #_sourceLocation
  ) throws -> LiveProcess {
    let words = ["-f", "-n", "0", "--peek", "--events", "message"] + arguments
    let live =
      isJudged
      ? try LiveProcess(self, "dm-tail", words, as: user, stdin: .null, at: location)
      : try LiveProcess(self, "env", ["dm-tail"] + words, as: user, stdin: .null, at: location)
    #expect(try live.record()["type"]?.string == "caught_up", sourceLocation: location)
    return live
  }

  /// Sends a message for each of these numbers, whose text begins with the number.
  func sendNumbers(_ numbers: ClosedRange<Int>, to conversation: String, as user: String, filler: Int = 0) throws {
    let rest = String(repeating: "x", count: filler)
    let lines = numbers.map { JSON.line(["conversation": conversation, "text": "\($0) \(rest)"]) }
    try done("dm-send", ["-q"], as: user, stdin: Input(lines: lines), seconds: 300)
  }

  /// The arguments of strace(1) to run a program and inject a fault into one of its system calls.
  func meddling(_ call: String, _ fault: String, _ program: String, only path: String? = nil) throws -> [String] {
    ["-f", "-o", directory + "/trace", "-e", "trace=\(call)", "-e", "inject=\(call):\(fault)"]
      + (path.map { ["-P", $0] } ?? []) + [try Self.executable(program)]
  }
}
