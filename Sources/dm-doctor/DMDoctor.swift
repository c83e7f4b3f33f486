package import DMCLI
internal import DMKit
internal import DMUpkeep

package struct DMDoctor: Program {
  static let deep = Flag(
    "deep", "compute everything again: pages, references, index, counts, ranges, digests and contents")
  static let force = Flag("force", "replace a file that is not a backup, or a backup that holds more")
  static let damaged = Flag(
    "damaged", "take along messages that are not as they were written, leave out such contents")

  package static let command = Command(
    "dm-doctor", "check, back up, restore, purge and repair a store",
    synopsis: [
      "check [--deep]", "stats", "backup [--force] [--damaged] FILE", "dump", "restore [--damaged] [FILE]", "purge",
      "repair", "reports",
    ],
    subcommands: [
      Command.Subcommand("check", "look for faults", options: [deep]) { try Work.run($0) { try $0.check() } },
      Command.Subcommand("stats", "print sizes, rows, consumers, and when each of these tools was used last") {
        try Work.run($0) { try $0.printStatistics() }
      },
      Command.Subcommand(
        "backup", operands: "FILE", "copy the store as it is now into a file, while others write",
        options: [force, damaged]
      ) { try Work.run($0, files: 1) { try $0.backUp() } },
      Command.Subcommand("dump", "print the whole store as lines") { try Work.run($0) { try $0.dump() } },
      Command.Subcommand(
        "restore", operands: "[FILE]", "make a store of a dump on standard input, or of a dump or backup in a file",
        options: [damaged]
      ) { try Work.run($0, files: 1) { try $0.restore() } },
      Command.Subcommand("purge", "remove what has expired, every trace of what was deleted, and old changes") {
        try Work.run($0) { try $0.purge() }
      },
      Command.Subcommand("repair", "make the search index and the counts anew") {
        try Work.run($0) { try $0.print($0.upkeep.repair(), text: UpkeepText.line) }
      },
      Command.Subcommand("reports", "print the messages that were reported") {
        try Work.run($0) { try $0.printReports() }
      },
    ],
    examples: [
      ("dm-doctor check --deep", "is everything as it was written?"),
      ("dm-doctor backup dm.backup", "a complete copy, while others go on writing"),
      ("dm-doctor dump | dm-doctor --store copy restore", "the same store elsewhere"),
      ("dm-doctor stats | jq .log_bytes", "how long is the log?"),
    ],
    writes: [
      "finding", "statistics", "backup", "dump", "row", "content", "dump_end", "restore", "purge", "repair", "report",
    ])
}
