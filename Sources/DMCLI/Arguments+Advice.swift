package import DMKit

// What to type instead, for errors; none of this runs before there is one.

extension Arguments {
  /// The error for a letter that is no option.
  ///
  /// - Parameter index: the place of the word in the command line.
  func unknownOption(_ letter: Character, in word: String, at index: Int) -> DMError {
    if RangeReference(word) != nil, command.operandNames.contains("RANGE") { return looseRange(word, at: index) }
    let whole = String(word.dropFirst())
    let isLong = command.allOptions.contains { $0.long == whole }
    let hint = isLong ? "; did you mean '--\(whole)'?" : command.hint(for: String(letter))
    return usage("unknown option '-\(letter)'\(hint)")
  }

  /// The error for a word that is no action.
  func unknownAction(_ word: String) -> DMError {
    let near = meant(word, among: command.subcommands.map(\.name), actionSynonyms)
    let hint = near.map { "did you mean '\($0)'?" } ?? "one of: \(command.actionNames)"
    return usage("unknown action '\(word)'; \(hint)")
  }

  /// The error for an operand that is missing, with the usage of the action.
  package func missing(_ operand: String) -> DMError { usage("missing \(operand); \(usageLine)") }

  /// The error for an operand too many, with the usage of the action.
  package func unexpected(_ operand: String) -> DMError { usage("unexpected '\(operand)'; \(usageLine)") }

  /// The usage of the action, or the line of the usage that has most of the options that were given.
  private var usageLine: String {
    let call: [String]
    if let action {
      let option = action.operandsWith.first { isGiven($0.option) }?.option.declaration.call
      call = [action.name, option ?? "", placeholders]
    } else {
      let given = command.options.filter(isGiven).map(\.declaration.spelling)
      func count(_ line: String) -> Int { line.split(separator: " ").count { given.contains(String($0)) } }
      call = [command.synopsis.max { count($0) < count($1) } ?? ""]
    }
    return (["usage:", command.name] + call).filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// The error for a range such as `-20..`, which begins like an option.
  private func looseRange(_ word: String, at index: Int) -> DMError {
    var typed = words
    let isAfterAction = operands.count > (command.subcommands.isEmpty ? 0 : 1)
    if let last = lastOperand, isAfterAction, isName(words[last]) {
      typed[last] += ":" + word
      typed.remove(at: index)
    } else {
      typed.insert("--", at: index)
    }
    return usage("'\(word)' is taken for an option; write \(retyped(typed))")
  }

  /// Whether a word names a conversation, not messages.
  private func isName(_ word: String) -> Bool {
    do { return try RangeReference(word) == nil && splitReference(word) == nil } catch { return false }
  }

  /// The command line with another word in the place of one.
  func retyped(_ word: String, as other: String) -> String { retyped(words.map { $0 == word ? other : $0 }) }

  /// The program with these words, as they are typed in a shell.
  private func retyped(_ words: [String]) -> String {
    ([command.name] + words.map(quoted)).joined(separator: " ")
  }

  private func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...: true
      default: "%+,-./:=@_".utf8.contains(byte)
      }
    }
    if isPlain, !word.isEmpty { return word }
    let parts = word.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
    return "'" + parts.map { String(Substring($0)) }.joined(separator: "'\\''") + "'"
  }
}
