package import DMCLI
internal import DMKit
internal import DMSystem
internal import DMUpkeep

package struct DMDoctor: Program {
  static let deep = Flag(
    "deep", "check everything: pages, references, search index, counts, ranges, digests and attachments")
  static let force = Flag("force", "also replace a FILE that is not a backup, or has more messages than the store")
  static let damaged = Flag(
    "damaged", "include altered messages, and leave out missing or altered contents of attachments")

  package static let command = Command(
    "dm-doctor", "check, back up, restore, purge and repair a store",
    synopsis: [
      "check [--deep]", "stats", "backup [--force] [--damaged] FILE|-", "dump", "restore [--damaged] [FILE]", "purge",
      "repair", "reports",
    ],
    subcommands: [
      Command.Subcommand("check", "look for faults", options: [deep]) { try Work.run($0) { try $0.check() } },
      Command.Subcommand("stats", "print sizes, row counts, consumers, and when each action was used last") {
        try Work.run($0) { try $0.printStatistics() }
      },
      Command.Subcommand(
        "backup", operands: "FILE",
        "copy the store into FILE, or to standard output; other programs can go on writing",
        options: [force, damaged]
      ) { try Work.run($0, files: 1) { try $0.backUp() } },
      Command.Subcommand("dump", "print the whole store as JSON lines") { try Work.run($0) { try $0.dump() } },
      Command.Subcommand(
        "restore", operands: "[FILE]", "create a store from a backup or a dump, or from a dump on standard input",
        options: [damaged]
      ) { try Work.run($0, files: 1) { try $0.restore() } },
      Command.Subcommand("purge", "erase expired and deleted messages, unused files and old changes") {
        try Work.run($0) { try $0.purge() }
      },
      Command.Subcommand("repair", "rebuild the search index and the counts") {
        try Work.run($0) { try $0.print($0.upkeep.repair(), text: UpkeepText.line) }
      },
      Command.Subcommand("reports", "print the messages that were reported") {
        try Work.run($0) { try $0.printReports() }
      },
    ],
    examples: [
      ("dm-doctor check --deep", "check that everything is as it was written"),
      ("dm-doctor backup dm.backup", "make a complete copy, while other programs go on writing"),
      ("dm-doctor backup - | gzip >dm.backup.gz", "make a complete copy, and compress it"),
      ("dm-doctor dump | dm-doctor --store copy restore", "copy the store into another folder"),
      ("dm-doctor stats | jq .log_bytes", "the size of the log, in bytes"),
    ],
    writes: [
      "finding", "statistics", "backup", "dump", "row", "content", "dump_end", "restore", "purge", "repair", "report",
    ])
}

/// An action on the store; a signal can end it only between two steps.
struct Work {
  let call: Invocation
  let upkeep: Upkeep
  /// Ends the progress line, and unblocks signals, before a result is printed, because printing may wait for the reader
  /// of the output.
  private let done: () -> Void

  /// - Parameter files: the maximum number of operands, each of which is the name of a file.
  static func run(_ call: Invocation, files: Int = 0, _ act: (Work) throws -> Void) throws {
    try call.arguments.atMost(files)
    let (interruption, progress) = (Interruption(), Progress(call))
    let upkeep = Upkeep(try call.location()) { doing in
      progress.show(doing)
      try interruption.check()
    }
    upkeep.onUpgrade = { clause in
      progress.clear()
      call.noteUpgrade(clause)
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
    guard count == 0 else { throw DMError(.storeDamaged, "\(counted(count, "fault")) found") }
    if !call.isJSON, !call.isQuiet { try call.output.write("no fault found\(UpkeepText.before(result.lastUsedAt))\n") }
  }

  func printStatistics() throws {
    let statistics = try upkeep.statistics()
    try print(statistics, text: UpkeepText.lines)
    for warning in statistics.consumers.compactMap(UpkeepText.warning) { printError(call.command.name, warning) }
  }

  func backUp() throws {
    let arguments = call.arguments
    let path = try arguments.operand(0, "FILE")
    if path == "-" { return try streamBackup() }
    let backup = try upkeep.backUp(
      to: path, replacesAny: arguments[DMDoctor.force],
      takesDamaged: arguments[DMDoctor.damaged])
    try print(backup, text: UpkeepText.line)
  }

  /// Writes a backup to standard output, and no record.
  private func streamBackup() throws {
    if call.arguments[DMDoctor.force] {
      throw usage("'-' is standard output, which --force cannot replace; leave it out")
    }
    if isTerminal(.output) {
      throw usage("a backup is bytes; write standard output to a file or a pipe, or name a FILE")
    }
    let stream = try upkeep.backupStream(
      orElse: environment("TMPDIR"), takesDamaged: call.arguments[DMDoctor.damaged])
    done()
    try stream.forEach { try call.output.write(content: $0) }
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
    if file == nil, isTerminal(.input) {
      throw usage("standard input is a terminal; pipe a dump into 'dm-doctor restore', or name a FILE")
    }
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
      for report in page { try print(report, text: TextFormat.lines) }
      key = last
    }
  }
}
