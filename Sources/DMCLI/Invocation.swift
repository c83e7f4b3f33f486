package import DMKit
internal import DMSystem

/// A run of a program: its command line, its output, and the store as the user sees it.
package final class Invocation {
  package let command: Command
  package private(set) var arguments: Arguments
  /// The values of the environment and, after `configure`, of the configuration file.
  package private(set) var settings = Settings()
  /// The lines of the configuration file whose options are in `arguments`.
  private(set) var defaults: [SettingsFile.Line] = []
  private var isTextInPipes = false
  package let output = Output()
  /// How many lines, files or messages failed with each error code, in the order in which the codes first occurred.
  package private(set) var failures: [(code: DMError.Code, count: Int)] = []
  /// Whether any line, file or message failed.
  package var hasFailures: Bool { !failures.isEmpty }
  var made: Messenger?
  /// With --wait, until when to wait for the hub, on the monotonic clock.
  private(set) lazy var hubDeadline = monotonicMicroseconds() + 30_000_000
  /// How fresh the data of the store is; nil if the store has no hub, or if this program did not ask the hub.
  var freshness: HubFreshness?
  /// Whether the user was already warned that dm-sync cannot be started.
  var hasWarnedOfCarrier = false
  /// The errors of lines that standard error has already; nil to print each error.
  package var repeatedErrors: RepeatedErrors?
  private lazy var usageLog = UsageLog(command.name, warn)
  /// Whether warnings are kept until the end, because a window uses the terminal.
  package var keepsWarnings = false
  private var keptWarnings: [String] = []

  init(_ command: Command, _ arguments: Arguments) {
    self.command = command
    self.arguments = arguments
  }

  /// Whether records are printed as JSON lines.
  ///
  /// The options --json, --text and --plain decide this. Without them, records are JSON lines if standard output is not
  /// a terminal, unless the setting `pipe` is `text`.
  package private(set) lazy var isJSON =
    arguments[Common.json]
    || (!arguments[Common.text] && !arguments[Common.plain] && !isTextInPipes && !isTerminal(.output))

  /// Reads the configuration file, unless --no-config is given, and adds the options of the program's section.
  ///
  /// - Parameter isLenient: whether lines that are wrong are ignored.
  /// - Throws: `usage` for a line or a variable that is wrong; `io_error` if the file cannot be read.
  package func configure(isLenient: Bool = false) throws {
    if !arguments[Common.noConfig], let file = try SettingsFile.ofUser() {
      settings = Settings(file, for: command.name)
      if !isLenient, let fault = file.faults(for: [command]).first { throw file.error(fault) }
      defaults = arguments.addDefaults(file.lines.filter { $0.section == command.name })
    }
    isTextInPipes = try settings[.pipe] == "text"
  }

  private var madeScreen: Screen?

  /// Standard output for text: its width and its colors.
  package func screen() throws -> Screen {
    if let madeScreen { return madeScreen }
    let isPlain = try arguments[Common.plain] || settings[.plain] == "on"
    let screen = try Screen(arguments[Common.color], isPlain: isPlain, settings)
    madeScreen = screen
    return screen
  }

  package private(set) lazy var isQuiet = arguments[Common.quiet]

  /// The store as the user sees it, opened when it is first needed.
  package func messenger() throws -> Messenger {
    if let made { return made }
    let name = try arguments[Common.user]?.description ?? settings[.user]?.without("@") ?? Account.name
    let handle = try Handle(name)
    let identity = Messenger.Identity(handle) { handle.description.utf8.elementsEqual(Account.name.utf8) }
    let messenger = Messenger(try location(), as: identity)
    messenger.compareForUnknownUser = { [weak self, weak messenger] in
      guard let self, let messenger else { return nil }
      // With DM_SYNC=off, or with a waiting time of 0, the hub is not asked, and the store alone answers.
      guard try Carrier.mayRun(settings), try freshLimit() > .zero else { return nil }
      return try messenger.compare(within: freshLimit()) { Carrier.start(for: messenger, settings).fault }
    }
    messenger.pages = Messenger.PageSource(limit: { [weak self] in try self?.freshLimit() ?? .zero }) {
      [weak messenger, settings] in
      messenger.flatMap { Carrier.start(for: $0, settings).fault }
    }
    messenger.onUpgrade = { [weak self] in self?.noteUpgrade($0) }
    if let log = usageLog { messenger.onAct = { [weak self] act in log.add(act) { self?.warn($0) } } }
    made = messenger
    return messenger
  }

  /// The location of the store: from --store, the environment, or the default.
  package func location() throws -> StoreLocation {
    let busyTimeout =
      try arguments[Common.busyTimeout] ?? settings[.busyTimeout].map { try timeout($0, of: "DM_BUSY_TIMEOUT") }
      ?? StoreLocation.standardBusyTimeout
    let found: StoreLocation?
    if let path = try arguments[Common.store] ?? settings[.store] {
      // An empty value is usually a shell variable that is not set.
      if path.isEmpty { throw usage("--store needs a folder; the value is empty") }
      found = StoreLocation.named(path, busyTimeout: busyTimeout)
    } else {
      found = try StoreLocation.unnamed(busyTimeout: busyTimeout)
    }
    guard var location = found else { throw usage("there is no home folder; set HOME, or use --store DIR") }
    location.upgrading = try upgrading
    return location
  }

  /// Whether this invocation completes a word; it then prints no warning, and does not upgrade the store.
  var isCompletion = false

  private var upgrading: StoreLocation.Upgrading {
    get throws {
      if isCompletion { return .refused }
      return try settings[.upgradeCopy] == "off" ? .keepsNothing : .keepsCopy
    }
  }

  /// Prints that the store was upgraded.
  package func noteUpgrade(_ clause: String) { warn("\(clause); UPGRADING in dm-store(5) says how to go back") }

  /// The command of a program that an option names, or a setting; nil if it is empty, or not named.
  package func program(_ option: Option<String>, or setting: Setting) throws -> String? {
    try (arguments[option] ?? settings[setting]).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Prints a warning that does not change the exit status.
  private func warn(_ warning: String) {
    if keepsWarnings { keptWarnings.append(warning) } else { printError(command.name, warning) }
  }

  /// Prints the warnings that were kept.
  func printWarnings() {
    for warning in keptWarnings { printError(command.name, warning) }
    keptWarnings = []
  }

  // MARK: Answers

  /// Prints a record as JSON or as text; with --quiet, prints nothing.
  package func print<Printed: Record>(_ record: Printed, text: (Printed) throws -> String?) throws {
    if isQuiet { return }
    if isJSON {
      try output.write(record)
    } else if let text = try text(record) {
      try print(text)
    }
  }

  /// Prints lines of text.
  package func print(_ text: String) throws { try output.write(lines: screen().rendered(text)) }

  /// Reports the error of an input line on standard error and, if records are JSON, on standard output.
  ///
  /// The program continues, and later ends with status 1.
  package func fail(line: Int, _ error: DMError) throws {
    note(failure: error, ofLine: line)
    if isJSON { try output.write(ErrorRecord(line: line, error, message: error.text)) }
  }

  /// Reports the error of an operand as `fail(line:_:)` does that of a line.
  package func fail(operand: String, _ error: DMError) throws {
    count(error)
    printError(command.name, error.text.contains(text: operand) ? error.text : "\(operand): \(error.text)")
    if isJSON { try output.write(ErrorRecord(line: nil, error, message: error.text)) }
  }

  /// Reports the error of an input line as `fail(line:_:)` does, but only on standard error.
  package func note(failure error: DMError, ofLine line: Int) {
    count(error)
    if error.code != .malformedLine, repeatedErrors?.take(error.text) == true { return }
    let isJSONLess = !hasValidLine && failures.count == 1 && error.code == .malformedLine
    guard isJSONLess, failures[0].count > Self.malformedLimit else {
      return printError(command.name, "line \(line): \(error.text)\(command.optionHint(for: error, arguments))")
    }
    guard failures[0].count == Self.malformedLimit + 1 else { return }
    printError(command.name, "no line is JSON so far; the errors of the next lines are not shown; see dm-protocol(5)")
  }

  /// Reports a failure after which the program continues, and later ends with status 1.
  package func note(failure error: DMError) {
    count(error)
    printError(command.name, error.text)
  }

  private func count(_ error: DMError) {
    if let index = failures.firstIndex(where: { $0.code == error.code }) {
      failures[index].count += 1
    } else {
      failures.append((error.code, 1))
    }
  }

  /// How many errors of lines that are not JSON are printed on standard error before the first valid line.
  private static let malformedLimit = 1
  /// Whether a line of the input could be read.
  private var hasValidLine = false

  /// Prints a message as the answer to an input line.
  package func print(_ message: Message, line: Int, text: (Message) throws -> String?) throws {
    var answer = message
    answer.line = line
    try print(answer, text: text)
  }

  /// If a whole batch failed, answers each of its lines with an error, because the program that wrote the lines waits
  /// for answers.
  private func refuse<Item>(
    _ batch: [LineInput.Numbered<Item>], _ error: DMError, _ nonce: (Item) -> String?
  ) throws {
    for (line, content) in batch where isJSON {
      let fault =
        switch content {
        case .failure(let own): own
        case .success(let item): error.answering(nonce: nonce(item))
        }
      try output.write(ErrorRecord(line: line, fault, message: fault.text))
    }
  }

  /// Processes standard input or a file batch by batch, and answers each line with one line, in order.
  ///
  /// An answer is printed only after the change is durable.
  ///
  /// - Parameters:
  ///   - path: the file; nil and `-` are standard input.
  ///   - replacing: makes an item from the error of a line that cannot be read; nil if `act` does not need such items.
  ///   - nonce: the nonce of an item, for the error that answers its line.
  ///   - isSingle: whether each line is a batch of its own, because `parse` takes long.
  ///   - stopsAtFault: whether to stop after the first line that fails; if true, `act` must leave out the items after the
  ///     failure.
  package func answerLines<Item, Answer>(
    of path: String? = nil, isSingle: Bool = false, _ parse: (ArraySlice<UInt8>, _ line: Int) throws -> Item,
    replacing: ((DMError) -> Item)? = nil,
    nonce: (Item) -> String? = { _ in nil }, stopsAtFault: Bool = false,
    act: ([Item]) throws -> [Result<Answer, DMError>], print: (Answer, _ line: Int) throws -> Void,
    progress: (Int) -> Void = { _ in }
  ) throws {
    var input = try LineInput(path: path)
    while var batch = try input.batch(parse, isSingle: isSingle) {
      if let replacing { batch = batch.map { ($0, .success($1.recovering(replacing))) } }
      try answer(batch, results(of: batch, nonce, act), nonce, print, progress)
      try output.flush()
      if stopsAtFault, hasFailures { return }
    }
  }

  /// Calls `act` for those lines of a batch that could be read.
  private func results<Item, Answer>(
    of batch: [LineInput.Numbered<Item>], _ nonce: (Item) -> String?,
    _ act: ([Item]) throws -> [Result<Answer, DMError>]
  ) throws -> [Result<Answer, DMError>] {
    var items: [Item] = []
    for case (_, .success(let item)) in batch { items.append(item) }
    do {
      return items.isEmpty ? [] : try act(items)
    } catch let error as DMError {
      if error.code.isFatal { try refuse(batch, error, nonce) }
      throw error
    }
  }

  private func answer<Item, Answer>(
    _ batch: [LineInput.Numbered<Item>], _ results: [Result<Answer, DMError>], _ nonce: (Item) -> String?,
    _ print: (Answer, _ line: Int) throws -> Void, _ progress: (Int) -> Void
  ) throws {
    var results = results.makeIterator()
    for (line, content) in batch {
      switch content {
      case .failure(let error): try fail(line: line, error)
      case .success(let item):
        hasValidLine = true
        switch results.next() {
        case .success(let answer): try print(answer, line)
        case .failure(let error):
          try fail(line: line, error.nonce == nil ? error.answering(nonce: nonce(item)) : error)
        case nil: break
        }
      }
      progress(line)
    }
  }
}

extension Result where Failure == DMError {
  fileprivate func recovering(_ replacement: (DMError) -> Success) -> Success {
    switch self {
    case .success(let value): value
    case .failure(let error): replacement(error)
    }
  }
}
