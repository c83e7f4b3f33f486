package import DMKit

/// A command line, parsed by the rules of GNU getopt_long: options and operands may be in any order, `--` ends the
/// options, and short flags may be joined.
///
/// Two rules differ: a long name must be typed in full, and a number such as `-1`, the last message, is an operand,
/// unless the program has a `countOption`.
package struct Arguments: Sendable {
  /// The action that the command line names, such as `add` in `dm-user add`; nil if it names none.
  private(set) var action: Command.Subcommand?
  package private(set) var operands: [String] = []
  /// The number of operands after `--`.
  private var plainCount = 0
  /// The given options, each of them once, with the texts of all its values; a flag has no texts.
  ///
  /// This is an array, because creating the first dictionary of a type costs 140,000 instructions.
  private(set) var given: [(name: String, texts: [String])] = []
  /// The names of the options that the configuration file gives; `refuse` does not refuse them.
  var defaults: [String] = []
  /// The last option, if its value is missing.
  private(set) var unfinished: Declaration?
  /// Whether the command line ends with an option that lacks its value.
  package var isUnfinished: Bool { unfinished != nil }
  let command: Command
  /// The words of the command line, for errors that say what to type instead.
  let words: [String]
  /// The indices in `words` of the first and the last operand before `--`; nil if there is none.
  private var firstOperand: Int?
  private(set) var lastOperand: Int?

  /// - Throws: `usage`; the error for an unknown option or action also has a similar word that is valid, if there is one.
  init(_ words: [String], for command: Command) throws {
    self.command = command
    self.words = words
    var rest = words[...]
    while let word = rest.popFirst() { try take(word, &rest) }
    let asksForProgram = [Common.help, Common.version, Common.schema].contains(where: isGiven)
    if !command.subcommands.isEmpty, !asksForProgram { try takeAction() }
  }

  /// Parses an incomplete command line, for completions; skips words that cannot be parsed.
  init(unfinished words: some Sequence<String>, for command: Command) {
    self.command = command
    self.words = Array(words)
    var rest = self.words[...]
    while let word = rest.popFirst() {
      do {
        try take(word, &rest)
      } catch {
        // The word is an unknown option, or an option whose value the user has yet to type.
        continue
      }
    }
    action = command.subcommands.first { $0.name == operands.first }
    if action != nil { operands.removeFirst() }
  }

  private mutating func take(_ word: String, _ rest: inout ArraySlice<String>) throws {
    if word == "--" {
      plainCount = rest.count
      operands += rest
      rest = []
    } else if word.hasPrefix("--") {
      try takeLong(word, &rest)
    } else if word.hasPrefix("-"), word != "-", Int(word) == nil {
      try takeShort(word, &rest)
    } else if let option = command.countOption?.declaration, operands.isEmpty, word.hasPrefix("-"), word != "-" {
      give(option, [String(word.dropFirst())])
    } else {
      lastOperand = rest.startIndex - 1
      firstOperand = firstOperand ?? lastOperand
      operands.append(word)
    }
  }

  private mutating func takeLong(_ word: String, _ rest: inout ArraySlice<String>) throws {
    // Compares bytes, because an equals sign with a combining mark after it is a different Character.
    let parts = word.utf8.dropFirst(2).split(
      separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false
    ).map { String(Substring($0)) }
    let name = parts[0]
    let passing = command.passingOption?.declaration.name
    guard let option = command.option(where: { $0.long == name }) else {
      if given.contains(where: { $0.name == passing }) { return operands.append(word) }
      throw usage("unknown option '--\(name)'\(command.hint(for: name))")
    }
    guard option.value != nil else {
      if parts.count > 1 { throw usage("'--\(name)' takes no value") }
      give(option, [])
      return
    }
    let value = parts.count > 1 ? parts[1] : rest.popFirst()
    if value == nil { unfinished = option }
    guard let value = value ?? (name == passing ? "" : nil) else {
      throw usage("'--\(name)' needs a value: \(option.value ?? "")")
    }
    give(option, [value])
  }

  mutating func give(_ option: Declaration, _ texts: [String]) {
    if let index = given.firstIndex(where: { $0.name == option.name }) {
      given[index].texts += texts
    } else {
      given.append((option.name, texts))
    }
  }

  private mutating func takeShort(_ word: String, _ rest: inout ArraySlice<String>) throws {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = command.option(where: { $0.short == letter }) else {
        throw unknownOption(letter, in: word, at: rest.startIndex - 1)
      }
      guard let placeholder = option.value else {
        give(option, [])
        continue
      }
      guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
        unfinished = option
        throw usage("'-\(letter)' needs a value: \(placeholder)")
      }
      give(option, [value])
      return
    }
  }

  private mutating func takeAction() throws {
    if operands.isEmpty, command.main != nil { return try refuseStrays(nil, []) }
    guard let name = operands.first else { throw usage("missing action; one of: \(command.actionNames)") }
    guard let action = command.subcommands.first(where: { $0.name == name }) else { throw unknownAction(name) }
    operands.removeFirst()
    self.action = action
    try refuseStrays(name, action.options)
  }

  private func refuseStrays(_ action: String?, _ options: [any Declared]) throws {
    let allowed = (command.options + options).map(\.declaration.name) + command.common.map(\.name)
    if let stray = given.map(\.name).filter({ !allowed.contains($0) }).min() {
      throw usage("'--\(stray)' does not go with '\(command.name)\(action.map { " \($0)" } ?? "")'")
    }
  }

  /// The first operand, if it is before the long form of the option and there are more operands; otherwise nil.
  package func operand(before option: any Declared) -> String? {
    let spelling = option.declaration.spelling
    guard operands.count > 1, let firstOperand,
      let index = words.firstIndex(where: { $0 == spelling || $0.hasPrefix(spelling + "=") }), firstOperand < index
    else { return nil }
    return operands.first
  }

  // MARK: Options

  /// Checks the values of all options before the program does anything.
  ///
  /// - Throws: the error of the first option whose value is not valid.
  func checkValues() throws {
    for options in [Common.all, command.options, action?.options ?? []] {
      for option in options where isGiven(option) { try option.check(self) }
    }
  }

  /// Whether a flag was given.
  package subscript(flag: Flag) -> Bool { isGiven(flag) }

  /// The value of an option; if it was given several times, the last value counts.
  ///
  /// - Throws: the error of the option if its value is not valid.
  package subscript<Value>(option: Option<Value>) -> Value? {
    get throws { try texts(option.declaration)?.last.map(option.parse) }
  }

  /// All values of an option that may be given several times, in order.
  package func all<Value>(_ option: Option<Value>) throws -> [Value] {
    try texts(option.declaration)?.map(option.parse) ?? []
  }

  /// Whether a flag or an option was given.
  package func isGiven(_ option: any Declared) -> Bool { texts(option.declaration) != nil }

  /// The first value of an option whose values are completed as `kind`.
  func firstText(ofOptionCompletedBy kind: Completed) -> String? {
    given.first { option in
      command.allOptions.contains { $0.name == option.name && $0.completed.contains(kind) }
    }?.texts.first
  }

  /// The texts of an option; nil if the option was not given, or if only one of `option` and the program's option of
  /// this name is a flag.
  private func texts(_ option: Declaration) -> [String]? {
    assert(command.allOptions.contains { $0.name == option.name }, "\(command.name) does not list '\(option.spelling)'")
    let texts = given.first { $0.name == option.name }?.texts
    return texts.flatMap { $0.isEmpty == (option.value == nil) ? $0 : nil }
  }

  // MARK: Operands

  /// The placeholders of the operands, which depend on the options that were given.
  var placeholders: String {
    let (usual, others) =
      action.map { ($0.operands, $0.operandsWith) } ?? (command.operands, command.operandsWith)
    return others.first { isGiven($0.option) }?.operands ?? usual
  }

  /// Whether the last operand is a `-` that means standard input; after `--`, a `-` is an ordinary text.
  package var endsWithInput: Bool { plainCount == 0 && operands.last == "-" }

  /// - Throws: `usage` when there are more than `count` operands.
  package func atMost(_ count: Int) throws {
    if operands.count > count { throw unexpected(operands[count]) }
  }

  /// The operand at an index.
  ///
  /// - Throws: `usage` when it is missing.
  package func operand(_ index: Int, _ name: String) throws -> String {
    guard operands.indices.contains(index) else { throw missing(name) }
    return operands[index]
  }
}

/// The error for a wrong command line.
package func usage(_ message: String) -> DMError { DMError(.usage, message) }

// Advice for errors: what to type instead. This code runs only after an error.

extension Arguments {
  /// The error for a letter that is not an option.
  ///
  /// - Parameter index: the index of the word in the command line.
  func unknownOption(_ letter: Character, in word: String, at index: Int) -> DMError {
    if RangeReference(word) != nil, command.operandNames.contains("RANGE") { return looseRange(word, at: index) }
    let whole = String(word.dropFirst())
    let isLong = command.allOptions.contains { $0.long == whole }
    let hint = isLong ? "; did you mean '--\(whole)'?" : command.hint(for: letter)
    return usage("unknown option '-\(letter)'\(hint)")
  }

  /// The error for a word that is not an action.
  func unknownAction(_ word: String) -> DMError {
    let near = meant(word, among: command.subcommands.map(\.name), actionSynonyms).map { "did you mean '\($0)'?" }
    let names = "one of: \(command.actionNames)"
    // A message in place of an action: the action that the other operands mean is not guessed.
    let isMessage = word.contains(":") && command.subcommands.contains { $0.operands.contains(text: "MESSAGE") }
    var first = names
    if isMessage {
      // With more words, the user most likely wants to change the text.
      let action = command.subcommands.first.map(\.name) ?? ""
      let example = operands.count > 1 ? ", as in '\(retyped([action] + words))'" : ""
      first = "an action comes before the message\(example); \(names)"
    }
    let hint = command.advice(forAction: word) ?? near ?? first
    return usage("unknown action '\(word)'; \(hint)")
  }

  /// The error for an operand that is missing, with the given advice and the usage of the action.
  package func missing(_ operand: String, _ advice: String? = nil) -> DMError {
    usage("missing \(operand); " + (advice.map { $0 + "; " } ?? "") + usageLine)
  }

  /// The error for a surplus operand, with the usage of the action.
  package func unexpected(_ operand: String) -> DMError { usage("unexpected '\(operand)'; \(usageLine)") }

  /// The usage of the action.
  ///
  /// For a program without actions, the usage line that contains the largest number of the given options.
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

  /// The error for a range such as `-20..`, which was parsed as an option.
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
}
