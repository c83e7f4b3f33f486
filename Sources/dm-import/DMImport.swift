package import DMCLI
internal import DMKit
internal import DMSystem
internal import DMUpkeep

package struct DMImport: Program {
  static let folder = Option(
    "folder", value: "DIR", "the folder of files that lines name with a relative path [the working directory]")
  static let dryRun = Flag("dry-run", "print what would be added, and add nothing")
  static let from = Option(
    "from", value: "NAME", values: [.words(Export.formats.map(\.name))],
    "read an export of another program, by the importer NAME; without NAME, list them")
  static let sameUsers = Flag("same-users", "assume that equal handles mean the same person")

  package static let command = Command(
    "dm-import", "add history from JSON lines, with its own times, senders and replies",
    synopsis: ["[FILE]", "<FILE", "--from NAME EXPORT... [OPTION-OF-THE-IMPORTER...]"],
    options: [dryRun, folder, from, sameUsers] + PreparationArguments.options, operands: "[FILE]",
    passingOption: from, rules: PreparationArguments.rules,
    examples: [
      ("dm-import history.jsonl", "add what the store does not have yet; can be repeated if lines have nonces"),
      ("dm-import --from", "list the programs whose exports can be imported"),
      (
        "{ dm-list --all --limit all; dm-tail -n all --peek; } | dm-import --same-users --store copy",
        "copy what you can see into another store"
      ),
    ], reads: "import_line", writes: ["message", "conversation", "user", "error"])

  package static func run(_ call: Invocation) throws {
    if try call.arguments[from] == "" { return try list(call) }
    let export = try Export(call)
    let path = export == nil ? try file(call) : nil
    let rehearsal = try call.arguments[dryRun] ? Rehearsal(of: call.messenger()) : nil
    let messenger = try rehearsal?.messenger ?? call.messenger()
    let files = try ImportedFiles(call, messenger)
    var counts = Counts(areTried: rehearsal != nil)
    var unseen = Unseen()
    call.repeatedErrors = RepeatedErrors()
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
        unseen.add(message)
        try call.print(message, line: line) { _ in nil }
      }
    } progress: {
      progress.show(counted($0, "line"))
    }
    progress.clear()
    try report(counts, call)
    try advise(unseen, messenger, isExport: export != nil, call)
    try export?.finish(call.output)
  }

  private static func advise(
    _ unseen: Unseen, _ messenger: Messenger, isExport: Bool, _ call: Invocation
  ) throws {
    guard !call.isQuiet, let advice = try unseen.advice(messenger, isExport: isExport) else { return }
    if isExport { printError(command.name, advice) } else { try call.note(advice) }
  }

  private static func report(_ counts: Counts, _ call: Invocation) throws {
    if !call.isJSON, !call.isQuiet { try call.output.write("\(counts.text)\n") }
    for line in call.repeatedErrors?.lines ?? [] { printError(command.name, line) }
    // If only one line failed, the error of that line is enough.
    let failed = call.failures.reduce(0) { $0 + $1.count }
    if failed > 1 { printError(command.name, "\(counts.text); \(failed) lines failed: \(codes(call.failures))") }
  }

  /// Prints the importers, if `--from` is the last word and there is nothing to read.
  private static func list(_ call: Invocation) throws {
    guard call.arguments.isUnfinished, call.arguments.operands.isEmpty else {
      throw usage("'--from' needs a value: NAME; 'dm-import --from' lists the importers")
    }
    try call.output.write(Export.list)
  }

  /// The file to read; nil for standard input.
  private static func file(_ call: Invocation) throws -> String? {
    try call.arguments.atMost(1)
    let path = call.arguments.operands.first
    if path == nil, isTerminal(.input) {
      throw usage("standard input is a terminal; pipe JSON lines into dm-import, or name a FILE; see --help")
    }
    return path
  }

  private struct Counts {
    /// Whether this is a dry run.
    let areTried: Bool
    var added = 0
    var duplicates = 0

    var text: String { "\(counted(added, "message")) \(areTried ? "would be " : "")added, \(duplicates) there already" }
  }

  private static func codes(_ failures: [(code: DMError.Code, count: Int)]) -> String {
    failures.map { "\($0.count) \($0.code.rawValue)" }.joined(separator: ", ")
  }
}

/// Prepares the files that lines name, as dm-attach(1) does.
struct ImportedFiles {
  private let messenger: Messenger
  private let preparation: PreparationArguments
  /// The folder of the files, with a slash at its end; empty for the working directory.
  private let folder: String

  init(_ call: Invocation, _ messenger: Messenger) throws {
    self.messenger = messenger
    preparation = try PreparationArguments(call)
    folder = try call.arguments[DMImport.folder].map { $0 + "/" } ?? ""
  }

  /// The line, with its files prepared; unchanged if it has no files, or if the store already has its message.
  ///
  /// - Throws: `unknown_file`, `bad_attachment`, or an error of the store or the disk.
  func prepared(_ line: Imported) throws -> Imported {
    guard case .message(var message) = line, !message.files.isEmpty else { return line }
    do {
      if try messenger.needsNoFiles(message) { return line }
      for file in message.files {
        try preparation.prepareAll([path(of: file)], name: file.name, messenger) {
          message.attachments.append(try $0.get().id)
        }
      }
    } catch let error as DMError {
      throw error.nonce == nil ? error.answering(nonce: message.nonce) : error
    }
    return .message(message)
  }

  private func path(of file: ImportedMessage.File) -> String {
    let path = file.path.utf8.first == UInt8(ascii: "/") ? file.path : folder + file.path
    // A dash alone would mean standard input.
    return path == "-" ? "./-" : path
  }
}
