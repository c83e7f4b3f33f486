import Foundation
import Testing

/// A command, who runs it, and what is so once it is done.
struct Act: Sendable, CustomStringConvertible {
  let program: String
  /// `DIR` in them is the fixture's folder; a scene may have other names.
  let arguments: [String]
  let user: String
  let input: String?
  /// SQL that gives 1 once it is done; nil for what changes nothing.
  let done: String?
  /// How it may end when it was done before.
  let again: Set<Int32>

  init(
    _ program: String, _ arguments: String..., as user: String = "alice", reading input: String? = nil,
    done: String? = nil, again: Set<Int32> = [0]
  ) {
    (self.program, self.arguments, self.user) = (program, arguments, user)
    (self.input, self.done, self.again) = (input, done, again)
  }

  var description: String { "\(program) \(arguments.joined(separator: " "))\(input == nil ? "" : " <lines")" }

  /// Runs it, under strace(1) when something is to be injected.
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
