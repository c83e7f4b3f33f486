package import DMJSON

/// A value in effect: of a setting, or of an option that a section of the configuration file gives.
package struct SettingRecord: Equatable, Sendable, Record {
  /// The program whose section has the value; nil for a value that counts for all programs.
  package let program: String?
  package let name: String
  package let value: String?
  package let origin: Settings.Origin
  /// The variable that gives the value, or that would have precedence over it; nil for an option.
  package let variable: String?
  /// The path of the configuration file; nil if the value does not come from it.
  package let path: String?

  package init(
    program: String? = nil, name: String, value: String?, origin: Settings.Origin, variable: String? = nil,
    path: String? = nil
  ) {
    (self.program, self.name, self.value, self.origin) = (program, name, value, origin)
    if case .variable(let name) = origin { self.variable = name } else { self.variable = variable }
    if case .line = origin { self.path = path } else { self.path = nil }
  }

  private enum Source: String, CaseIterable { case environment, file, standard = "default" }

  static let schema = RecordSchema(
    "setting",
    [
      .init("program", .string, optional: true), .init("name", .string), .init("value", .string, optional: true),
      .init("origin", .words(Source.allCases.map(\.rawValue))), .init("variable", .string, optional: true),
      .init("path", .string, optional: true), .init("line", .integer, optional: true),
    ])

  package func write(to json: inout JSONWriter) {
    let (source, line): (Source, Int?) =
      switch origin {
      case .variable: (.environment, nil)
      case .line(let number): (.file, number)
      case .standard: (.standard, nil)
      }
    json.object { json in
      json.member("type", "setting")
      json.member("program", program)
      json.member("name", name)
      json.member("value", value)
      json.member("origin", source.rawValue)
      json.member("variable", variable)
      json.member("path", path)
      json.member("line", line)
    }
  }
}
