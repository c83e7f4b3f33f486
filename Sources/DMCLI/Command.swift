/// The description of a program, for its help, its parser, its completions and its schema.
package struct Command: Sendable {
  /// An action of a program, such as `dm-user add`.
  package struct Subcommand: Sendable {
    package let name: String
    package let operands: String
    /// The operands that replace `operands` if an option is given.
    let operandsWith: [(option: any Declared, operands: String)]
    package let summary: String
    package let options: [any Declared]
    let run: @Sendable (Invocation) throws -> Void

    package init(
      _ name: String, operands: String = "", _ summary: String, options: [any Declared] = [],
      operandsWith: [(option: any Declared, operands: String)] = [],
      run: @escaping @Sendable (Invocation) throws -> Void
    ) {
      self.name = name
      self.operands = operands
      self.operandsWith = operandsWith
      self.summary = summary
      self.options = options
      self.run = run
    }
  }

  /// A table of the help, for something other than options and actions.
  package typealias Topic = (title: String, rows: [(left: String, right: String)])

  package let name: String
  package let summary: String
  /// The lines of the usage, each without the program's name.
  package let synopsis: [String]
  package let options: [any Declared]
  /// The placeholders of the operands of a program without actions, for completions: `CONVERSATION|USER TEXT...`.
  let operands: String
  /// The operands that replace `operands` if an option is given.
  let operandsWith: [(option: any Declared, operands: String)]
  /// The option whose value is N for a word `-N` before the operands, such as `-5`; nil if such a word is an operand.
  let countOption: (any Declared)?
  /// The option that makes operands of unknown options, which are those of another program, and that may lack its value;
  /// nil if there is none.
  let passingOption: (any Declared)?
  /// The rules about which options can be used together; they are checked before the program runs.
  package let rules: [Rule]
  package let subcommands: [Subcommand]
  /// For a program with subcommands: what it does if the command line names no subcommand; nil if this is an error.
  let main: (@Sendable (Invocation) throws -> Void)?
  package let examples: [(call: String, meaning: String)]
  /// Tables of the help, after the options: a title, and rows with a name and its meaning.
  let topics: [Topic]
  /// Options that all programs have, but that this program refuses with an error; they are not offered.
  private let refused: [any Declared]
  /// The names of the records that the program reads and writes.
  package let reads: String?
  package let writes: [String]
  /// Whether the program reads the configuration file before it runs.
  let isConfigured: Bool

  package init(
    _ name: String, _ summary: String, synopsis: [String], options: [any Declared] = [], operands: String = "",
    operandsWith: [(option: any Declared, operands: String)] = [], countOption: (any Declared)? = nil,
    passingOption: (any Declared)? = nil, rules: [Rule] = [], subcommands: [Subcommand] = [],
    main: (@Sendable (Invocation) throws -> Void)? = nil,
    examples: [(call: String, meaning: String)], topics: [Topic] = [], refused: [any Declared] = [],
    reads: String? = nil, writes: [String], isConfigured: Bool = true
  ) {
    self.name = name
    self.summary = summary
    self.synopsis = synopsis
    self.options = options
    self.operands = operands
    self.operandsWith = operandsWith
    self.countOption = countOption
    self.passingOption = passingOption
    self.rules = rules
    self.subcommands = subcommands
    self.main = main
    self.examples = examples
    self.topics = topics
    self.refused = refused
    self.reads = reads
    self.writes = writes
    self.isConfigured = isConfigured
  }

  /// The options that all programs have, except those whose names this program uses for options of its own.
  var common: [Declaration] {
    Common.all.map(\.declaration).filter { shared in !options.contains { $0.declaration.name == shared.name } }
  }

  /// The common options that the help and the completions have.
  var offered: [Declaration] {
    common.filter { shared in !refused.contains { $0.declaration.name == shared.name } }
  }

  func has(_ option: any Declared) -> Bool {
    let name = option.declaration.name
    return self.option { $0.name == name } != nil
  }

  /// The first option of the command line that a condition selects.
  ///
  /// A search in `allOptions` would make an array of copies, which is a tenth of the work of a short command.
  func option(where matches: (Declaration) -> Bool) -> Declaration? {
    func first(_ options: [any Declared]) -> Declaration? {
      for option in options where matches(option.declaration) { return option.declaration }
      return nil
    }
    if let found = first(options) { return found }
    for action in subcommands {
      if let found = first(action.options) { return found }
    }
    guard let shared = first(Common.all) else { return nil }
    return options.contains { $0.declaration.name == shared.name } ? nil : shared
  }

  /// Every option that the command line may have.
  var allOptions: [Declaration] { (options + subcommands.flatMap(\.options)).map(\.declaration) + common }
}
