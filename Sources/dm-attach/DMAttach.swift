package import DMCLI
internal import DMKit

package struct DMAttach: Program {
  static let to = Option(
    "to", value: "CONVERSATION", "print one line that is ready for dm-send", as: ConversationReference.init)
  static let text = Option("text", value: "TEXT", "what to say with it; needs --to")
  static let name = Option("name", value: "NAME", "what the file is to be called; for a single one")
  static let get = Option(
    "get", value: "ID", values: [.messages], "save an attachment, or all of a message: its id, or 'bob:57'")
  static let output = Option(
    "output", short: "o", value: "PATH", "save as this file or into this folder; '-' is standard output [.]")
  static let thumbnail = Flag("thumbnail", "fetch the thumbnail instead")
  static let force = Flag("force", "replace a file that is there")
  static let open = Flag("open", "open it by xdg-open, as a copy")
  static let list = Option(
    "list", value: "CONVERSATION", "print what a conversation has: by kind, the newest first",
    as: ConversationReference.init)

  package static let command = Command(
    "dm-attach", "prepare files to be sent, and fetch what was",
    synopsis: [
      "[OPTION]... FILE...", "[OPTION]... --to CONVERSATION [--text TEXT] FILE... | dm-send",
      "--get ID|MESSAGE [-o FILE|DIR|-] [--thumbnail] [--open] [--force]", "--list CONVERSATION",
    ],
    options: PreparationArguments.options + [to, text, name, get, output, thumbnail, force, open, list],
    operands: "FILE...", operandsWith: [(get, ""), (list, "")],
    rules: [
      .atMostOne([get, list, to]), .alone(list, with: []), .alone(get, with: [output, thumbnail, force, open]),
      .excludes(open, [output, force]), .needs(output, [get]), .needs(thumbnail, [get]), .needs(force, [get]),
      .needs(open, [get]), .needs(text, [to]),
    ] + PreparationArguments.rules,
    examples: [
      ("dm-attach photo.jpg --to bob | dm-send", "send a photo, right way up and without its GPS"),
      ("dm-attach --as-file --to +ops core.gz --text 'last night' | dm-send", "send a file exactly as it is"),
      ("arecord -d 5 | dm-attach --voice - --to bob | dm-send", "send a voice message"),
      ("dm-attach --get bob:-1 -o ~/Downloads", "save what the last message carries"),
      ("dm-attach --list +ops | jq -r 'select(.kind == \"image\") | .id'", "the images of a group"),
    ], writes: ["attachment", "send_line", "error"])

  /// The action that the options and operands select.
  private enum Mode {
    case list(ConversationReference)
    case fetch(id: String)
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
    return .prepare(arguments.operands)
  }

  package static func run(_ call: Invocation) throws {
    switch try mode(call.arguments) {
    case .list(let conversation):
      for sent in try call.messenger().attachments(in: conversation) {
        try call.print(sent) { TextFormat.line($0, in: conversation.description) }
      }
    case .fetch(let id): try fetch(id, call)
    case .prepare(let files): try prepare(files, call)
    }
  }
}
