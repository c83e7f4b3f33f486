package import DMCLI
internal import DMKit

package struct DMAttach: Program {
  static let to = Option(
    "to", value: "CONVERSATION", "print one line, with which dm-send sends all files to CONVERSATION",
    as: ConversationReference.init
  )
  static let text = Option("text", value: "TEXT", "with --to: the text of the message")
  static let name = Option("name", value: "NAME", "give the sent file the name NAME; only for a single file")
  static let get = Option(
    "get", value: "ID", values: [.messages], "save the attachment with this id, or all of a message, such as 'bob:57'")
  static let output = Option(
    "output", short: "o", value: "PATH", "with --get: save as this file or into this folder; '-' is standard output [.]"
  )
  static let thumbnail = Flag("thumbnail", "with --get: save the thumbnail instead of the content")
  static let force = Flag("force", "with --get: replace an existing file")
  static let open = Flag("open", "with --get: open a copy of the attachment with xdg-open")
  static let status = Flag("status", "print the files that are being transferred to or from a hub, and those that wait")
  static let list = Option(
    "list", value: "CONVERSATION", "print the attachments of a conversation by kind, newest first",
    as: ConversationReference.init)

  package static let command = Command(
    "dm-attach", "prepare files for sending, and save attachments",
    synopsis: [
      "[OPTION]... FILE...", "[OPTION]... --to CONVERSATION [--text TEXT] FILE... | dm-send",
      "--get ID|MESSAGE [-o FILE|DIR|-] [--thumbnail] [--open] [--force]", "--list CONVERSATION", "--status",
    ],
    options: PreparationArguments.options + [to, text, name, get, output, thumbnail, force, open, list, status],
    operands: "FILE...", operandsWith: [(get, ""), (list, ""), (status, "")],
    rules: [
      .atMostOne([get, list, status, to]), .alone(list, with: []), .alone(status, with: []),
      .alone(get, with: [output, thumbnail, force, open]),
      .excludes(open, [output, force]), .needs(output, [get]), .needs(thumbnail, [get]), .needs(force, [get]),
      .needs(open, [get]), .needs(text, [to]),
    ] + PreparationArguments.rules,
    examples: [
      ("dm-attach photo.jpg --to bob | dm-send", "send a photo, upright and without its GPS position"),
      ("dm-attach --as-file --to +ops core.gz --text 'last night' | dm-send", "send a file exactly as it is"),
      ("arecord -d 5 | dm-attach --voice - --to bob | dm-send", "send a voice message"),
      ("dm-attach --get bob:-1 -o ~/Downloads", "save the attachments of the last message"),
      ("dm-attach --list +ops | jq -r 'select(.kind == \"image\") | .id'", "the ids of the images of a group"),
    ], writes: ["attachment", "send_line", "transfer", "error"])

  /// The action that the options and operands select.
  private enum Mode {
    case list(ConversationReference)
    case fetch(id: String)
    case status
    case prepare([String])
  }

  private static func mode(_ arguments: Arguments) throws -> Mode {
    if let conversation = try arguments[list] {
      try arguments.atMost(0)
      return .list(conversation)
    }
    if let id = try arguments[get] {
      try arguments.atMost(0)
      return .fetch(id: id)
    }
    if arguments[status] {
      try arguments.atMost(0)
      return .status
    }
    return .prepare(arguments.operands)
  }

  package static func run(_ call: Invocation) throws {
    switch try mode(call.arguments) {
    case .list(let conversation):
      var page = MessagePage(try call.messenger(), [])
      for sent in try call.messenger().attachments(in: conversation) {
        try call.print(sent) { TextFormat.line($0, try page.people(of: $0.message), in: conversation.description) }
      }
    case .fetch(let id): try fetch(id, call)
    case .status: for transfer in try call.messenger().transfers() { try call.print(transfer, text: TextFormat.line) }
    case .prepare(let files): try prepare(files, call)
    }
  }
}

extension DMAttach {
  /// Prints a record for each file, or with `--to` one line with all files, for dm-send.
  static func prepare(_ files: [String], _ call: Invocation) throws {
    let arguments = call.arguments
    let conversation = try arguments[to]
    guard !files.isEmpty else { throw call.arguments.missing("FILE", "name one, or '-' for standard input") }
    if files.count > 1, arguments.isGiven(name) { throw usage("'--name' is for a single file") }
    if conversation != nil {
      try PreparationArguments.checkCount(files)
      if let text = try arguments[text] { try Outgoing.check(text: text) }
    }
    let preparation = try PreparationArguments(call)
    var prepared: [Attachment] = []
    var number = 0
    try preparation.prepareAll(files, name: arguments[name], call.messenger()) { result in
      number += 1
      // The error ends the program with --to, with a single file, or if it would prevent the other files, too. Otherwise
      // the other files are still prepared.
      if case .failure(let error) = result, conversation == nil, files.count > 1, !error.code.isFatal {
        return try call.fail(line: number, error)
      }
      let attachment = try result.get()
      if conversation == nil { try call.print(attachment, text: TextFormat.line) }
      prepared.append(attachment)
    }
    if let conversation {
      try call.output.write(SendLine(to: conversation, text: arguments[text], attachments: prepared))
    }
  }
}

extension DMAttach {
  /// Saves an attachment, or all attachments of a message.
  static func fetch(_ id: String, _ call: Invocation) throws {
    let (arguments, messenger) = (call.arguments, try call.messenger())
    let part = arguments[thumbnail] ? AttachmentPart.thumbnail : .content
    let output = try arguments[output]
    var attachments = try named(id, messenger)
    // Skips attachments without a thumbnail, but if no attachment has a thumbnail, that is an error.
    if part == .thumbnail, attachments.contains(where: { $0.thumbnail != nil }) {
      attachments.removeAll { $0.thumbnail == nil }
    }
    try call.fetch(part, of: attachments)
    if output == "-" {
      guard attachments.count == 1 else {
        throw usage("the message carries \(attachments.count) attachments; use the id of one of them to print it")
      }
      return try messenger.read(part, of: attachments[0]) { try call.output.write(content: $0) }
    }
    // Opens a copy, because the opening program may change the file, and must not change the content in the store.
    let path = arguments[open] ? try temporaryFolder() : output ?? "."
    try messenger.save(part, of: attachments, to: path, replacesAny: arguments[force]) { saved in
      if arguments[open] { try openByDesktop(saved.path) }
      try call.print(saved, text: TextFormat.line)
    }
  }

  /// The attachment with an id, or all attachments of a message.
  private static func named(_ text: String, _ messenger: Messenger) throws -> [Attachment] {
    guard let id = Identifier(text) else { return try messenger.attachments(of: MessageReference(text)) }
    do {
      return [try messenger.attachment(id)]
    } catch let error as DMError where error.code == .unknownAttachment {
      // The id may be that of a message.
      do {
        return try messenger.attachments(of: .id(id))
      } catch let other as DMError where other.code == .unknownMessage {
        throw error
      }
    }
  }
}
