public import DMKit
internal import Glibc

/// One run of a program: its command line, its streams, and the store as the user sees it.
public final class Invocation {
  public let command: Command
  public let arguments: Arguments
  public let output = Output()
  /// Set when some of the lines could not be done.
  public private(set) var hasFailures = false

  init(_ command: Command, _ arguments: Arguments) {
    self.command = command
    self.arguments = arguments
  }

  /// Whether records go out as JSON lines: a flag decides, else whether standard output is a terminal.
  public private(set) lazy var isJSON =
    arguments.has("json") || (!arguments.has("text") && isatty(STDOUT_FILENO) == 0)

  public var isQuiet: Bool { arguments.has("quiet") }

  /// The store, opened when it is first needed.
  public func messenger() throws -> Messenger {
    let login = Self.loginName
    var name = arguments.value("as") ?? environment("DM_USER") ?? login
    if name.hasPrefix("@") { name.removeFirst() }
    return Messenger(location, as: Messenger.Identity(try Handle(name), isLoginName: name == login))
  }

  private var location: StoreLocation {
    if let path = arguments.value("store") ?? environment("DM_STORE") {
      return StoreLocation(directory: Self.trimmed(path), isNamed: true)
    }
    // The XDG Base Directory Specification has relative paths ignored.
    let data = environment("XDG_DATA_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
    return StoreLocation(
      directory: (data ?? (environment("HOME") ?? "") + "/.local/share") + "/dm", isNamed: false)
  }

  private static func trimmed(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path.isEmpty ? "." : path
  }

  private static var loginName: String {
    getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? String(geteuid())
  }

  // MARK: Answers

  /// Prints a record, or its text form; nothing when quiet.
  public func print<Printed: Record>(_ record: Printed, text: (Printed) throws -> String?) throws {
    if isQuiet { return }
    if isJSON {
      try output.write(record)
    } else if let text = try text(record) {
      try output.write(text + "\n")
    }
  }

  /// Says what was wrong with a line, on both streams; the others go on.
  public func fail(line: Int, _ error: DMError) throws {
    hasFailures = true
    complain(command.name, "line \(line): \(error.message)")
    if isJSON { try output.write(ErrorRecord(line: line, error)) }
  }

  /// Acts on standard input batch by batch, and answers each line with one line, in order.
  ///
  /// An answer goes out after the act is durable.
  public func answerLines<Item, Answer>(
    _ parse: (ArraySlice<UInt8>) throws -> Item,
    act: ([Item]) throws -> [Result<Answer, DMError>], print: (Answer) throws -> Void,
    progress: (Int) -> Void = { _ in }
  ) throws {
    var input = LineInput()
    while let batch = try input.batch(parse) {
      var items: [Item] = []
      for case (_, .success(let item)) in batch { items.append(item) }
      var results = (items.isEmpty ? [] : try act(items))[...]
      for (line, content) in batch {
        if case .failure(let error) = content {
          try fail(line: line, error)
        } else if let result = results.popFirst() {
          switch result {
          case .success(let answer): try print(answer)
          case .failure(let error): try fail(line: line, error)
          }
        }
        progress(line)
      }
      try output.flush()
    }
  }
}

/// A variable of the environment; an empty one counts as absent.
func environment(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  return String(cString: value)
}
