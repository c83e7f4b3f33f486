internal import DMCLI
internal import DMKit
internal import DMUpkeep

/// One action on the store, which a signal ends only between two steps.
struct Work {
  let call: Invocation
  let upkeep: Upkeep
  /// Ends the progress line and unblocks signals, because printing may wait for its reader.
  private let done: () -> Void

  /// - Parameter files: how many operands the action takes.
  static func run(_ call: Invocation, files: Int = 0, _ act: (Work) throws -> Void) throws {
    try call.arguments.atMost(files)
    let (interruption, progress) = (Interruption(), Progress(call))
    let upkeep = Upkeep(try call.location()) { doing in
      progress.show(doing)
      try interruption.check()
    }
    let done = {
      progress.clear()
      interruption.end()
    }
    defer { done() }
    try interruption.heeded(progress) { try act(Work(call: call, upkeep: upkeep, done: done)) }
  }

  func print<Printed: Record>(_ record: Printed, text: (Printed) -> String) throws {
    done()
    try call.print(record, text: text)
  }

  func check() throws {
    let result = try upkeep.check(deep: call.arguments[DMDoctor.deep])
    done()
    for finding in result.findings {
      try call.print(FindingRecord(finding, message: finding.text), text: UpkeepText.line)
    }
    let count = result.findings.count
    guard count == 0 else { throw DMError(.storeDamaged, "\(count) \(count == 1 ? "fault" : "faults") found") }
    if !call.isJSON, !call.isQuiet { try call.output.write("no fault found\(UpkeepText.before(result.lastUsedAt))\n") }
  }

  func printStatistics() throws {
    let statistics = try upkeep.statistics()
    try print(statistics, text: UpkeepText.lines)
    for warning in statistics.consumers.compactMap(UpkeepText.warning) { printError(call.command.name, warning) }
  }

  func backUp() throws {
    let arguments = call.arguments
    let backup = try upkeep.backUp(
      to: arguments.operand(0, "FILE"), replacesAny: arguments[DMDoctor.force],
      takesDamaged: arguments[DMDoctor.damaged])
    try print(backup, text: UpkeepText.line)
  }

  func dump() throws {
    let dump = try upkeep.dump(orElse: environment("TMPDIR"))
    done()
    if let folder = dump.spareFolder {
      printError(call.command.name, "cannot write to the folder of the store; the lines wait in '\(folder)'")
    }
    try dump.forEach { try call.output.write(lines: $0) }
  }

  func restore() throws {
    let file = call.arguments.operands.first
    if file == nil, isTerminal(.input) { throw usage("pipe a dump into it, or name a FILE") }
    let takesDamaged = call.arguments[DMDoctor.damaged]
    let restored =
      try file.map { try upkeep.restore(file: $0, takesDamaged: takesDamaged) }
      ?? upkeep.restore(lines: Stream.input.rawValue, takesDamaged: takesDamaged)
    try print(restored, text: UpkeepText.line)
  }

  func purge() throws {
    let purged = try upkeep.purge()
    try print(purged, text: UpkeepText.line)
    if let obstacle = purged.obstacle { throw DMError(.busy, obstacle) }
  }

  func printReports() throws {
    var key: ReportKey?
    while let (page, last) = try upkeep.reports(after: key) {
      for report in page { try print(report, text: UpkeepText.line) }
      key = last
    }
  }
}
