/// The kinds of candidates for a word of the command line.
package enum Completed: Equatable, Sendable {
  case words([String])
  /// One or more of these words, with commas between them.
  case list([String])
  /// The actions of the program.
  case actions
  case conversations, people, consumers
  /// Messages: as `57` if an earlier word names the conversation, otherwise as `bob:57`.
  case messages
  /// The same as `messages`, but if the command line names no conversation, `bob:` is not a candidate.
  case numbers
  /// The short codes of emoji.
  case emoji
  case files, folders

  /// The kinds of candidates for a placeholder of the usage, such as `CONVERSATION` or `TIME|off`.
  static func all(ofPlaceholder text: String) -> [Completed] {
    text.split(separator: "|").flatMap { word -> [Completed] in
      switch word {
      case "CONVERSATION", "CONV": [.conversations]
      case "USER": [.people]
      case "MESSAGE": [.messages]
      case "RANGE": [.numbers]
      case "EMOJI": [.emoji]
      case "WHEN": [.numbers, .words(["today", "yesterday"])]
      case "FILE", "PATH", "COMMAND", "ARGUMENT": [.files]
      case "DIR": [.folders]
      case "PROGRAM": [.actions]
      // A placeholder is in capitals. Any other word is itself the candidate.
      default: word.contains { $0.isUppercase } ? [] : [.words([String(word)])]
      }
    }
  }

  /// The kinds of candidates for the operand at an index.
  ///
  /// - Parameter operands: the placeholders of all operands: `CONVERSATION [RANGE]...`.
  static func all(ofOperand index: Int, in operands: String) -> [Completed] {
    let placeholders = operands.split(separator: " ")
    guard let last = placeholders.last else { return [] }
    let placeholder =
      index < placeholders.count ? placeholders[index] : last.utf8.last == UInt8(ascii: ".") ? last : ""
    return all(ofPlaceholder: placeholder.filter { !"[].".contains($0) })
  }
}

extension Declaration {
  /// The kinds of candidates for the value of an option.
  var completed: [Completed] { values ?? Completed.all(ofPlaceholder: value ?? "") }
}
