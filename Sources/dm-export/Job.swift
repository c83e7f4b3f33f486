internal import DMCLI
internal import DMKit
internal import DMModel
internal import DMSystem
internal import DMUpkeep

/// Writes the messages of one conversation in one format.
protocol Format: AnyObject {
  func begin() throws
  func add(_ message: Message) throws
  /// Completes the files.
  func end() throws
}

/// The export of one conversation.
final class Job {
  let call: Invocation
  let messenger: Messenger
  let conversation: Conversation
  let query: HistoryQuery
  /// The folder of the export; nil for standard output.
  let folder: ExportFolder?
  /// Standard output; nil for a folder.
  let stream: Target?
  let entry: Exported
  /// The names of the files that were written, and those of the copies of attachments.
  private var files: Set<ExactString> = []
  private var copies: Set<ExactString> = []
  /// Shows the progress, and throws if a signal has arrived.
  private let step: (String) throws -> Void

  init(
    _ call: Invocation, _ conversation: Conversation, _ query: HistoryQuery, _ entry: Exported,
    in folder: ExportFolder?,
    stream: Target?, step: @escaping (String) throws -> Void
  ) throws {
    (self.call, self.conversation, self.query, self.folder, self.stream) = (call, conversation, query, folder, stream)
    self.step = step
    messenger = try call.messenger()
    self.entry = Exported(entry.conversation, entry.format, path: entry.path)
    (self.entry.user, self.entry.name) = (messenger.identity.handle.description, conversation.name)
    self.entry.isGroup = conversation.isGroup
    if let folder { try folder.makeFolder(entry.folder) }
  }

  /// Writes all messages of the query.
  func run(_ format: any Format) throws -> Exported {
    try format.begin()
    try eachBatch { batch in
      for message in batch {
        entry.messages += 1
        entry.first = entry.first ?? message.createdAt
        entry.last = message.createdAt
        try format.add(message)
      }
    }
    try format.end()
    if let folder {
      try folder.remove(in: entry.folder + "/files") { SafeNames.isFile($0) && !copies.contains(ExactString($0)) }
      try folder.remove(in: entry.folder) { HTMLFormat.isPage($0) && !files.contains(ExactString($0)) }
    }
    return entry
  }

  /// Makes the record count only some of the messages that were read.
  func countOnly(_ messages: [Message]) {
    (entry.messages, entry.first, entry.last) = (messages.count, messages.first?.createdAt, messages.last?.createdAt)
  }

  /// Calls `body` with each batch of messages, oldest first.
  func eachBatch(_ body: ([Message]) throws -> Void) throws {
    let history = try messenger.history(query)
    var count = 0
    while case let batch = try history.next(), !batch.isEmpty {
      try body(batch)
      count += batch.count
      try step("\(count) messages of \(conversation.name)")
    }
  }

  // MARK: Files

  /// A new file in the folder of the conversation, or standard output.
  func target(_ name: String) throws -> Target {
    if let stream { return stream }
    if files.isEmpty { entry.path = "\(entry.folder)/\(name)" } else { entry.lastPath = "\(entry.folder)/\(name)" }
    files.insert(ExactString(name))
    return try Target(file: "\(folder?.path ?? "")/\(entry.folder)/\(name)")
  }

  func finish(_ target: Target) throws { if try target.finish() { entry.written += 1 } }

  // MARK: Attachments

  /// The path of the copy of an attachment, relative to the folder of the conversation; nil for standard output.
  func path(of attachment: Attachment) -> String? { folder == nil ? nil : "files/\(SafeNames.file(for: attachment))" }

  /// Copies the content of an attachment into the folder, unless it is there.
  ///
  /// - Returns: the path relative to the folder of the conversation; nil if there is no copy, which is reported.
  func copy(_ attachment: Attachment, of message: Message) throws -> String? {
    entry.attachments += 1
    guard let folder else { return nil }
    let name = SafeNames.file(for: attachment)
    let path = "\(folder.path)/\(entry.folder)/files/\(name)"
    if copies.contains(ExactString(name)) { return "files/\(name)" }
    do {
      if copies.isEmpty { try folder.makeFolder(entry.folder + "/files") }
      if FileStatus(path)?.kind == .folder {
        throw DMError(.cannotCreate, "'\(path)' is a folder; remove it", subject: path)
      }
      let there = FileStatus(itself: path)
      if there?.kind != .regular || there?.size != attachment.sizeBytes {
        try fetch(attachment)
        _ = try messenger.save(.content, of: attachment, to: path, replacesAny: true)
        entry.written += 1
      }
      copies.insert(ExactString(name))
      return "files/\(name)"
    } catch let error as DMError {
      try report(error, attachment, message)
      return nil
    }
  }

  /// Calls `body` with each chunk of the content of an attachment.
  ///
  /// - Returns: false if the content cannot be read, which is reported; `body` was then not called.
  func read(_ attachment: Attachment, of message: Message, _ body: (UnsafeRawBufferPointer) throws -> Void) throws
    -> Bool
  {
    entry.attachments += 1
    var hasBegun = false
    do {
      try fetch(attachment)
      try messenger.read(.content, of: attachment) {
        hasBegun = true
        try body($0)
      }
      return true
    } catch let error as DMError where !hasBegun {
      try report(error, attachment, message)
      return false
    }
  }

  private func fetch(_ attachment: Attachment) throws {
    try messenger.fetch(.content, of: [attachment], call.settings, progress: step)
  }

  /// Reports that an attachment is left out; the export continues.
  private func report(_ error: DMError, _ attachment: Attachment, _ message: Message) throws {
    entry.missing += 1
    let reported = DMError(
      error.code, "left out '\(attachment.name)' of \(message.reference): \(error.message)",
      subject: attachment.id.description, remedy: error.remedy)
    call.note(failure: reported)
    if call.isJSON, folder != nil { try call.output.write(ErrorRecord(line: nil, reported, message: reported.text)) }
  }
}
