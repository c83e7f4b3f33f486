internal import DMCLI
internal import DMKit

extension DMEdit {
  /// Reacts to messages with the emoji that is the first or the last operand.
  static func react(_ call: Invocation) throws {
    var words = call.arguments.operands
    if call.arguments[remove] { return try edit(.react(nil), words, call) }
    guard let first = words.first, let last = words.last else { throw call.arguments.missing("EMOJI") }
    if !isEmoji(first), isEmoji(last) {
      words.removeLast()
      return try edit(.react(reaction(last)), words, call)
    }
    words.removeFirst()
    try edit(.react(reaction(first)), words, call)
  }

  private static func reaction(_ word: String) throws -> String { isShortCode(word) ? try emoji(of: word) : word }

  /// Whether a word is an emoji or a short code; no reference to a message is.
  private static func isEmoji(_ word: String) -> Bool {
    if isShortCode(word) { return true }
    do {
      try Edit.check(emoji: word)
      return true
    } catch {
      return false
    }
  }
}
