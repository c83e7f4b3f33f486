package import DMCLI
internal import DMKit

package struct DMImport: Program {
  static let folder = Option(
    "folder", value: "DIR", "the folder of the files that lines name [the working directory]")
  static let dryRun = Flag("dry-run", "print what would be added, and add nothing")
  static let sameUsers = Flag("same-users", "users of the lines are those of the store who have the same handles")

  package static let command = Command(
    "dm-import", "add history from JSON lines, with its own times, senders and replies",
    synopsis: ["[FILE]", "<FILE"], options: [dryRun, folder, sameUsers] + PreparationArguments.options,
    operands: "[FILE]",
    rules: PreparationArguments.rules,
    examples: [
      ("dm-import history.jsonl", "add what is not there yet; safe to repeat"),
      (
        "{ dm-list --all --limit all; dm-tail -n all --peek; } | dm-import --same-users --store copy",
        "copy what you can see into another store"
      ),
    ], reads: "import_line", writes: ["message", "conversation", "user", "error"])

  package static func run(_ call: Invocation) throws {
    try call.arguments.atMost(1)
    let path = call.arguments.operands.first
    if path == nil, isTerminal(.input) { throw usage("pipe JSON lines into it, or name a FILE; see --help") }
    let rehearsal = try call.arguments[dryRun] ? Rehearsal(of: call.messenger()) : nil
    let messenger = try rehearsal?.messenger ?? call.messenger()
    let files = try ImportedFiles(call, messenger)
    var counts = Counts(areTried: rehearsal != nil)
    let progress = Progress(call)
    let areSame = call.arguments[sameUsers]
    try call.answerLines(of: path) { line, _ in
      let imported = try Imported(line: line)
      if areSame, case .user(var user) = imported {
        user.isKnown = true
        return .user(user)
      }
      return try files.prepared(imported)
    } nonce: {
      if case .message(let message) = $0 { message.nonce } else { nil }
    } act: {
      try messenger.importHistory($0)
    } print: { outcome, line in
      switch outcome {
      case .user(let user): try call.print(user) { _ in nil }
      case .conversation(let conversation): try call.print(conversation) { _ in nil }
      case .message(let message):
        if message.isDuplicate { counts.duplicates += 1 } else { counts.added += 1 }
        try call.print(message, line: line) { _ in nil }
      }
    } progress: {
      progress.show("\($0) lines")
    }
    progress.clear()
    if !call.isJSON, !call.isQuiet { try call.output.write("\(counts.text)\n") }
    // The error of a single line says all.
    let failed = call.failures.reduce(0) { $0 + $1.count }
    if failed > 1 { printError(command.name, "\(counts.text); \(failed) lines failed: \(codes(call.failures))") }
  }

  private struct Counts {
    /// Whether nothing is added in truth.
    let areTried: Bool
    var added = 0
    var duplicates = 0

    var text: String { "\(added) messages \(areTried ? "would be " : "")added, \(duplicates) there already" }
  }

  private static func codes(_ failures: [(code: DMError.Code, count: Int)]) -> String {
    failures.map { "\($0.count) \($0.code.rawValue)" }.joined(separator: ", ")
  }
}
