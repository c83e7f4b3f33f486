import DMKit
import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// `dm config`, and the table of settings in dm-config(5).
@Suite struct ShownSettingsTests {
  private func fixture(_ lines: String) throws -> (ToolFixture, path: String) {
    let f = try ToolFixture()
    let folder = f.directory + "/config/dm"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(lines.utf8).write(to: URL(filePath: folder + "/config"))
    f.set("XDG_CONFIG_HOME", f.directory + "/config")
    return (f, folder + "/config")
  }

  private func records(_ f: ToolFixture, _ words: String..., status: Int32 = 0) throws -> [JSON] {
    let outcome = try f.run("dm", ["config"] + words, validatedAs: "dm")
    #expect(outcome.status == .exit(status), "\(outcome.stderr)")
    return try outcome.records
  }

  private func line(_ record: JSON) -> String {
    let names = ["program", "name", "value", "origin", "variable"]
    let words = names.map { record[$0]?.string ?? "-" }
    return (words + [record["line"]?.int.map { "\($0)" } ?? "-"]).joined(separator: " ")
  }

  @Test func `each setting is printed once, with its value and where it comes from`() throws {
    let (f, path) = try fixture("user = bob\nfresh = 2s\n[dm-tail]\nuser = clock\nlimit = 50\n")
    f.set("DM_THEME", "dark")
    f.set("NO_COLOR", "1")
    let records = try records(f)
    let lines = records.map(line)
    #expect(records.count { $0["program"] == nil } == Setting.allCases.count)
    let wanted = [
      "- user bob file DM_USER 1", "- fresh 2s file DM_FRESH 2", "- theme dark environment DM_THEME -",
      "- color never environment NO_COLOR -", "- pipe json default DM_PIPE -", "- model - default DM_MODEL -",
      "- store \(f.store) environment DM_STORE -", "dm-tail user clock file DM_USER 4", "dm-tail limit 50 file - 5",
    ]
    for line in wanted { #expect(lines.contains(line), "\(line) is missing in \(lines)") }
    #expect(records.allSatisfy { $0["path"] == nil || $0["path"]?.string == path })
    #expect(try self.records(f, "--no-config").map(line).contains("- fresh 1s default DM_FRESH -"))
    f.set("DM_USER", "alice")
    #expect(try self.records(f).map(line).contains("dm-tail user alice environment DM_USER -"))
  }

  @Test func `as text, the path of the file comes first`() throws {
    let (f, path) = try fixture("user = bob\n")
    let lines = try f.shell("dm config --text").stdout.split(separator: "\n")
    #expect(lines.first.map(String.init) == path)
    #expect(lines.contains { $0.split(separator: " ") == ["user", "bob", "line", "1"] })
    #expect(lines.contains { $0.split(separator: " ") == ["pipe", "json", "default"] })
  }

  @Test func `the setting for pipes counts, and a wrong theme does not hide the values`() throws {
    let (f, _) = try fixture("pipe = text\ntheme = blue\n")
    let outcome = try f.shell("dm config")
    #expect(outcome.stdout.contains("\npipe ") && outcome.stdout.contains("\nmodel "), "\(outcome.stdout)")
    let error = "dm: line 2: 'blue' is not a value of 'theme'; write terminal, light, dark or mono"
    #expect(outcome.stderr.hasPrefix(error), "\(outcome.stderr)")
    #expect(outcome.status == .exit(1))
    f.set("DM_THEME", "red")
    let wrong = try f.shell("dm config")
    #expect(wrong.stdout.contains("\nmodel ") && wrong.stderr.contains("'red' is not a value of DM_THEME"))
  }

  @Test func `wrong lines are reported by number, and the others are printed`() throws {
    let (f, path) = try fixture("usr = x\nuser = bob\npipe = xml\n[dm-send]\nfoo = on\n[dm-nil]\nbar\n")
    let outcome = try f.run("dm", ["config", "--json"], validatedAs: "dm")
    #expect(outcome.status == .exit(1))
    let numbers = try outcome.records.filter { $0["type"]?.string == "error" }.map { $0["line"]?.int }
    #expect(numbers == [1, 3, 5, 6, 7])
    #expect(try outcome.records.map(line).contains("- user bob file DM_USER 2"))
    #expect(outcome.stderr.hasPrefix("dm: line 1: there is no setting 'usr'; did you mean 'user'? (in '\(path)')\n"))
    #expect(outcome.stderr.split(separator: "\n").count == 5, "\(outcome.stderr)")
  }

  @Test func `a wrong variable is an error after the values`() throws {
    let (f, _) = try fixture("user = bob\n")
    f.set("DM_SYNC", "maybe")
    let records = try records(f, status: 64)
    #expect(records.map(line).contains("- user bob file DM_USER 1"))
    #expect(records.count == Setting.allCases.count - 1)
  }

  @Test func `a file that cannot be used is an error after the values`() throws {
    let (f, path) = try fixture("user = bob\n")
    try f.done("chmod", ["666", path])
    #expect(try records(f, status: 64).count == Setting.allCases.count)
  }

  @Test func `dm-config lists each setting with its variables and its words`() throws {
    let page = try String(contentsOfFile: "\(repository)/man/dm-config.5", encoding: .utf8)
    let settings = page.components(separatedBy: ".Sh SETTINGS\n")[1].components(separatedBy: "\n.Sh ")[0]
    let items = settings.components(separatedBy: "\n.It ").dropFirst()
    let names = items.map { String($0.split(separator: "\n")[0].split(separator: " ")[1]) }
    #expect(names == Setting.allCases.map(\.name))
    let overview = try String(contentsOfFile: "\(repository)/man/dm.7", encoding: .utf8)
    for (item, setting) in zip(items, Setting.allCases) {
      for variable in setting.variables {
        #expect(item.contains(".Ev \(variable)"), "\(setting.name) lacks \(variable)")
        #expect(overview.contains(".It Ev \(variable)\n"), "dm(7) lacks \(variable)")
      }
      if case .words(let words) = setting.kind {
        for word in words { #expect(item.contains(".Cm \(word)"), "\(setting.name) lacks \(word)") }
      }
      if setting != .user, setting != .store, let value = try setting.standard {
        #expect(item.contains("The default is\n.Cm \(value)"), "\(setting.name) lacks its default \(value)")
      }
    }
  }

  @Test func `completion offers dm config, and the help of dm lists it`() throws {
    let f = try ToolFixture()
    #expect(try f.done("dm", ["--complete", "fish", "conf"]).stdout.contains("config\t"))
    #expect(try f.done("dm", ["--complete", "fish", "config", "--no"]).stdout.contains("--no-config\t"))
  }
}
