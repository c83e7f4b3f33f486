package import DMCLI
internal import DMKit

package struct DMImport: Program {
  package static let command = Command(
    "dm-import", "add history from JSON lines, with its own times, senders and replies",
    synopsis: ["<JSON-LINES"],
    examples: [
      ("dm-import <history.jsonl", "add what is not there yet; safe to repeat"),
      (
        "{ dm-list --all --limit all; dm-tail -n all --peek; } | dm-import --store copy",
        "copy what you can see into another store"
      ),
    ], reads: "import_line", writes: ["message", "conversation", "error"])

  package static func run(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    if isTerminal(.input) { throw usage("pipe JSON lines into it; see --help") }
    let messenger = try call.messenger()
    var added = 0
    var duplicates = 0
    let progress = Progress(call)
    try call.answerLines { line, _ in
      try Imported(line: line)
    } nonce: {
      if case .message(let message) = $0 { message.nonce } else { nil }
    } act: {
      try messenger.importHistory($0)
    } print: { outcome, line in
      switch outcome {
      case .conversation(let conversation): try call.print(conversation) { _ in nil }
      case .message(let message):
        if message.isDuplicate { duplicates += 1 } else { added += 1 }
        try call.print(message, line: line) { _ in nil }
      }
    } progress: {
      progress.show("\($0) lines")
    }
    progress.clear()
    if !call.isJSON, !call.isQuiet { try call.output.write("\(added) messages added, \(duplicates) there already\n") }
  }
}
