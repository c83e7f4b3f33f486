import Testing

@testable import DMKit
@testable import DMModel

/// The lines of the configuration file.
@Suite struct SettingsFileTests {
  private func file(_ text: String) -> SettingsFile { SettingsFile(Array(text.utf8), path: "/config") }

  @Test func `a line has a name and a value, without the blanks around them`() {
    let lines = file("user=bob\n\t pipe \t=\ttext \r\n\nmodel = llm -m 'a = b' # c\n").lines
    #expect(lines.map(\.number) == [1, 2, 4])
    #expect(lines.map(\.name) == ["user", "pipe", "model"])
    #expect(lines.map(\.value) == ["bob", "text", "llm -m 'a = b' # c"])
  }

  @Test func `a line that begins with # is a comment`() {
    #expect(file("# user = bob\n  # [dm-tail\n#").lines.isEmpty && file("#\n # x\n").faults.isEmpty)
    #expect(file("").lines.isEmpty && file("\n\n \t\r\n").faults.isEmpty)
  }

  @Test func `lines after a heading belong to its section`() {
    let made = file("user = a\n[dm-tail]\nlimit = 5\n [ dm-send ] \nuser = b\n[dm-tail]\nuser = c")
    #expect(made.lines.map(\.section) == [nil, "dm-tail", "dm-send", "dm-tail"])
    #expect(made.sections.map(\.name) == ["dm-tail", "dm-send", "dm-tail"])
    #expect(made.sections.map(\.number) == [2, 4, 6])
  }

  @Test(arguments: [
    ("user", "'user' has no '='; write 'name = value'"), ("= x", "there is no name before the '='"),
    ("user =", "'user' has no value; write one, or remove the line"), ("[dm-tail", "'[dm-tail' has no ']' at its end"),
  ])
  func `a line of another form is a fault with its number`(row: (line: String, clause: String)) {
    let made = file("# first\n\(row.line)\nuser = bob\n")
    #expect(made.faults == [SettingsFile.Fault(2, row.clause)])
    #expect(made.lines.count == 1)
    let error = made.error(made.faults[0])
    #expect(error.message == "line 2 of '/config': \(row.clause)" && error.code == .usage)
  }

  @Test func `a line that is not UTF-8 is a fault`() {
    let made = SettingsFile(Array("user = ".utf8) + [0xFF, 0x0A] + Array("pipe = text".utf8), path: "/config")
    #expect(made.faults.map(\.number) == [1] && made.lines.map(\.name) == ["pipe"])
  }

  @Test func `the lines after a wrong heading do not belong to the section before it`() {
    #expect(file("[dm-tail]\n[dm-send\nuser = x").lines[0].section == "[dm-send")
  }

  @Test func `the last line of a section counts, else the last line before all sections`() {
    let made = file("user = a\nuser = b\n[dm-tail]\nuser = c\nuser = d\n")
    #expect(made.line(of: .user, for: "dm-tail")?.value == "d")
    #expect(made.line(of: .user, for: "dm-send")?.value == "b")
    #expect(made.line(of: .user, for: nil)?.value == "b")
    #expect(made.line(of: .store, for: "dm-tail") == nil)
  }

  static let values: [(setting: Setting, valid: [String], wrong: [String])] = [
    (.user, ["bob", "@bob"], ["two words", "@"]), (.store, ["/srv/dm", "~/dm"], ["dm", "./dm", "~bob/dm"]),
    (.pipe, ["json", "text"], ["xml", "JSON"]), (.color, ["auto", "always", "never"], ["yes"]),
    (.theme, ["terminal", "light", "dark", "mono"], ["blue"]), (.plain, ["on", "off"], ["yes"]),
    (.pictures, ["auto", "never", "kitty", "iterm2", "sixel"], ["on"]),
    (.fresh, ["0", "2s", "1h"], ["2", "2h", "soon"]), (.busyTimeout, ["0s", "5m", "366d"], ["5", "367d"]),
    (.upgradeCopy, ["on", "off"], ["2"]), (.sync, ["on", "off", "wait"], ["never"]), (.preview, ["on", "off"], ["1"]),
    (.model, ["llm -m x"], []), (.embed, ["vectors"], []), (.notifications, ["mentions", "all"], ["none"]),
    (.keywords, ["deploy", "on call, über", ""], ["deploy, 👍", " - "]),
    (.quietHours, ["22:00-07:00", "9:00-9:30", ""], ["22-7", "9:00", "9:00-9:00", "24:00-07:00", "9:60-10:00"]),
  ]

  @Test(arguments: values.map(\.setting))
  func `each setting accepts its values and refuses others`(setting: Setting) throws {
    let row = try #require(Self.values.first { $0.setting == setting })
    for value in row.valid { #expect(setting.fault(in: value) == nil, "\(value)") }
    for value in row.wrong { #expect(setting.fault(in: value) != nil, "\(value)") }
    #expect(Set(Self.values.map(\.setting)) == Set(Setting.allCases))
  }

  @Test func `the default of each setting is a valid value`() throws {
    for setting in Setting.allCases {
      if let value = try setting.standard { #expect(setting.fault(in: value) == nil, "\(setting.name)") }
    }
  }
}
