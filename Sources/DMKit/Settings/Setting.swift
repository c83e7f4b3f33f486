internal import DMSystem

/// A setting: a value that the user gives in a variable of the environment or in a line of the configuration file.
///
/// dm-config(5) explains the settings.
package enum Setting: String, CaseIterable, Sendable {
  case user, store, pipe, color, theme, pictures, plain, fresh
  case busyTimeout = "busy-timeout"
  case upgradeCopy = "upgrade-copy"
  case sync, preview, model, embed, notifications, keywords
  case quietHours = "quiet-hours"

  /// What a value must be.
  package enum Kind: Equatable, Sendable {
    case handle, path, duration, command, keywords, hours
    case words([String])
  }

  /// The name in the configuration file.
  package var name: String { rawValue }

  /// The variables of the environment; the first one that is set counts.
  package var variables: [String] {
    switch self {
    case .user: ["DM_USER"]
    case .store: ["DM_STORE"]
    case .pipe: ["DM_PIPE"]
    case .color: ["NO_COLOR", "CLICOLOR_FORCE"]
    case .theme: ["DM_THEME"]
    case .pictures: ["DM_PICTURES"]
    case .plain: ["DM_PLAIN"]
    case .fresh: ["DM_FRESH"]
    case .busyTimeout: ["DM_BUSY_TIMEOUT"]
    case .upgradeCopy: ["DM_UPGRADE_COPY"]
    case .sync: ["DM_SYNC"]
    case .preview: ["DM_PREVIEW"]
    case .model: ["DM_MODEL"]
    case .embed: ["DM_EMBED"]
    case .notifications: ["DM_NOTIFY"]
    case .keywords: ["DM_KEYWORDS"]
    case .quietHours: ["DM_QUIET"]
    }
  }

  package var kind: Kind {
    switch self {
    case .user: .handle
    case .store: .path
    case .pipe: .words(["json", "text"])
    case .color: .words(["auto", "always", "never"])
    case .theme: .words(["terminal", "light", "dark", "mono"])
    case .pictures: .words(["auto", "never", "kitty", "iterm2", "sixel"])
    case .plain, .preview, .upgradeCopy: .words(["on", "off"])
    case .fresh, .busyTimeout: .duration
    case .sync: .words(["on", "off", "wait"])
    case .model, .embed: .command
    case .notifications: .words(["mentions", "all"])
    case .keywords: .keywords
    case .quietHours: .hours
    }
  }

  /// The default value; nil if there is none.
  ///
  /// - Throws: `invalid_utf8` for a variable that the default depends on.
  package var standard: String? {
    get throws(DMError) {
      switch self {
      case .user: Account.name
      case .store: try StoreLocation.unnamed(busyTimeout: .zero)?.directory
      case .pipe: "json"
      case .color, .pictures: "auto"
      case .theme: "terminal"
      case .plain, .preview: "off"
      case .fresh: "1s"
      case .busyTimeout: "5s"
      case .sync, .upgradeCopy: "on"
      case .notifications: "mentions"
      case .model, .embed, .keywords, .quietHours: nil
      }
    }
  }

  /// The time that a text gives, as a value of `fresh` or `busyTimeout`; nil if the text is not valid.
  package func duration(of text: String) -> Duration? {
    let seconds: Int64 = self == .fresh ? 3600 : 366 * 86_400
    guard let length = microseconds(of: self == .fresh && text == "0" ? "0s" : text), length <= seconds * 1_000_000
    else { return nil }
    return .microseconds(length)
  }

  /// What is wrong with a value in the configuration file, as a clause; nil if it is valid.
  func fault(in value: String) -> String? {
    switch kind {
    case .handle:
      do throws(DMError) {
        _ = try Handle(value.without("@"))
        return nil
      } catch {
        return error.message
      }
    case .path:
      if value.utf8.first == UInt8(ascii: "/") || value.utf8.starts(with: "~/".utf8) { return nil }
      return "'\(value)' is not a whole path; begin it with '/' or '~/'"
    case .duration:
      let examples = self == .fresh ? "0, 2s or 1m" : "0s, 30s or 5m"
      return duration(of: value) == nil ? "'\(value)' is not a time for '\(name)'; write \(examples)" : nil
    case .words(let words): return words.contains(value) ? nil : faulty(value, for: "'\(name)'", words)
    case .command: return nil
    case .keywords:
      return NotificationRule.keywords(value).count == value.split(separator: ",").count
        ? nil : "each keyword needs a letter or a digit; write them with commas between them, such as deploy, on call"
    case .hours:
      return QuietHours(value) == nil && !value.isEmpty ? "'\(value)' is not a part of the day; write 22:00-07:00" : nil
    }
  }

  /// The error for a value of a variable that has one of some words, or a certain form.
  func fault(in value: String, ofVariable variable: String) -> DMError? {
    if kind == .keywords || kind == .hours { return fault(in: value).map { DMError(.usage, "\(variable): \($0)") } }
    guard case .words(let words) = kind, !words.contains(value) else { return nil }
    return DMError(.usage, faulty(value, for: variable, words) + ", or leave it out")
  }

  private func faulty(_ value: String, for name: String, _ words: [String]) -> String {
    "'\(value)' is not a value of \(name); write \(words.dropLast().joined(separator: ", ")) or \(words[words.count - 1])"
  }
}
