internal import DMCLI
internal import DMKit

@main struct DMAttach: Program {
  static let command = Command(
    "dm-attach", "prepare files to be sent, and fetch what was",
    synopsis: [
      "[OPTION]... FILE...", "[OPTION]... --to CONVERSATION [--text TEXT] FILE... | dm-send",
      "--get ID|MESSAGE [-o FILE|DIR|-] [--thumbnail] [--open] [--force]", "--list CONVERSATION",
    ],
    options: PreparationArguments.options + [
      Declaration("to", value: "CONVERSATION", "print one line that is ready for dm-send"),
      Declaration("text", value: "TEXT", "what to say with it; needs --to"),
      Declaration("name", value: "NAME", "what the file is to be called; for a single one"),
      Declaration("get", value: "ID", "save an attachment, or all of a message: its id, or 'bob:57'"),
      Declaration("output", short: "o", value: "PATH", "save as this file or into this folder; '-' is standard output [.]"),
      Declaration("thumbnail", "fetch the thumbnail instead"),
      Declaration("force", "replace a file that is there"),
      Declaration("open", "open it by xdg-open, as a copy"),
      Declaration("list", value: "CONVERSATION", "print what a conversation has: by kind, the newest first"),
    ],
    examples: [
      ("dm-attach photo.jpg --to bob | dm-send", "send a photo, right way up and without its GPS"),
      ("dm-attach --as-file --to +ops core.gz --text 'last night' | dm-send", "send a file exactly as it is"),
      ("arecord -d 5 | dm-attach --voice - --to bob | dm-send", "send a voice message"),
      ("dm-attach --get bob:-1 -o ~/Downloads", "save what the last message carries"),
      ("dm-attach --list +ops | jq -r 'select(.kind == \"image\") | .id'", "the images of a group"),
    ], writes: ["attachment", "send_line", "error"])

  static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    try arguments.exclude("get", "list", "to")
    if let conversation = arguments.value("list") {
      try arguments.allowOnly("list")
      try arguments.atMost(0)
      return try list(ConversationReference(conversation), call)
    }
    if arguments.isGiven("get") { return try get(call) }
    try prepare(call)
  }

  private static func prepare(_ call: Invocation) throws {
    let arguments = call.arguments
    for option in ["output", "thumbnail", "force", "open"] where arguments.isGiven(option) {
      throw usage("'--\(option)' needs --get ID")
    }
    let conversation = try arguments.value("to").map(ConversationReference.init)
    if conversation == nil, arguments.isGiven("text") { throw usage("'--text' needs --to CONVERSATION") }
    guard !arguments.operands.isEmpty else { throw usage("name a FILE, or '-' for standard input; see --help") }
    if arguments.operands.count > 1, arguments.isGiven("name") { throw usage("'--name' is for a single file") }
    if conversation != nil {
      try PreparationArguments.checkCount(arguments.operands)
      if let text = arguments.value("text") { try Outgoing.check(text: text) }
    }
    let preparation = try PreparationArguments(call)
    let messenger = try call.messenger()
    var prepared: [Attachment] = []
    var number = 0
    try preparation.prepareAll(arguments.operands, name: arguments.value("name"), messenger) { result in
      number += 1
      // A message carries all or is not sent; and one that was named alone fails like any other call.
      if case .failure(let error) = result, conversation == nil, arguments.operands.count > 1, !error.code.isFatal {
        return try call.fail(line: number, error)
      }
      let attachment = try result.get()
      if conversation == nil { try call.print(attachment, text: TextFormat.line) }
      prepared.append(attachment)
    }
    if let conversation {
      try call.output.write(SendLine(to: conversation, text: arguments.value("text"), attachments: prepared))
    }
  }

  private static func list(_ conversation: ConversationReference, _ call: Invocation) throws {
    for sent in try call.messenger().attachments(in: conversation) {
      try call.print(sent) { TextFormat.line($0, in: conversation.description) }
    }
  }
}
