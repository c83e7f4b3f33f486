import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Programs that fail or are killed at each system call: each ends with a documented status and makes no false report.
@Suite(.serialized, .enabled(if: CrashTests.canTrace, "needs strace")) struct SystemCallTortureTests {
  private static let suite = "system-calls"
  private static let documented: Set<Int32> = [0, 1, 64, 65, 66, 67, 73, 74, 75, 77, 78]

  /// An action, and what its run without a fault did.
  private struct Run: Sendable {
    let act: Act
    /// How often each system call is made: in all, and before the program uses its store.
    var calls: [String: (all: Int, start: Int)] = [:]
    let output: [UInt8]
  }

  /// A fault to inject.
  private struct Job: Sendable {
    let run: Int
    let call: String
    let fault: String
    let number: Int
    var pair: String { "\(run)\t\(call)\t\(fault)" }
  }

  private static let scene = Result { try CallTable.Scene() }

  /// Runs an action without a fault.
  private func look(_ act: Act) throws -> Run {
    let scene = try Self.scene.get()
    let f = try ToolFixture(copyOf: scene.f)
    let outcome = try act.run(f, scene.names, injecting: ("all", "retval=0:when=65535"))
    try #require(outcome.status == .exit(0), "\(act): \(outcome.stderr)")
    var run = Run(act: act, output: outcome.output)
    var isStarted = false
    for line in try String(contentsOfFile: f.directory + "/trace", encoding: .utf8).split(separator: "\n") {
      guard let call = line.firstMatch(of: /^[0-9]+ +([a-z0-9_]+)\(/)?.1 else { continue }
      if !isStarted, line.contains(f.store) { isStarted = true }
      let before = run.calls[String(call)] ?? (0, 0)
      run.calls[String(call)] = (before.all + 1, before.start + (isStarted ? 0 : 1))
    }
    return run
  }

  /// Each pair of call and fault once, then each at another of its calls, and so on; the loader's calls come last.
  private func jobs(_ runs: [Run], _ dice: inout Dice) -> [Job] {
    let most = Torture.isLong ? 12 : 2
    var rounds: [[Job]] = Array(repeating: [], count: most + 1)
    for (index, run) in runs.enumerated() {
      for (call, counts) in run.calls.sorted(by: { $0.key < $1.key }) {
        for error in (CallTable.errors[call] ?? []).map({ "error=\($0)" }) + ["signal=SIGKILL"] {
          guard CallTable.errors[call] != nil else { continue }
          var numbers = Array((counts.start + 1)..<max(counts.all + 1, counts.start + 1))
          numbers.shuffle(using: &dice)
          for (round, number) in numbers.prefix(most).enumerated() {
            rounds[round].append(Job(run: index, call: call, fault: error, number: number))
          }
          if counts.start > 0 {
            let number = dice.number(1...counts.start)
            // First, if only the loader makes this call.
            rounds[numbers.isEmpty ? 0 : most].append(Job(run: index, call: call, fault: error, number: number))
          }
        }
      }
    }
    return rounds.flatMap { $0.shuffled(using: &dice) }
  }

  /// Injects a fault, and checks the result.
  ///
  /// - Returns: how the program ended; nil if the call was not made so often.
  private func attempt(_ job: Job, _ run: Run) throws -> String? {
    let scene = try Self.scene.get()
    let f = try ToolFixture(copyOf: scene.f)
    let (act, what) = (run.act, "\(run.act): \(job.fault) at \(job.call) number \(job.number)")
    let outcome = try act.run(f, scene.names, injecting: (job.call, "\(job.fault):when=\(job.number)"), seconds: 40)
    let trace = try String(contentsOfFile: f.directory + "/trace", encoding: .utf8)
    guard trace.contains("(INJECTED)") || trace.contains("+++ killed by SIGKILL +++") else { return nil }
    Tally.add(.injections, in: Self.suite)
    let isOfLoader = job.number <= run.calls[job.call]?.start ?? 0
    func fault(_ text: String) {
      Tally.add(.failures, in: Self.suite)
      Issue.record("\(what): \(text) \(outcome.stderr) DM_SEED=\(Dice.seed)")
    }
    let ending: String
    switch outcome.status {
    case .exit(let status):
      ending = "exit \(status)"
      // Before the program's first statement, the loader may end it with another status.
      if !Self.documented.contains(status), !isOfLoader { fault("ended with \(status)") }
    case .signal(9) where job.fault == "signal=SIGKILL":
      ending = "killed"
      Tally.add(.kills, in: Self.suite)
    case .signal(let signal):
      ending = "signal \(signal)"
      if !isOfLoader { fault("ended by signal \(signal)") }
    case .overdue:
      ending = "hang"
      fault("did not end")
    }
    let isAcknowledged = try outcome.status == .exit(0) || outcome.records.contains { $0["type"]?.string != "error" }
    if let done = act.done {
      let isDone = try f.sql(done) == "1"
      if isAcknowledged {
        Tally.add(.acknowledged, in: Self.suite)
        Tally.add(.lost, isDone ? 0 : 1, in: Self.suite)
        if !isDone { fault("was acknowledged and is not there") }
      }
    } else if outcome.status == .exit(0), act.program != "dm-doctor" || act.arguments == ["check", "--deep"],
      outcome.output != run.output
    {
      fault("ended well and printed something else: \(outcome.stdout.prefix(300))")
    }
    let check = try f.run("dm-doctor", ["check"])
    if check.status != .exit(0) { fault("the check says \(check.stdout)\(check.stderr)") }
    let again = try act.run(f, scene.names)
    if !act.again.contains(where: { again.status == .exit($0) }) { fault("again: \(again.status) \(again.stderr)") }
    if let done = act.done, try f.sql(done) != "1" { fault("is not there once after it was run again") }
    return ending
  }

  @Test func `a program makes no false report when it is killed or a system call fails, and works when repeated`()
    async throws
  {
    var dice = Dice()
    let acts = Torture.isLong ? CallTable.acts : Array(CallTable.acts.shuffled(using: &dice).prefix(8))
    let runs = try acts.map(look)
    let jobs = jobs(runs, &dice)
    let halves = await Torture.both { worker in
      var endings: [String: [String: Int]] = [:]
      var tries = Torture.Tries(115, seconds: 600)
      for index in stride(from: worker, to: jobs.count, by: 2) where tries.goOn() {
        let job = jobs[index]
        do {
          guard let ending = try attempt(job, runs[job.run]) else { continue }
          endings[job.pair, default: [:]][ending, default: 0] += 1
        } catch {
          Issue.record(error, "\(runs[job.run].act), \(job) DM_SEED=\(Dice.seed)")
        }
      }
      return endings
    }
    let tried = halves[0].merging(halves[1]) { $0.merging($1, uniquingKeysWith: +) }
    Tally.add(.pairs, tried.count, in: Self.suite)
    #expect(tried.count > 0)
    try write(runs, tried, of: Set(jobs.map(\.pair)).count)
  }

  /// Writes the table of the pairs: how they ended, or why they were not tried.
  private func write(_ runs: [Run], _ tried: [String: [String: Int]], of count: Int) throws {
    var lines: [String] = []
    var reasons: [String: Int] = [:]
    for (index, run) in runs.enumerated() {
      for call in Set(run.calls.keys).union(CallTable.errors.keys).sorted() {
        for fault in (CallTable.errors[call] ?? []).map({ "error=\($0)" }) + ["signal=SIGKILL"] {
          var state: String
          if let endings = tried["\(index)\t\(call)\t\(fault)"] {
            state = endings.sorted { $0.key < $1.key }.map { "\($0.key) ×\($0.value)" }.joined(separator: ", ")
          } else {
            state = "not reached: it does not make this call"
            if run.calls[call] != nil { state = "not reached: the time was over, or strace did not get to it" }
            if CallTable.errors[call] == nil { state = "not tried: \(CallTable.reason(not: call))" }
            reasons[state, default: 0] += 1
          }
          lines.append("\(run.act)\t\(call)\t\(fault)\t\(state)")
        }
      }
    }
    let folder = repository + "/.build/torture"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // The short run tries only a few of the pairs.
    let file = folder + (Torture.isLong ? "/system-calls.txt" : "/system-calls-short.txt")
    try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
    print("tried \(tried.count) of \(count) pairs of an act's system call and fault; the table is \(file)")
    for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) { print("\(count) pairs \(reason)") }
  }
}
