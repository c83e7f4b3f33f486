internal import DMKit
internal import DMSystem

/// A program of the suite: its description, and a function that runs it after its command line is parsed.
package protocol Program: SendableMetatype {
  static var command: Command { get }
  static func run(_ call: Invocation) throws
  /// The command that the words after the program's name select, and the words after that command's name.
  static func completed(_ words: [String]) -> (command: Command, words: [String])
}

extension Program {
  /// Runs the action that the command line names, or the command's `main`.
  package static func run(_ call: Invocation) throws {
    if let action = call.arguments.action { try action.run(call) } else { try command.main?(call) }
  }

  package static func completed(_ words: [String]) -> (command: Command, words: [String]) { (command, words) }

  /// Parses the command line, runs the program, flushes standard output, and ends the process with the exit status.
  package static func main() { main(firstWord: 1) }

  /// Runs `main` for a command line whose first words name the program.
  ///
  /// - Parameter first: the index of the first word after the program's name.
  package static func main(firstWord first: Int) {
    // A service manager may start programs with SIGPIPE ignored (systemd.exec(5)). Without this line, a closed pipe
    // would not end the program.
    Signal.brokenPipe.restoreDefault()
    // At the limit of the file size, SIGXFSZ would end the process. If the signal is ignored, write(2) fails, and the
    // program can remove unfinished files.
    Signal.fileTooLarge.ignore()
    protectNewFiles()
    endProcess(status(first).rawValue)
  }

  private static func status(_ first: Int) -> ExitStatus {
    var call: Invocation?
    do {
      let words = try words(from: first)
      if try answerShell(words) { return .done }
      let made = Invocation(command, try Arguments(words, for: command))
      call = made
      try answer(made)
      try made.output.flush()
      try made.noteFreshness()
      try made.finishWithHub()
      made.printWarnings()
      ProcessEnd.isNear = true
      return made.hasFailures ? .someLinesFailed : .done
    } catch let error as DMError {
      return fail(error, call)
    } catch {
      return fail(DMError(.internal, "unexpected fault: \(type(of: error))"), call)
    }
  }

  /// The words after the program's name, as they were typed.
  ///
  /// `CommandLine.arguments` is not used, because it replaces invalid UTF-8.
  ///
  /// - Throws: `invalid_utf8` for a word that is not UTF-8, unless --lossy is given.
  private static func words(from first: Int) throws -> [String] {
    let indices = first..<max(first, Int(CommandLine.argc))
    var isLossy = false
    if command.has(lossy) {
      let words = indices.compactMap { CommandLine.unsafeArgv[$0].map { String(cString: $0) } }
      isLossy = words.prefix { $0 != "--" }.contains(lossy.declaration.spelling)
    }
    return try indices.map { index in
      guard let bytes = CommandLine.unsafeArgv[index] else { return "" }
      if let word = String(validatingCString: bytes) { return word }
      guard isLossy else {
        throw DMError(.invalidUTF8, "the argument \(index - first + 1) is not UTF-8; convert it with iconv")
      }
      return String(cString: bytes)
    }
  }

  private static func answer(_ call: Invocation) throws {
    if call.arguments[Common.help] {
      try call.output.write(help(of: command))
    } else if call.arguments[Common.version] {
      try call.output.write("\(command.name) \(version)\n")
    } else if call.arguments[Common.schema] {
      try call.output.write(
        RecordSchema.document(
          for: command.name, reads: command.reads, writes: command.writes, hasAge: command.has(fresh)))
    } else {
      if command.isConfigured { try call.configure() }
      try call.arguments.check(Common.rules + command.rules)
      try call.arguments.checkValues()
      // Checks the environment variables for text output first, so that a wrong value is an error before the program
      // changes anything.
      if command.isConfigured, !call.isJSON, !call.isQuiet { _ = try call.screen() }
      do {
        try run(call)
      } catch let error as DMError where error.code == .usage {
        throw call.naming(defaultIn: error)
      }
    }
  }

  /// Prints the error, and the records that are still in the buffer of standard output.
  private static func fail(_ error: DMError, _ call: Invocation?) -> ExitStatus {
    call?.printWarnings()
    printError(command.name, error.text + command.optionHint(for: error, call?.arguments))
    do {
      try call?.output.flush()
    } catch {
      printError(command.name, "cannot write to standard output")
      return .inputOutput
    }
    if call?.made?.hasWorkForHub == true { call?.startCarrier() }
    return ExitStatus(error.code)
  }

  /// Answers `--complete SHELL WORD...`.
  ///
  /// Bash passes two words: its line up to the cursor, and the part of the line that it will replace.
  ///
  /// The help does not list this option, because only the scripts in `completions` use it.
  private static func answerShell(_ words: [String]) throws -> Bool {
    guard words.count > 2, words[0] == "--complete", let shell = Shell(rawValue: words[1]) else { return false }
    let output = Output()
    try output.write(candidates(for: shell, words[2...], completed))
    try output.flush()
    return true
  }
}
