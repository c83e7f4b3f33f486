internal import DMCLI
internal import DMKit

extension DMAttach {
  /// Prints a record for each file, or with `--to` one line for dm-send with all files.
  static func prepare(_ files: [String], _ call: Invocation) throws {
    let arguments = call.arguments
    let conversation = try arguments[to]
    guard !files.isEmpty else { throw call.arguments.missing("FILE").adding("; '-' is standard input") }
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
      // A message carries all files or is not sent; a single file fails like any other call.
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
