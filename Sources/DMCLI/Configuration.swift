package import DMKit

// What the configuration file may have for each program; dm-config(5) explains it.

extension SettingsFile {
  /// The sections that the file may have.
  package static let programs = [
    "dm-attach", "dm-chat", "dm-conversation", "dm-digest", "dm-doctor", "dm-edit", "dm-export", "dm-hub",
    "dm-import", "dm-list", "dm-mcp", "dm-preview", "dm-read", "dm-search", "dm-send", "dm-sync", "dm-tail",
    "dm-typing", "dm-usage", "dm-user",
  ]

  /// What is wrong in the file, in the order of its lines.
  ///
  /// - Parameter commands: the programs whose sections are checked; the lines in the sections of other programs are not.
  package func faults(for commands: [Command]) -> [Fault] {
    var found = faults
    for (number, name) in sections where !Self.programs.contains(name) {
      let hint = nearest(to: name, among: Self.programs).map { "; did you mean '\($0)'?" } ?? ", such as 'dm-tail'"
      found.append(Fault(number, "a section has the name of a program\(hint): '\(name)' is none"))
    }
    for line in lines {
      let command = commands.first { $0.name == line.section }
      if line.section != nil, command == nil { continue }
      if let fault = fault(in: line, of: command) { found.append(fault) }
    }
    return found.sorted { $0.number < $1.number }
  }

  private func fault(in line: Line, of command: Command?) -> Fault? {
    if let setting = Setting(rawValue: line.name) { return fault(of: setting, in: line) }
    let settings = Setting.allCases.map(\.name)
    guard let command else {
      let hint =
        nearest(to: line.name, among: settings).map { "did you mean '\($0)'?" }
        ?? "'dm config' lists them, and an option is in the section of its program, such as [dm-tail]"
      return Fault(line.number, "there is no setting '\(line.name)'; \(hint)")
    }
    return command.fault(ofDefault: line.name, line.value, settings).map { Fault(line.number, $0) }
  }
}

extension Command {
  /// The common options that are not defaults, each with what to write instead.
  private static let others: [(option: any Declared, advice: String)] = [
    (Common.user, "write 'user = NAME'"), (Common.json, "write 'pipe = json'"), (Common.text, "write 'pipe = text'"),
    (Common.noConfig, "give it on the command line"), (Common.schema, "give it on the command line"),
    (Common.help, "give it on the command line"), (Common.version, "give it on the command line"),
  ]

  /// What is wrong with a default option, as a clause; nil if it is valid.
  fileprivate func fault(ofDefault name: String, _ value: String, _ settings: [String]) -> String? {
    let own = (options + subcommands.flatMap(\.options)).filter { $0.declaration.name == name }
    if own.isEmpty, let other = Self.others.first(where: { $0.option.declaration.name == name }) {
      return "'\(name)' is not a default; \(other.advice)"
    }
    let declared = own.isEmpty ? Common.all.filter { $0.declaration.name == name } : own
    guard !declared.isEmpty else {
      let near = nearest(to: name, among: settings + allOptions.map(\.name))
      let hint = near.map { "did you mean '\($0)'?" } ?? "'\(self.name) --help' lists its options"
      return "'\(self.name)' has no option '\(name)'; \(hint)"
    }
    var fault: String?
    // Actions may have different options of one name.
    for option in declared {
      guard let own = self.fault(in: value, of: option) else { return nil }
      fault = own
    }
    return fault
  }

  private func fault(in value: String, of option: any Declared) -> String? {
    let name = option.declaration.name
    if option.declaration.value == nil {
      return ["on", "off"].contains(value) ? nil : "'\(value)' is not a value of '\(name)'; write on or off"
    }
    var arguments = Arguments(unfinished: [], for: self)
    arguments.give(option.declaration, [value])
    do {
      try option.check(arguments)
      return nil
    } catch let error as DMError {
      return error.message
    } catch {
      return "'\(value)' is not a value of '\(name)'"
    }
  }
}

extension Arguments {
  /// Adds the options that a section of the configuration file gives, in its order.
  ///
  /// An option is left out if the command line has it, or if it does not go with the action or the other options.
  ///
  /// - Returns: the lines whose options were added.
  mutating func addDefaults(_ lines: [SettingsFile.Line]) -> [SettingsFile.Line] {
    let typed = given.map(\.name)
    var added: [SettingsFile.Line] = []
    let options = command.options + (action?.options ?? []) + Common.all
    for line in lines where Setting(rawValue: line.name) == nil && !typed.contains(line.name) {
      guard let option = options.first(where: { $0.declaration.name == line.name })?.declaration,
        option.value != nil || line.value == "on"
      else { continue }
      var next = self
      next.give(option, option.value == nil ? [] : [line.value])
      do {
        try next.check(Common.rules + command.rules)
      } catch {
        // The options that were typed count more than this one.
        continue
      }
      self = next
      added.append(line)
    }
    defaults = added.map(\.name)
    return added
  }
}

extension Invocation {
  /// The error, with the line of the configuration file that gives the option which the error names.
  func naming(defaultIn error: DMError) -> DMError {
    guard let path = settings.file?.path else { return error }
    let options = command.allOptions
    for line in defaults {
      let spelling = options.first { $0.name == line.name }?.spelling ?? line.name
      if error.message.contains(text: "'\(spelling)'") {
        return error.adding("; '\(spelling)' is from line \(line.number) of '\(path)'")
      }
    }
    return error
  }
}
