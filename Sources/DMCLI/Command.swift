/// An option of a program, as it is parsed, explained and completed.
public struct Option: Sendable {
  /// What may stand after it, for completion.
  public enum Values: Sendable {
    case any
    case folders
    case words([String])
  }

  public let long: String?
  public let short: Character?
  /// The placeholder of its value; nil for a flag.
  public let value: String?
  public let help: String
  public let values: Values

  public init(
    _ long: String?, short: Character? = nil, value: String? = nil, values: Values = .any, _ help: String
  ) {
    self.long = long
    self.short = short
    self.value = value
    self.values = values
    self.help = help
  }

  /// The name by which a program asks for it.
  public var name: String { long ?? short.map(String.init) ?? "" }

  /// As one writes it: `--limit`, or `-n` where there is no long form.
  var spelling: String { long.map { "--\($0)" } ?? "-\(name)" }
}

/// What a program is, for its help, its parser, its completions and its schema.
public struct Command: Sendable {
  /// `dm-user add` and the like.
  public struct Subcommand: Sendable {
    public let name: String
    public let operands: String
    public let summary: String
    public let options: [Option]

    public init(_ name: String, operands: String = "", _ summary: String, options: [Option] = []) {
      self.name = name
      self.operands = operands
      self.summary = summary
      self.options = options
    }
  }

  public let name: String
  public let summary: String
  /// What follows the name and the options, one way of calling it a line.
  public let synopsis: [String]
  public let options: [Option]
  public let subcommands: [Subcommand]
  public let examples: [(call: String, meaning: String)]
  /// The names of the records that it reads and writes.
  public let reads: String?
  public let writes: [String]

  public init(
    _ name: String, _ summary: String, synopsis: [String], options: [Option] = [], subcommands: [Subcommand] = [],
    examples: [(call: String, meaning: String)], reads: String? = nil, writes: [String]
  ) {
    self.name = name
    self.summary = summary
    self.synopsis = synopsis
    self.options = options
    self.subcommands = subcommands
    self.examples = examples
    self.reads = reads
    self.writes = writes
  }

  /// The options that every program has, but for those whose name one has for something else; dm(7) explains them.
  var common: [Option] { Self.shared.filter { shared in !options.contains { $0.name == shared.name } } }

  private static let shared = [
    Option(
      "store", value: "DIR", values: .folders,
      "the store [$DM_STORE, else dm in $XDG_DATA_HOME, else ~/.local/share/dm]"),
    Option("as", value: "USER", "who acts [$DM_USER, else the login name]"),
    Option("busy-timeout", value: "TIME", "how long to wait for the store [$DM_BUSY_TIMEOUT, else 5s]"),
    Option("json", "print JSON lines, also on a terminal"),
    Option("text", "print text, also into a pipe"),
    Option("quiet", short: "q", "print nothing on success"),
    Option("schema", "print the JSON Schema of what it reads and writes"),
    Option("help", short: "h", "print this help"),
    Option("version", "print the version"),
  ]

  /// Every option that may stand on the command line.
  var allOptions: [Option] { options + subcommands.flatMap(\.options) + common }
}
