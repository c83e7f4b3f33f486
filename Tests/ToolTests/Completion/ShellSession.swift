import Foundation
import Glibc
import Testing

@testable import TestSupport

/// A shell on its own terminal, with the completions of the programs, in the folder of the fixture.
final class ShellSession {
  private let terminal: Descriptor
  private let process: ToolProcess
  /// The output after the text that was seen last.
  private var bytes: [UInt8] = []
  private let location: SourceLocation

  /// - Parameter shell: bash, zsh or fish.
  init(_ f: ToolFixture, _ shell: String, as user: String, at location: SourceLocation = #_sourceLocation) throws {
    self.location = location
    let home = f.directory + "/home"
    let scripts = "\(repository)/completions/\(shell)"
    let begin = "cd '\(f.directory)'; PS1='ready> '"
    var words = ["setsid", "--ctty", "--wait", shell]
    switch shell {
    case "bash":
      try ". '\(scripts)/dm'; \(begin)\n".write(
        toFile: home + "/rc", atomically: true, encoding: .utf8)
      words += ["--noprofile", "--rcfile", home + "/rc", "-i"]
    case "zsh":
      try "fpath=('\(scripts)' $fpath); autoload -Uz compinit; compinit -D -u; \(begin)\n".write(
        toFile: home + "/.zshrc", atomically: true, encoding: .utf8)
      words += ["-d", "-i"]
    default:
      // Without this folder, fish starts a process that reads all manual pages.
      try FileManager.default.createDirectory(
        atPath: home + "/.local/share/fish/generated_completions", withIntermediateDirectories: true)
      words += [
        "--private", "-i", "-C",
        """
        set fish_complete_path '\(scripts)'; set -g fish_greeting; cd '\(f.directory)'
        function fish_prompt; echo 'ready> '; end
        """,
      ]
    }
    let (main, other) = try Descriptor.terminal()
    terminal = main
    var size = winsize(ws_row: 50, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(main.number, UInt(TIOCSWINSZ), &size)
    var environment = f.environment(as: user)
    environment["TERM"] = "xterm"
    process = try withExtendedLifetime(other) {
      try ToolProcess(
        ToolFixture.executable(words[0]), Array(words.dropFirst()), environment: environment,
        streams: [other.number, other.number, other.number])
    }
    try see("ready> ")
  }

  // The shell ends when its terminal does.
  deinit { process.send(SIGKILL, toGroup: true) }

  /// Types a text; `\t` is the Tab key and `\r` the Enter key.
  func type(_ text: String) throws { try terminal.write(Array(text.utf8)) }

  /// Waits until a text is printed after the text that was seen last.
  func see(_ text: String, within seconds: Double = 60) throws {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while true {
      let plain = String(decoding: bytes, as: UTF8.self).replacing(Self.sequence, with: "")
      if let range = plain.range(of: text) {
        bytes = Array(plain[range.upperBound...].utf8)
        return
      }
      guard terminal.isReadable(within: deadline.timeIntervalSinceNow), let more = terminal.some(), !more.isEmpty else {
        Issue.record("'\(text)' is not on the screen: \(plain)", sourceLocation: location)
        throw SpawnError(description: "not on the screen")
      }
      bytes += more
    }
  }

  /// Escape sequences for cursor moves, colors and window titles (ECMA-48).
  private static var sequence: Regex<Substring> { /\u{1B}\[[0-9;?>=]*[A-Za-z]|\u{1B}\][^\u{07}]*\u{07}|\u{1B}\(B/ }
}
