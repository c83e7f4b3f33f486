internal import DMCLI
internal import DMKit

/// The commands that concern the window.
extension Chat {
  /// - Returns: the text to edit, if there is none yet.
  func edit(_ words: String) throws -> String? {
    let (number, text) = Entered.number(words)
    guard let number = number ?? stretch.lastOwn()?.seq else {
      throw usage("you have sent nothing here that could be edited")
    }
    if !text.isEmpty {
      try acts.edit(number, text)
      return nil
    }
    let message = try messenger.messageToEdit(acts.message(number))
    return offer(message.seq ?? number, message.text ?? "")
  }

  /// - Returns: the line that edits a message, which stands there until it is changed.
  func offer(_ number: Int, _ text: String) -> String {
    let line = "/edit \(number) \(text)"
    offered = (line, number)
    return line
  }

  func attach(_ words: String) throws {
    try acts.attach(words) { [self] doing in
      if window.isInterrupted { throw usage("the file was not sent: you pressed Ctrl-C") }
      say("\(doing) …")
      try draw()
    }
    notice = nil
  }

  func search(_ words: String) throws {
    if words.allSatisfy(\.isWhitespace) { throw usage("write /search and the words to look for") }
    let lines = try acts.search(words)
    if lines.isEmpty { return say("nothing here matches '\(words)'; 'wor*' finds what begins with 'wor'") }
    panel = Panel(lines.reversed())
    let count = lines.count == 1 ? "1 message" : "\(lines.count) messages"
    say("\(lines.count < Conversing.mostFound ? "" : "the newest ")\(count); /go N goes to one, Esc back")
  }

  func go(_ words: String) throws {
    guard let number = Entered.number(words).0 else { throw usage("write /go and the number of a message") }
    try stretch.read(around: number)
    try stretch.goOn(height() / 2, text)
  }
}
