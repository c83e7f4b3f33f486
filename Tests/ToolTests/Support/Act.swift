import Foundation
import Testing

/// A command, the user who runs it, and a condition that is true after it.
struct Act: Sendable, CustomStringConvertible {
  let program: String
  /// In the arguments, `DIR` stands for the fixture's folder; a scene may replace other words.
  let arguments: [String]
  let user: String
  let input: String?
  /// SQL that returns 1 after the command; nil for a command that changes nothing.
  let done: String?
  /// The exit statuses that the command may have when it is run again.
  let again: Set<Int32>

  init(
    _ program: String, _ arguments: String..., as user: String = "alice", reading input: String? = nil,
    done: String? = nil, again: Set<Int32> = [0]
  ) {
    (self.program, self.arguments, self.user) = (program, arguments, user)
    (self.input, self.done, self.again) = (input, done, again)
  }

  var description: String { "\(program) \(arguments.joined(separator: " "))\(input == nil ? "" : " <lines")" }

  /// Runs the command, with strace(1) if a fault is injected.
  func run(
    _ f: ToolFixture, _ names: [String: String] = [:], injecting fault: (call: String, what: String)? = nil,
    seconds: Double = 30
  ) throws -> Outcome {
    func filled(_ text: String) -> String {
      names.reduce(text.replacing("DIR", with: f.directory)) { $0.replacing($1.key, with: $1.value) }
    }
    let words = arguments.map(filled)
    let stdin = input.map { Input(filled($0)) } ?? .none
    guard let fault else { return try f.run(program, words, as: user, stdin: stdin, seconds: seconds) }
    return try f.run(
      "strace", try f.meddling(fault.call, fault.what, program) + words, as: user, stdin: stdin,
      validatedAs: Contract.isJSON(program, words) ? program : nil, seconds: seconds)
  }
}
