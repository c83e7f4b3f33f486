internal import DMCLI
internal import DMKit

@main struct DMDoctor: Program {
  private static let damaged = Declaration(
    "damaged", "take along messages that are not as they were written, leave out such contents")

  static let command = Command(
    "dm-doctor", "check, back up, restore, purge and repair a store",
    synopsis: [
      "check [--deep]", "stats", "backup [--force] [--damaged] FILE", "dump", "restore [--damaged] [FILE]", "purge",
      "repair", "reports",
    ],
    subcommands: [
      Command.Subcommand(
        "check", "look for faults",
        options: [
          Declaration("deep", "compute everything again: pages, references, index, counts, ranges, digests and contents")
        ]),
      Command.Subcommand("stats", "print sizes, rows, consumers, and when each of these tools was used last"),
      Command.Subcommand(
        "backup", operands: "FILE", "copy the store as it is now into a file, while others write",
        options: [Declaration("force", "replace a file that is no backup, or a backup that holds more"), damaged]),
      Command.Subcommand("dump", "print the whole store as lines"),
      Command.Subcommand(
        "restore", operands: "[FILE]", "make a store of a dump on standard input, or of a dump or backup in a file",
        options: [damaged]),
      Command.Subcommand("purge", "remove what has expired, every trace of what was deleted, and old changes"),
      Command.Subcommand("repair", "make the search index and the counts anew"),
      Command.Subcommand("reports", "print the messages that were reported"),
    ],
    examples: [
      ("dm-doctor check --deep", "is everything as it was written?"),
      ("dm-doctor backup dm.backup", "a copy that is whole, whoever writes meanwhile"),
      ("dm-doctor dump | dm-doctor --store copy restore", "the same store elsewhere"),
      ("dm-doctor stats | jq .log_bytes", "how long is the log?"),
    ],
    writes: [
      "finding", "statistics", "backup", "dump", "row", "content", "dump_end", "restore", "purge", "repair", "report",
    ])

  static func run(_ call: Invocation) throws {
    let takesFile = ["backup", "restore"].contains(call.arguments.subcommand)
    try call.arguments.atMost(takesFile ? 1 : 0)
    let (interruption, progress) = (Interruption(), Progress(call))
    let upkeep = Upkeep(try call.location()) { doing in
      progress.show(doing)
      try interruption.check()
    }
    // What is printed may have to wait for its reader, and then a signal ends it as it ends any program.
    let done = {
      progress.clear()
      interruption.end()
    }
    defer { done() }
    try interruption.heeded(progress) { try run(call, upkeep, done) }
  }

  private static func run(_ call: Invocation, _ upkeep: Upkeep, _ done: () -> Void) throws {
    func print<Printed: Record>(_ record: Printed, text: (Printed) -> String) throws {
      done()
      try call.print(record, text: text)
    }
    let arguments = call.arguments
    switch arguments.subcommand {
    case "check": try check(call, upkeep, done)
    case "stats":
      let statistics = try upkeep.statistics()
      try print(statistics, text: UpkeepText.lines)
      for warning in statistics.consumers.compactMap(UpkeepText.warning) { complain(command.name, warning) }
    case "backup":
      let file = try arguments.operand(0, "FILE")
      try print(
        try upkeep.backUp(to: file, replacesAny: arguments.has("force"), takesDamaged: arguments.has("damaged")),
        text: UpkeepText.line)
    case "dump": try dump(call, upkeep, done)
    case "restore":
      let file = arguments.operands.first
      if file == nil, isTerminal(.input) { throw usage("pipe a dump into it, or name a FILE") }
      let takesDamaged = arguments.has("damaged")
      let restored =
        try file.map { try upkeep.restore(file: $0, takesDamaged: takesDamaged) }
        ?? upkeep.restore(lines: Stream.input.rawValue, takesDamaged: takesDamaged)
      try print(restored, text: UpkeepText.line)
    case "purge":
      let purged = try upkeep.purge()
      try print(purged, text: UpkeepText.line)
      if let hindrance = purged.hindrance { throw DMError(.busy, hindrance) }
    case "repair": try print(try upkeep.repair(), text: UpkeepText.line)
    default:
      var key: Int64 = 0
      while let (page, last) = try upkeep.reports(after: key) {
        for report in page { try print(report, text: UpkeepText.line) }
        key = last
      }
    }
  }
}
