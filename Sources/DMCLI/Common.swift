package import DMKit

/// The options that every program has; dm(7) explains them.
package enum Common {
  package static let store = Option(
    "store", value: "DIR", "the directory of the store [$DM_STORE, else dm in $XDG_DATA_HOME, else ~/.local/share/dm]")
  package static let user = Option("as", user: "USER", "act as this user [$DM_USER, else the login name]")
  package static let busyTimeout = Option(
    "busy-timeout", value: "TIME", "how long to wait for a busy store [$DM_BUSY_TIMEOUT, else 5s]",
    as: { try timeout($0, of: "--busy-timeout") })
  package static let json = Flag("json", "print JSON lines, even on a terminal")
  package static let text = Flag("text", "print text, even into a pipe")
  package static let quiet = Flag("quiet", short: "q", "print nothing on success")
  package static let noConfig = Flag("no-config", "ignore the configuration file, which dm-config(5) explains")
  package static let plain = Flag("plain", "print text as plain sentences, for screen readers and logs [$DM_PLAIN]")
  package static let color = Option(
    "color", value: "WHEN", oneOf: Screen.Colors.self, "when text is colored: auto, always or never [auto]")
  package static let schema = Flag("schema", "print the JSON Schema of input and output records")
  package static let help = Flag("help", short: "h", "print this help")
  package static let version = Flag("version", "print the version")

  static let all: [any Declared] = [
    store, user, busyTimeout, json, text, plain, color, quiet, noConfig, schema, help, version,
  ]
  static let rules: [Rule] = [.excludes(json, [text, plain])]
}

/// An option of `dm-send`, declared here because it decides how `Program` decodes the words of the command line.
package let lossy = Flag("lossy", "replace NUL and bytes that are not UTF-8 with U+FFFD")

/// An option of the programs that send something to the hub.
package let wait = Flag("wait", "with a hub: wait until the hub has the change, at most 30 seconds")

/// An option of the programs that read data which the hub may have in a newer state.
package let fresh = Option(
  "fresh", value: "TIME",
  "with a hub: how long to wait until the store is up to date; 0 for not at all [$DM_FRESH, else 1s]",
  as: { try freshTime($0, of: "--fresh") })

/// Parses the time that a program waits for the hub before it reads the store.
///
/// - Parameter name: the name of the option or of the environment variable.
/// - Throws: `usage`.
func freshTime(_ text: String, of name: String) throws -> Duration {
  try waitingTime(text, .fresh, "\(name); write 0, 2s or 1m")
}

/// Parses the time that a write waits for the lock of the store.
///
/// - Parameter name: the name of the option or of the environment variable.
/// - Throws: `usage`.
func timeout(_ text: String, of name: String) throws -> Duration {
  try waitingTime(text, .busyTimeout, "\(name); write 0s, 30s or 5m")
}

/// - Throws: `usage`, with the text that the user typed and the forms that the option accepts.
private func waitingTime(_ text: String, _ setting: Setting, _ option: String) throws -> Duration {
  guard let time = setting.duration(of: text) else { throw usage("'\(text)' is not a time for \(option)") }
  return time
}
