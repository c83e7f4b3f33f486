/// Options by their names, until every program declares its options as constants.
extension Declaration: Declared {
  public var declaration: Declaration { self }

  public init(_ long: String?, short: Character? = nil, value: String? = nil, values: Values = .any, _ help: String) {
    self.init(long: long, short: short, value: value, values: values, help: help)
  }
}

extension Arguments {
  public var subcommand: String? { action?.name }

  private func option(_ name: String) -> Declaration? { command.allOptions.first { $0.name == name } }

  public func has(_ name: String) -> Bool { option(name).map { $0.value == nil && isGiven($0) } ?? false }
  public func value(_ name: String) -> String? { all(name).last }
  public func all(_ name: String) -> [String] { option(name).flatMap(texts) ?? [] }
  public func isGiven(_ name: String) -> Bool { option(name).map { isGiven($0) } ?? false }

  public func count(_ name: String, default standard: Int) throws -> Int? {
    guard let text = value(name) else { return standard }
    return try Option(name, short: name.first, count: "N", "").parse(text)
  }

  public func exclude(_ names: String...) throws { try check([.atMostOne(names.compactMap(option))]) }

  public func exclude(_ name: String, beside others: String...) throws {
    for other in others { try exclude(name, other) }
  }

  public func allowOnly(_ names: String...) throws {
    try check([.alone(option(names[0])!, with: names.dropFirst().compactMap(option))])
  }
}

extension Declared {
  public var name: String { declaration.long ?? declaration.short.map(String.init) ?? "" }
  public var long: String? { declaration.long }
}
