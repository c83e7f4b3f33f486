internal import DMCLI
internal import DMKit

/// The action `dm config`: prints each setting with its value, and where the value comes from.
///
/// It prints what it can even if the configuration file is wrong.
struct ShownSettings {
  private let call: Invocation
  private let file: SettingsFile?

  static func print(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    var fault: DMError?
    do {
      try call.configure(isLenient: true)
    } catch let error as DMError {
      if !isReported(error, call.settings.file) { fault = error }
    }
    let shown = ShownSettings(call: call, file: call.settings.file)
    try shown.printPath(isAbsent: fault == nil)
    for record in shown.records(&fault) { try shown.print(record) }
    try shown.reportFaults()
    if let fault { throw fault }
  }

  /// Whether the error is about a line of the file, which `reportFaults` reports.
  private static func isReported(_ error: DMError, _ file: SettingsFile?) -> Bool {
    file != nil && error.subject == file?.path
  }

  // MARK: Values

  /// The settings for all programs, and what each section has.
  ///
  /// - Parameter fault: gets the first error of a variable that is wrong.
  private func records(_ fault: inout DMError?) -> [SettingRecord] {
    var records: [SettingRecord] = []
    func add(_ setting: Setting, for program: String?) {
      do throws(DMError) {
        records.append(try record(of: setting, for: program))
      } catch {
        if !Self.isReported(error, file) { fault = fault ?? error }
      }
    }
    for setting in Setting.allCases { add(setting, for: nil) }
    for line in file?.lines ?? [] where line.section.map(SettingsFile.programs.contains) == true {
      if let setting = Setting(rawValue: line.name) {
        if file?.line(of: setting, for: line.section) == line { add(setting, for: line.section) }
      } else {
        records.append(
          SettingRecord(
            program: line.section, name: line.name, value: line.value, origin: .line(line.number), path: file?.path))
      }
    }
    return records
  }

  private func record(of setting: Setting, for program: String?) throws(DMError) -> SettingRecord {
    let given = try Settings(file, for: program).given(setting)
    let standard = given == nil ? try setting.standard : nil
    return SettingRecord(
      program: program, name: setting.name, value: given?.value ?? standard,
      origin: given?.origin ?? .standard, variable: setting.variables[0], path: file?.path)
  }

  /// Reports each line of the file that is wrong.
  private func reportFaults() throws {
    guard let file else { return }
    for fault in file.faults(for: Programs.all.map { $0.program.command }) {
      try call.fail(line: fault.number, DMError(.usage, "\(fault.clause) (in '\(file.path)')", subject: file.path))
    }
  }

  // MARK: Text

  private func printPath(isAbsent: Bool) throws {
    guard !call.isJSON, !call.isQuiet else { return }
    if let file {
      try call.output.write(visible(file.path) + "\n")
    } else if isAbsent, let path = try SettingsFile.standardPath(), !call.arguments[Common.noConfig] {
      try call.output.write("there is no '\(visible(path))'\n")
    }
  }

  /// Prints a record, as text without colors: a wrong theme must not hide the other values.
  private func print(_ record: SettingRecord) throws {
    if call.isQuiet { return }
    if call.isJSON { return try call.output.write(record) }
    let name = record.program.map { "\($0) \(record.name)" } ?? record.name
    let origin =
      switch record.origin {
      case .variable(let name): name
      case .line(let number): "line \(number)"
      case .standard: "default"
      }
    let value = visible(record.value ?? "-", indent: "")
    try call.output.write("\(Self.padded(name, 21)) \(Self.padded(value, 29)) \(origin)\n")
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
