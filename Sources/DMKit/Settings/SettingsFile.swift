internal import DMSystem

/// The configuration file of the user: lines `name = value`, sections in brackets, and comments.
package struct SettingsFile: Sendable {
  /// A line with a value.
  package struct Line: Equatable, Sendable {
    /// The number of the line, from 1.
    package let number: Int
    /// The section that the line is in; nil before the first section.
    package let section: String?
    package let name: String
    package let value: String
  }

  /// What is wrong with a line, as a clause.
  package struct Fault: Equatable, Sendable {
    /// The number of the line, from 1.
    package let number: Int
    package let clause: String

    package init(_ number: Int, _ clause: String) { (self.number, self.clause) = (number, clause) }
  }

  package let path: String
  package private(set) var lines: [Line] = []
  /// The sections, each with the number of its line.
  package private(set) var sections: [(number: Int, name: String)] = []
  /// The lines that are not of any of the forms.
  package private(set) var faults: [Fault] = []

  /// The path of the user's file; nil if there is no home folder.
  ///
  /// - Throws: `invalid_utf8` if a variable is not UTF-8.
  package static func standardPath() throws(DMError) -> String? { try configurationFolder().map { $0 + "/config" } }

  /// Reads the user's file; nil if there is none.
  ///
  /// - Throws: `io_error` if the file cannot be read; `usage` if other users could have written it, or if it is too large.
  package static func ofUser() throws(DMError) -> SettingsFile? {
    guard let path = try standardPath(), let bytes = try contents(of: path) else { return nil }
    return SettingsFile(bytes, path: path)
  }

  package init(_ bytes: [UInt8], path: String) {
    self.path = path
    var section: String?
    var (number, start) = (0, 0)
    // The bytes are not split into slices, because that took 0.1 ms more in a process that had just started.
    while start < bytes.count {
      var end = start
      while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
      number += 1
      let line = Self.trimmed(bytes, start..<end)
      start = end + 1
      if line.isEmpty || bytes[line.lowerBound] == UInt8(ascii: "#") { continue }
      if !Self.isUTF8(bytes, line) {
        faults.append(Fault(number, "the line is not UTF-8; convert the file with iconv"))
      } else if bytes[line.lowerBound] == UInt8(ascii: "[") {
        section = heading(bytes, line, number)
      } else {
        add(bytes, line, number, section)
      }
    }
  }

  /// Adds a section, or the fault of its line, and returns the name of the section.
  private mutating func heading(_ bytes: [UInt8], _ line: Range<Int>, _ number: Int) -> String {
    guard bytes[line.upperBound - 1] == UInt8(ascii: "]") else {
      let text = Self.text(bytes, line)
      faults.append(Fault(number, "'\(text)' has no ']' at its end"))
      // The next lines must not count for the section before this one.
      return text
    }
    let name = Self.text(bytes, line.lowerBound + 1..<line.upperBound - 1)
    sections.append((number, name))
    return name
  }

  /// Adds a line with a value, or its fault.
  private mutating func add(_ bytes: [UInt8], _ line: Range<Int>, _ number: Int, _ section: String?) {
    var equals = line.lowerBound
    while equals < line.upperBound, bytes[equals] != UInt8(ascii: "=") { equals += 1 }
    guard equals < line.upperBound else {
      return faults.append(Fault(number, "'\(Self.text(bytes, line))' has no '='; write 'name = value'"))
    }
    let name = Self.text(bytes, line.lowerBound..<equals)
    let value = Self.text(bytes, equals + 1..<line.upperBound)
    if name.isEmpty { return faults.append(Fault(number, "there is no name before the '='")) }
    if value.isEmpty {
      return faults.append(Fault(number, "'\(name)' has no value; write one, or remove the line"))
    }
    lines.append(Line(number: number, section: section, name: name, value: value))
  }

  /// The error for a fault.
  package func error(_ fault: Fault) -> DMError {
    DMError(.usage, "line \(fault.number) of '\(path)': \(fault.clause)", subject: path)
  }

  /// The line that gives a setting for a program: the last one in its section, else the last one before all sections.
  package func line(of setting: Setting, for program: String?) -> Line? {
    func last(in section: String?) -> Line? { lines.last { $0.section == section && $0.name == setting.name } }
    return last(in: program) ?? last(in: nil)
  }

  /// What is wrong with the value of a setting; nil if it is valid.
  package func fault(of setting: Setting, in line: Line) -> Fault? {
    setting.fault(in: line.value).map { Fault(line.number, $0) }
  }

  // MARK: Bytes

  /// The range without the blanks at its ends.
  private static func trimmed(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, isBlank(bytes[start]) { start += 1 }
    while start < end, isBlank(bytes[end - 1]) { end -= 1 }
    return start..<end
  }

  private static func text(_ bytes: [UInt8], _ range: Range<Int>) -> String {
    String(decoding: bytes[trimmed(bytes, range)], as: UTF8.self)
  }

  private static func isUTF8(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
    for index in range where bytes[index] >= 0x80 { return String(validating: bytes[range], as: UTF8.self) != nil }
    return true
  }

  private static let limit = 64 << 10

  /// The bytes of the file; nil if there is none.
  private static func contents(of path: String) throws(DMError) -> [UInt8]? {
    var isAbsent = false
    do throws(DMError) {
      let file = try OpenFile(path, for: .readingAtOnce) { reason in
        // In the home folder of another account, as after su(1), the file can neither be read nor seen.
        isAbsent = reason.isAbsence || !fileExists(path)
        return fileError(.inputOutput, "read", path, reason)
      }
      return try contents(of: file)
    } catch {
      if isAbsent { return nil }
      throw error
    }
  }

  private static func contents(of file: borrowing OpenFile) throws(DMError) -> [UInt8] {
    let (path, status) = (file.path, try file.status())
    if status.kind == .folder { throw DMError(.usage, "'\(path)' is a folder; it must be a file", subject: path) }
    // A line can name commands that programs run, so nobody else may write one.
    if status.permissions & 0o002 != 0 {
      throw DMError(.usage, "'\(path)' can be written by every user; remove that with 'chmod o-w'", subject: path)
    }
    guard status.isOwn || status.isOfRoot else {
      throw DMError(.usage, "'\(path)' belongs to another user; make it yours with chown", subject: path)
    }
    guard let bytes = file.read(min(status.size, limit) + 1) else { throw fileError(.inputOutput, "read", path) }
    if bytes.count > limit { throw DMError(.usage, "'\(path)' is over 64 KiB; shorten it", subject: path) }
    return bytes
  }
}

/// The folder of the user's configuration: `dm` in `$XDG_CONFIG_HOME`, else in `~/.config` (XDG Base Directory
/// Specification); nil if there is no home folder.
///
/// - Throws: `invalid_utf8` if a variable is not UTF-8.
package func configurationFolder() throws(DMError) -> String? {
  // The specification says to ignore relative paths.
  if let folder = try environment("XDG_CONFIG_HOME"), folder.utf8.first == UInt8(ascii: "/") { return folder + "/dm" }
  return try homeFolder().map { $0 + "/.config/dm" }
}

/// The home folder of the user: `$HOME`, else that of the account, because cron(8) and systemd(1) may not set HOME.
///
/// - Throws: `invalid_utf8` if HOME is not UTF-8.
func homeFolder() throws(DMError) -> String? { try environment("HOME") ?? Account.home }
