internal import DMCLI
internal import DMKit

extension DMEdit {
  /// Reacts to messages with the emoji that is the first or the last operand.
  static func react(_ call: Invocation) throws {
    var words = call.arguments.operands
    if call.arguments[remove] { return try edit(.react(nil), words, call) }
    guard let first = words.first, let last = words.last else { throw call.arguments.missing("EMOJI") }
    let isLast = !isEmoji(first) && (isEmoji(last) || nameMessages(words))
    let emoji = isLast ? words.removeLast() : words.removeFirst()
    if isLast, nameMessages([emoji]) || RangeReference(emoji) != nil { throw call.arguments.missing("EMOJI") }
    try edit(.react(reaction(emoji)), words, call)
  }

  /// Whether words begin with messages: `bob:57`, a UUID, or `bob 40..57`.
  private static func nameMessages(_ words: [String]) -> Bool {
    if Identifier(words[0]) != nil || words.count > 1 && RangeReference(words[1]) != nil { return true }
    do { return try splitReference(words[0]) != nil } catch { return true }
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
