public import DMKit

/// A command line, taken apart by the rules of GNU getopt_long: options and operands in any order,
/// `--` ends the options, short flags may be joined.
///
/// Long names are not abbreviated, and `-1` is an operand: the last message.
public struct Arguments: Sendable {
  public private(set) var subcommand: String?
  public private(set) var operands: [String] = []
  private var flags: Set<String> = []
  private var values: [String: [String]] = [:]
  private let command: Command

  /// - Throws: `usage`, which names the word and the nearest right one.
  init(_ words: [String], for command: Command) throws {
    self.command = command
    var words = words[...]
    while let word = words.popFirst() {
      if word == "--" {
        operands += words
        break
      } else if word.hasPrefix("--") {
        try takeLong(word, &words)
      } else if word.hasPrefix("-"), word != "-", Int(word) == nil {
        try takeShort(word, &words)
      } else {
        operands.append(word)
      }
    }
    if command.subcommands.isEmpty || has("help") || has("version") || has("schema") { return }
    guard let name = operands.first else {
      throw usage("what shall it do? Say one of \(command.subcommands.map(\.name).joined(separator: ", "))")
    }
    guard let chosen = command.subcommands.first(where: { $0.name == name }) else {
      throw usage("unknown action '\(name)'; say one of \(command.subcommands.map(\.name).joined(separator: ", "))")
    }
    operands.removeFirst()
    subcommand = name
    let allowed = Set((command.options + chosen.options + command.common).map(\.name))
    if let stray = flags.union(values.keys).subtracting(allowed).sorted().first {
      throw usage("'--\(stray)' does not go with '\(command.name) \(name)'")
    }
  }

  private mutating func takeLong(_ word: String, _ rest: inout ArraySlice<String>) throws {
    // By bytes: an equals sign with a combining mark after it is another Character.
    let parts = word.utf8.dropFirst(2).split(
      separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false
    ).map { String(Substring($0)) }
    let name = parts[0]
    guard let option = command.allOptions.first(where: { $0.long == name }) else {
      let near = command.allOptions.compactMap(\.long).min { editDistance($0, name) < editDistance($1, name) }
      let hint = near.map { editDistance($0, name) <= 2 ? "; did you mean '--\($0)'?" : "; see --help" } ?? ""
      throw usage("unknown option '--\(name)'\(hint)")
    }
    guard option.value != nil else {
      if parts.count > 1 { throw usage("'--\(name)' takes no value") }
      flags.insert(option.name)
      return
    }
    guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
      throw usage("'--\(name)' needs a value: \(option.value ?? "")")
    }
    values[option.name, default: []].append(value)
  }

  private mutating func takeShort(_ word: String, _ rest: inout ArraySlice<String>) throws {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = command.allOptions.first(where: { $0.short == letter }) else {
        throw usage("unknown option '-\(letter)'; see --help")
      }
      guard let placeholder = option.value else {
        flags.insert(option.name)
        continue
      }
      guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
        throw usage("'-\(letter)' needs a value: \(placeholder)")
      }
      values[option.name, default: []].append(value)
      return
    }
  }

  /// Whether a flag was given.
  public func has(_ name: String) -> Bool {
    assert(command.allOptions.contains { $0.name == name }, "\(command.name) declares no option '\(name)'")
    return flags.contains(name)
  }

  /// The value of an option; the last one counts.
  public func value(_ name: String) -> String? {
    assert(command.allOptions.contains { $0.name == name }, "\(command.name) declares no option '\(name)'")
    return values[name]?.last
  }

  /// All values of an option that may stand more than once, in order.
  public func all(_ name: String) -> [String] { values[name] ?? [] }

  /// Whether an option was given, flag or not.
  public func isGiven(_ name: String) -> Bool { has(name) || value(name) != nil }

  public func isGiven(_ option: Option) -> Bool { isGiven(option.name) }

  /// A count, or nil for `all`.
  ///
  /// - Throws: `usage` when it is neither.
  public func count(_ name: String, default standard: Int) throws -> Int? {
    guard let text = value(name) else { return standard }
    if text == "all" { return nil }
    guard let count = Int(text), count >= 0 else {
      throw usage(
        "'\(text)' is no number for \(command.allOptions.first { $0.name == name }?.spelling ?? name); write one, or 'all'"
      )
    }
    return count
  }

  /// - Throws: `usage` when two options are given that exclude each other.
  public func exclude(_ names: String...) throws {
    let given = names.filter(isGiven)
    if given.count > 1 { throw usage("'--\(given[0])' and '--\(given[1])' exclude each other") }
  }

  /// - Throws: `usage` when an option is given together with one that makes no sense beside it.
  public func exclude(_ name: String, beside others: String...) throws {
    for other in others { try exclude(name, other) }
  }

  /// - Throws: `usage` when one of the program's own options is given besides these.
  public func allowOnly(_ names: String...) throws {
    for option in command.options where isGiven(option.name) && !names.contains(option.name) {
      throw usage("'\(option.spelling)' does not go with '--\(names[0])'")
    }
  }

  /// - Throws: `usage` when there are more operands than a program takes.
  public func atMost(_ count: Int) throws {
    if operands.count > count { throw usage("unexpected '\(operands[count])'; see --help") }
  }

  /// The operand at a place.
  ///
  /// - Throws: `usage` when it is missing.
  public func operand(_ index: Int, _ name: String) throws -> String {
    guard operands.indices.contains(index) else { throw usage("\(name) is missing; see --help") }
    return operands[index]
  }
}

/// A fault of the command line.
public func usage(_ message: String) -> DMError { DMError(.usage, message) }
