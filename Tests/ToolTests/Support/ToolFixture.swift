import Foundation
import Glibc
import JSONSupport
import Synchronization
import Testing

/// The result of a run of a program.
struct Outcome: Sendable {
  let output: [UInt8]
  let stderr: String
  let status: Ending
  /// The processor seconds of the program, in user and in system mode.
  let cpu: Double

  var stdout: String { String(decoding: output, as: UTF8.self) }

  /// The lines on standard output as JSON.
  var records: [JSON] {
    get throws { try Contract.lines(of: output).map { try JSON($0.bytes) } }
  }

  /// The only line on standard output.
  var record: JSON {
    get throws {
      let records = try records
      try #require(records.count == 1, "not exactly one line: \(stdout)\(stderr)")
      return records[0]
    }
  }
}

/// A store, a home folder and an environment for one test.
final class ToolFixture: Sendable {
  let directory: String
  let store: String
  private let extra: Mutex<[String: String]>

  static let programs = [
    "dm-attach", "dm-chat", "dm-conversation", "dm-digest", "dm-doctor", "dm-edit", "dm-export", "dm-import", "dm-list",
    "dm-mcp", "dm-preview", "dm-read", "dm-search", "dm-send", "dm-tail", "dm-typing", "dm-usage", "dm-user",
  ]
  /// The programs that use the network.
  static let hubPrograms = ["dm-hub", "dm-sync"]

  /// The manual page of a program.
  static func page(of program: String) -> String { "man/\(program).\(program == "dm-hub" ? 8 : 1)" }

  /// The folder of the build, which has the bundle of the tests.
  static let built: String = {
    for word in CommandLine.arguments where word.contains(".xctest") {
      let bundle = word.components(separatedBy: ".xctest")[0]
      let folder = URL(fileURLWithPath: bundle).deletingLastPathComponent().path
      if FileManager.default.isExecutableFile(atPath: folder + "/dm") { return folder }
    }
    return URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
  }()

  /// The folder that `Tests/build` makes, with `dm` and a link to it for each program, as in an installation.
  static let binaries = ProcessInfo.processInfo.environment["DM_BIN_DIR"] ?? built + "/programs"

  /// - Parameter store: the path of the store in the fixture's folder.
  init(store name: String = "store") throws {
    var template = Array("\(NSTemporaryDirectory())dm-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SpawnError(description: "cannot create a temporary folder") }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    store = "\(directory)/\(name)"
    extra = Mutex([:])
    Self.remember(directory)
    try FileManager.default.createDirectory(atPath: directory + "/home", withIntermediateDirectories: true)
  }

  /// A fixture with a copy of another fixture's store.
  convenience init(copyOf other: ToolFixture) throws {
    try self.init()
    try FileManager.default.copyItem(atPath: other.store, toPath: store)
  }

  /// The folders of all fixtures; those that tests share are removed when the process ends.
  private static let directories = Mutex<Set<String>>([])

  private static func remember(_ directory: String) {
    let isFirst = directories.withLock { seen in
      seen.insert(directory)
      return seen.count == 1
    }
    if isFirst { atexit { ToolFixture.removeAll() } }
  }

  private static func removeAll() {
    for directory in directories.withLock({ $0 }) where FileManager.default.fileExists(atPath: directory) {
      remove(directory)
    }
  }

  private static func remove(_ directory: String) {
    do { try FileManager.default.removeItem(atPath: directory) } catch { print("left behind: \(directory)") }
  }

  deinit { Self.remove(directory) }

  /// Sets an environment variable for the following runs; nil removes it.
  func set(_ name: String, _ value: String?) { extra.withLock { $0[name] = value ?? "" } }

  func environment(as user: String?) -> [String: String] {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    var variables = [
      "PATH": "\(Self.binaries):\(path)", "HOME": directory + "/home", "DM_STORE": store, "TZ": "UTC",
      "LC_ALL": "C.UTF-8",
    ]
    if let user { variables["DM_USER"] = user }
    for (name, value) in extra.withLock({ $0 }) { variables[name] = value.isEmpty ? nil : value }
    return variables
  }

  static func executable(_ name: String) throws -> String {
    if name.contains("/") { return name }
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    for folder in [binaries] + path.split(separator: ":").map(String.init) {
      let candidate = "\(folder)/\(name)"
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
    }
    throw SpawnError(description: "there is no program '\(name)'")
  }

  static func has(_ program: String) -> Bool {
    do { return try !executable(program).isEmpty } catch { return false }
  }

  /// A running program whose output goes to files, which cannot fill up as a pipe does.
  struct Running: Sendable {
    let process: ToolProcess
    /// Nil if the test has named a file for the output.
    let output: Descriptor?
    let errors: Descriptor
    let validatedAs: String?
    let location: SourceLocation

    func finish(seconds: Double = 60) throws -> Outcome {
      let end = process.wait(seconds: seconds)
      let bytes = output?.contents() ?? []
      if let program = validatedAs { try Contract.check(bytes, of: program, at: location) }
      return Outcome(
        output: bytes, stderr: String(decoding: errors.contents(), as: UTF8.self), status: end.ending, cpu: end.cpu)
    }
  }

  func start(
    _ program: String, _ arguments: [String] = [], as user: String? = nil, stdin: Input = .none, stdout: String? = nil,
    validatedAs: String? = nil, at location: SourceLocation = #_sourceLocation
  ) throws -> Running {
    let input =
      switch stdin {
      case .none: try Descriptor(path: "/dev/null", O_RDONLY)
      case .bytes(let bytes): try Descriptor.temporary(in: directory, bytes)
      case .file(let path): try Descriptor(path: path, O_RDONLY)
      }
    let output = try stdout.map { try Descriptor(path: $0, O_RDWR) } ?? Descriptor.temporary(in: directory)
    let errors = try Descriptor.temporary(in: directory)
    let process = try ToolProcess(
      Self.executable(program), arguments, environment: environment(as: user),
      streams: [input.number, output.number, errors.number])
    let judge = validatedAs ?? (stdout == nil && Contract.isJSON(program, arguments) ? program : nil)
    return Running(
      process: process, output: stdout == nil ? output : nil, errors: errors, validatedAs: judge, location: location)
  }

  func run(
    _ program: String, _ arguments: [String] = [], as user: String? = nil, stdin: Input = .none, stdout: String? = nil,
    validatedAs: String? = nil, seconds: Double = 60, at location: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    try start(program, arguments, as: user, stdin: stdin, stdout: stdout, validatedAs: validatedAs, at: location)
      .finish(seconds: seconds)
  }

  /// Runs a script of the shell; `validatedAs` names the program whose lines it prints.
  func shell(
    _ script: String, as user: String? = nil, stdin: Input = .none, validatedAs: String? = nil, seconds: Double = 60,
    at location: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    try run(
      "sh", ["-c", script], as: user, stdin: stdin, validatedAs: validatedAs, seconds: seconds, at: location)
  }

  /// Runs a program, which must succeed; a failure shows the beginning of its output, such as the findings of a check.
  @discardableResult
  func done(
    _ program: String, _ arguments: [String] = [], as user: String? = nil, stdin: Input = .none,
    seconds: Double = 60, at location: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    let outcome = try run(program, arguments, as: user, stdin: stdin, seconds: seconds, at: location)
    try #require(
      outcome.status == .exit(0), "\(program) \(arguments): \(outcome.stderr)\(outcome.stdout.prefix(4000))",
      sourceLocation: location)
    return outcome
  }

  func addUsers(_ handles: String...) throws {
    for handle in handles { try done("dm-user", ["add", handle], as: handle) }
  }

  /// The output of the sqlite3 command, which shares no code with the programs.
  ///
  /// The command waits for locks, because the program that closes the store last locks it briefly (sqlite.org/wal.html,
  /// section 2.2).
  func sql(_ statement: String, at location: SourceLocation = #_sourceLocation) throws -> String {
    let arguments = ["-bail", "-cmd", ".timeout 10000", store + "/dm.sqlite", statement]
    let outcome = try run("sqlite3", arguments, at: location)
    try #require(outcome.status == .exit(0), "\(statement): \(outcome.stderr)", sourceLocation: location)
    return outcome.stdout.trimmingCharacters(in: .newlines)
  }

  /// Makes a store with one user look as after a failed first write: tables without rows.
  func makeEmpty() throws {
    _ = try sql("DELETE FROM change; DELETE FROM user; DELETE FROM sqlite_sequence")
    _ = try sql("DELETE FROM table_digest WHERE name <> 'store'")
    for name in ["store.lock", "bell"] { try done("rm", [store + "/" + name]) }
  }

  /// `ok` if the pages and references of the store are sound, and its message numbers have no gaps.
  func integrity(at location: SourceLocation = #_sourceLocation) throws -> String {
    try sql(
      """
      PRAGMA integrity_check; PRAGMA foreign_key_check;
      SELECT 'hole in ' || conversation FROM message GROUP BY conversation
        HAVING min(seq) <> 1 OR max(seq) <> count(*);
      SELECT 'end of ' || id FROM conversation c
        WHERE last_seq <> (SELECT count(*) FROM message m WHERE m.conversation = c.id);
      """, at: location)
  }

  func checkIntegrity(at location: SourceLocation = #_sourceLocation) throws {
    #expect(try integrity(at: location) == "ok", sourceLocation: location)
  }
}
