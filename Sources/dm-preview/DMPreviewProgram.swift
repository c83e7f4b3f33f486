package import DMCLI
internal import DMKit
internal import DMPreview

// A type with the name of the module DMPreview would hide the module.
package struct DMPreviewProgram: Program {
  static let noImage = Flag("no-image", "leave out the images of the pages; needs no store")

  package static let command = Command(
    "dm-preview", "add previews of their first links to the lines of messages",
    synopsis: ["[--no-image] <JSON-LINES | dm-send"], options: [noImage],
    examples: [
      ("jq -c '{conversation: .to, text: .body}' queue.json | dm-preview | dm-send", "send messages with previews"),
      ("dm-tail +ops | dm-preview --no-image | jq -r .link_preview.title", "the titles of the pages of a group"),
    ], reads: "send_line", writes: ["send_line", "message"])

  package static func run(_ call: Invocation) throws {
    if let word = call.arguments.operands.first {
      throw usage("unexpected '\(word)'; dm-preview reads lines from standard input")
    }
    if isTerminal(.input) { throw usage("pipe the lines of dm-tail, or lines for dm-send, into dm-preview") }
    let maker = try PreviewMaker()
    var input = LineInput()
    while let batch = try input.batch({ line, _ in Array(line) }) {
      for (number, content) in batch {
        switch content {
        case .success(let line): try pass(line, number, maker, call)
        case .failure(let error): call.note(failure: error, ofLine: number)
        }
      }
      try call.output.flush()
    }
  }

  /// Prints a line, with a preview if it has a link and no preview yet.
  private static func pass(_ line: [UInt8], _ number: Int, _ maker: PreviewMaker, _ call: Invocation) throws {
    var printed = line
    do {
      let message = try PreviewLine(line[...])
      if let text = message.text, firstLink(in: text) != nil {
        // A fetch may take seconds, and the lines before it need not wait.
        try call.output.flush()
        let hasImage = !message.isSent && !call.arguments[noImage]
        let preview = try maker.linkPreview(in: text, attach: hasImage ? { attachment($0, number, call) } : nil)
        if let preview { printed = message.adding(preview) }
      }
    } catch let error as DMError where error.code != .inputOutput {
      call.note(failure: error, ofLine: number)
    }
    if !call.isQuiet { try call.output.write(lines: printed + [UInt8(ascii: "\n")]) }
  }

  /// Prepares the image of a page; nil if it cannot be an attachment.
  private static func attachment(_ image: [UInt8], _ line: Int, _ call: Invocation) -> Identifier? {
    do {
      return try call.messenger().prepare(.bytes(image), name: "preview").attachment.id
    } catch {
      call.note(failure: error as? DMError ?? DMError(.internal, "cannot prepare the image of a preview"), ofLine: line)
      return nil
    }
  }
}
