package import DMCLI
internal import DMKit
internal import DMModel
internal import DMSystem
internal import DMUpkeep

package struct DMExport: Program {
  static let to = Option("to", value: "FORMAT", oneOf: ExportFormat.self, "write html, markdown, mbox or json")
  static let all = Flag("all", "export all conversations, also archived ones")
  static let since = Option(
    "since", value: "WHEN", "export only messages since a message or a time", as: messageOrTime)
  static let before = Option(
    "before", value: "WHEN", "export only messages before a message or a time", as: messageOrTime)
  static let maxBytes = Option(
    "max-bytes", value: "N", "with --to markdown: export the newest messages that fit into N bytes, such as 200k",
    as: bytes)

  package static let command = Command(
    "dm-export", "write conversations as pages, Markdown, mail or lines, with their files",
    synopsis: ["--to FORMAT [OPTION]... CONVERSATION... DIR|-", "--to FORMAT --all [OPTION]... DIR|-"],
    options: [to, all, since, before, maxBytes, fresh], operands: "CONVERSATION CONVERSATION|DIR...",
    operandsWith: [(all, "DIR")],
    examples: [
      ("dm-export +ops --to html ops", "pages in the folder 'ops'; open ops/index.html"),
      ("dm-export --all --to html ~/messages", "all conversations; repeat it to add what is new"),
      ("dm-export +ops --to markdown --since yesterday --max-bytes 100k - | llm", "text for a model"),
      ("dm-export bob --to mbox mail", "a mailbox for mutt or Python: mail/bob/messages.mbox"),
      (
        "dm-export +ops --to json ops && dm-import --same-users --store copy --folder ops/ops ops/ops/messages.jsonl",
        "copy a conversation and its files into another store"
      ),
    ], writes: ["exported", "message", "conversation", "user", "error"])

  /// The minimum of `--max-bytes`.
  private static let fewestBytes = 256

  private static func bytes(_ text: String) throws -> Int {
    let count = try Int(text) ?? byteCount(text, of: "--max-bytes")
    guard count >= fewestBytes else { throw usage("'--max-bytes' needs at least \(fewestBytes)") }
    return count
  }

  package static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    guard let format = try arguments[to] else {
      throw usage("missing '--to FORMAT'; use \(ExportFormat.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    if arguments.isGiven(maxBytes), format != .markdown { throw usage("'--max-bytes' needs '--to markdown'") }
    let names = arguments.operands.dropLast()
    guard let path = arguments.operands.last, !path.isEmpty else {
      throw arguments.missing("DIR", "name a folder, or '-' for standard output")
    }
    if arguments[all], let name = names.first { throw usage("'--all' includes '\(name)'; leave it out") }
    if !arguments[all], names.isEmpty {
      throw arguments.missing(
        "CONVERSATION or DIR", "name a conversation and then a folder, or '-' for standard output")
    }
    let references = try names.map(ConversationReference.init)
    try call.refresh()
    let conversations = try conversations(references, call)
    if path == "-" { return try stream(conversations, format, call) }
    try Interruption.heeded(Progress(call)) { step in try write(conversations, format, path, call, step) }
  }

  private static func conversations(_ references: [ConversationReference], _ call: Invocation) throws -> [Conversation]
  {
    let messenger = try call.messenger()
    if references.isEmpty {
      var query = ListQuery()
      (query.archived, query.limit) = (.included, nil)
      return try messenger.conversations(query)
    }
    var found: [Conversation] = []
    for reference in references {
      let conversation = try messenger.conversation(reference)
      if !found.contains(where: { $0.id == conversation.id }) { found.append(conversation) }
    }
    return found
  }

  private static func query(_ conversation: Conversation, _ arguments: Arguments) throws -> HistoryQuery {
    var query = HistoryQuery(.id(conversation.id))
    (query.since, query.before, query.limit) = (try arguments[since], try arguments[before], nil)
    return query
  }

  private static func made(_ format: ExportFormat, _ job: Job, prefix: String = "") throws -> any Format {
    switch format {
    case .html: HTMLFormat(job, prefix: prefix)
    case .markdown: try MarkdownFormat(job, limit: job.call.arguments[maxBytes])
    case .mbox: try MailFormat(job)
    case .json: try JSONFormat(job)
    }
  }

  // MARK: Standard output

  private static func stream(_ conversations: [Conversation], _ format: ExportFormat, _ call: Invocation) throws {
    let target = Target(call.output)
    if format == .html {
      target.bytes.add(headOf: conversations.count == 1 ? Words.title(of: conversations[0]) : "Conversations")
    }
    for (index, conversation) in conversations.enumerated() {
      let job = try Job(
        call, conversation, query(conversation, call.arguments), Exported(conversation.id, format, path: ""), in: nil,
        stream: target
      ) { _ in }
      _ = try job.run(made(format, job, prefix: conversations.count == 1 ? "" : "c\(index + 1)-"))
    }
    if format == .html { target.bytes.addFoot() }
    _ = try target.finish()
  }

  // MARK: A folder

  private static func write(
    _ conversations: [Conversation], _ format: ExportFormat, _ path: String, _ call: Invocation,
    _ step: @escaping (String) throws -> Void
  ) throws {
    let me = try call.messenger().identity.handle
    let folder = try ExportFolder(path, format, of: me)
    let isPartial = [since, before, maxBytes].contains(where: call.arguments.isGiven)
    let entries = try conversations.map { conversation in
      let other = conversation.participants.first { $0 != me } ?? me
      let name = conversation.isGroup ? conversation.title ?? "group" : other.description
      let entry = folder.entry(of: conversation.id, named: SafeNames.folder(for: name))
      if isPartial, !entry.isPartial, entry.messages > 0 {
        throw DMError(
          .cannotCreate,
          "'\(path)' has all messages of '\(Words.title(of: conversation))', and this would remove some; name another folder",
          subject: path)
      }
      return entry
    }
    try folder.save()
    for (conversation, entry) in zip(conversations, entries) {
      let job = try Job(
        call, conversation, query(conversation, call.arguments), entry, in: folder, stream: nil, step: step)
      let exported = try advised(path) { try job.run(made(format, job)) }
      exported.isPartial = isPartial
      folder.set(exported)
      try call.print(exported) { line($0, path) }
    }
    try advised(path) {
      if format == .html { try HTMLFormat.writeIndex(of: folder) }
      try folder.save()
    }
  }

  /// Adds what to do next to the error of a file that cannot be written.
  private static func advised<T>(_ path: String, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as DMError where error.code == .inputOutput && error.remedy == nil {
      throw DMError(
        error.code, "\(error.message); see whether '\(path)' has room, and repeat the command, which adds the rest",
        subject: error.subject)
    }
  }

  private static func line(_ exported: Exported, _ path: String) -> String {
    var line = "\(visible("\(path)/\(exported.path)"))  \(counted(exported.messages, "message"))"
    if exported.attachments > 0 { line += ", \(counted(exported.attachments, "file"))" }
    if exported.missing > 0 { line += ", \(exported.missing) left out" }
    return line + (exported.written == 0 ? ", nothing new" : "")
  }
}
