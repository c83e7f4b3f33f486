internal import DMKit

/// How an option is written, explained and completed.
package struct Declaration: Sendable {
  package let long: String?
  package let short: Character?
  /// The placeholder of the option's value; nil for a flag.
  package let value: String?
  package let help: String
  /// The kinds of candidates for the option's value; nil to derive the kinds from the placeholder.
  let values: [Completed]?

  init(long: String?, short: Character?, value: String?, values: [Completed]? = nil, help: String) {
    self.long = long
    self.short = short
    self.value = value
    self.values = values
    self.help = help
  }

  /// The name of the option, which is unique within a program.
  var name: String { long ?? short.map(String.init) ?? "" }

  /// The option as a user types it: `--limit`, or `-n` if it has no long form.
  package var spelling: String { long.map { "--\($0)" } ?? "-\(name)" }

  /// The spelling with the placeholder of the value: `--limit N`.
  var call: String { value.map { "\(spelling) \($0)" } ?? spelling }
}

/// A `Flag` or an `Option`.
///
/// An option is declared as a constant, which the program's `Command` lists; `arguments[constant]` is its value.
package protocol Declared: Sendable {
  var declaration: Declaration { get }
  /// Checks all values that were given.
  func check(_ arguments: Arguments) throws
}

/// An option without a value; `arguments[flag]` says whether it was given.
package struct Flag: Declared {
  package let declaration: Declaration

  package init(_ long: String?, short: Character? = nil, _ help: String) {
    declaration = Declaration(long: long, short: short, value: nil, help: help)
  }

  package func check(_ arguments: Arguments) {}
}

/// An option with a value.
///
/// `arguments[option]` is its value, or nil. If the option was given several times, the last value counts.
package struct Option<Value>: Declared {
  package let declaration: Declaration
  let parse: @Sendable (String) throws -> Value

  /// - Parameters:
  ///   - value: the placeholder in the help.
  ///   - parse: makes the value from the typed word.
  package init(
    _ long: String?, short: Character? = nil, value: String, values: [Completed]? = nil, _ help: String,
    as parse: @escaping @Sendable (String) throws -> Value
  ) {
    declaration = Declaration(long: long, short: short, value: value, values: values, help: help)
    self.parse = parse
  }

  package func check(_ arguments: Arguments) throws { _ = try arguments.all(self) }
}

extension Option<String> {
  /// A text, used exactly as typed.
  package init(
    _ long: String?, short: Character? = nil, value: String, values: [Completed]? = nil, _ help: String
  ) {
    self.init(long, short: short, value: value, values: values, help, as: { $0 })
  }
}

extension Option<Handle> {
  /// A user, with or without the `@`.
  package init(_ long: String, user value: String, _ help: String) {
    self.init(long, value: value, help, as: { Handle(typed: $0.without("@")) })
  }
}

extension Option<Int?> {
  /// A number, or nil for `all`.
  package init(_ long: String?, short: Character? = nil, count value: String, _ help: String) {
    let spelling = Declaration(long: long, short: short, value: value, help: help).spelling
    self.init(long, short: short, value: value, help) { text in
      if text == "all" { return nil }
      guard let count = Int(text), count >= 0 else {
        throw usage("'\(text)' is not a number, which \(spelling) needs; give one, or 'all'")
      }
      return count
    }
  }
}

extension Option where Value: RawRepresentable<String> & CaseIterable & Sendable {
  /// One of the words of an enumeration.
  package init(_ long: String, value: String, oneOf all: Value.Type, _ help: String) {
    let words = Value.allCases.map(\.rawValue)
    self.init(long, value: value, values: [.words(words)], help) { text in
      if let value = Value(rawValue: text) { return value }
      throw usage("'\(text)' is not a value of --\(long); use \(either(words))")
    }
  }
}

/// `red, green or blue`.
func either(_ words: [String]) -> String {
  words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
}
