internal import DMSystem

/// The values of the settings for a program: those of the environment, else those of the configuration file.
package struct Settings: Sendable {
  /// Where a value comes from.
  package enum Origin: Equatable, Sendable {
    case variable(String)
    /// A line of the configuration file, by its number.
    case line(Int)
    case standard
  }

  package let file: SettingsFile?
  private let program: String?

  /// - Parameters:
  ///   - file: nil for the environment alone.
  ///   - program: the program whose section counts; nil for none.
  package init(_ file: SettingsFile? = nil, for program: String? = nil) { (self.file, self.program) = (file, program) }

  /// The value of a setting, and where it comes from; nil if neither the environment nor the file gives it.
  ///
  /// - Parameter usesFile: whether the file counts.
  /// - Throws: `usage` for a value that is not valid; `invalid_utf8` if a variable is not UTF-8.
  package func given(_ setting: Setting, usesFile: Bool = true) throws(DMError) -> (value: String, origin: Origin)? {
    for variable in setting.variables {
      guard let text = try environment(variable), let value = Self.meaning(of: text, in: variable) else { continue }
      if let fault = setting.fault(in: value, ofVariable: variable) { throw fault }
      return (value, .variable(variable))
    }
    guard usesFile, let file, let line = file.line(of: setting, for: program) else { return nil }
    if let fault = file.fault(of: setting, in: line) { throw file.error(fault) }
    return (setting.kind == .path ? try Self.withHome(line.value) : line.value, .line(line.number))
  }

  /// The value of a setting; nil if neither the environment nor the file gives it.
  ///
  /// - Throws: `usage`, `invalid_utf8`.
  package subscript(setting: Setting) -> String? { get throws(DMError) { try given(setting)?.value } }

  /// The name of a setting for an error: the variable, or the name in the configuration file.
  package func spelling(of setting: Setting) throws(DMError) -> String {
    if case .variable(let name) = try given(setting)?.origin { return name }
    return "'\(setting.name)' in the configuration"
  }

  /// The value that a variable gives; nil if it gives none.
  private static func meaning(of text: String, in variable: String) -> String? {
    switch variable {
    case "NO_COLOR": "never"
    case "CLICOLOR_FORCE": text == "0" ? nil : "always"
    case "DM_PLAIN": text == "off" ? text : "on"
    default: text
    }
  }

  private static func withHome(_ path: String) throws(DMError) -> String {
    guard path.utf8.starts(with: "~/".utf8), let home = try homeFolder() else { return path }
    return home + path.dropFirst()
  }
}

extension NotificationRule {
  /// The rule of the settings `notifications`, `keywords` and `quiet-hours`.
  ///
  /// - Throws: `usage`, `invalid_utf8`.
  package init(_ settings: Settings) throws(DMError) {
    self.init()
    takesAll = try settings[.notifications] == "all"
    keywords = try settings[.keywords].map(Self.keywords) ?? []
    quietHours = try settings[.quietHours].flatMap { QuietHours($0) }
  }

  /// Whether a time is in the quiet hours, in the local time zone.
  package func isQuiet(at time: Timestamp) -> Bool {
    let time = LocalTime(time)
    return quietHours?.contains(minute: time.hour * 60 + time.minute) == true
  }
}
