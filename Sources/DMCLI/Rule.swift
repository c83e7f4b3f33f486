/// A rule about which options can be used together; a program lists its rules in its `Command`.
package enum Rule: Sendable {
  /// The first option cannot be used together with any of the other options.
  case excludes(any Declared, [any Declared])
  case atMostOne([any Declared])
  /// The first option needs at least one of the other options.
  case needs(any Declared, [any Declared])
  /// The option cannot be used together with other options of the program, except with these.
  ///
  /// The options of `Common` are always allowed.
  case alone(any Declared, with: [any Declared])
}

extension Arguments {
  /// - Throws: `usage` for the first rule that the command line breaks.
  package func check(_ rules: [Rule]) throws {
    for rule in rules {
      switch rule {
      case .excludes(let option, let others):
        if isGiven(option) { try refuse(others) { "'\(option.declaration.spelling)' and '\($0)' exclude each other" } }
      case .atMostOne(let options):
        let given = options.filter(isGiven).map(\.declaration.spelling)
        if given.count > 1 { throw usage("'\(given[0])' and '\(given[1])' exclude each other") }
      case .needs(let option, let others):
        if others.contains(where: isGiven) { continue }
        let needed = others.map { $0.declaration.call }
        try refuse([option]) { "'\($0)' needs \(either(needed))" }
      case .alone(let option, let others):
        guard isGiven(option) else { continue }
        try refuseOwn(except: [option] + others) { "'\($0)' does not go with '\(option.declaration.spelling)'" }
      }
    }
  }

  /// Options that the configuration file gives are not refused.
  ///
  /// - Parameter reason: makes the error text from the option's spelling.
  /// - Throws: `usage` when one of the options was given.
  package func refuse(_ options: [any Declared], _ reason: (String) -> String) throws {
    let refused = options.first { isGiven($0) && !defaults.contains($0.declaration.name) }
    if let option = refused { throw usage(reason(option.declaration.spelling)) }
  }

  /// - Throws: `usage` when an option of the program was given that is neither allowed nor in `Common`.
  package func refuseOwn(except allowed: [any Declared], _ reason: (String) -> String) throws {
    try refuse(
      command.options.filter { own in !allowed.contains { $0.declaration.name == own.declaration.name } }, reason)
  }
}
