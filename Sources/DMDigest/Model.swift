internal import DMSystem

/// A program that answers prompts: it reads a prompt on standard input and writes the answer to standard output.
package struct Model {
  /// What a model said, or why it said nothing that can be used.
  enum Answer {
    case text([UInt8])
    case fault(String)
  }

  private let command: String
  /// How long an answer may take.
  private let seconds: Int64
  /// The maximum number of bytes of the data in a prompt.
  let dataLimit: Int
  private let onTick: () throws -> Void

  /// The maximum number of bytes of an answer.
  private static let answerLimit = 1 << 20
  /// A token of a model is about this number of bytes in English.
  private static let bytesPerToken = 4
  /// How long an answer may take, and how many tokens of data the model reads at once, unless the user says otherwise.
  package static let usualSeconds: Int64 = 120
  package static let usualTokens = 6000

  /// - Parameters:
  ///   - command: a command for sh(1).
  ///   - tokens: how many tokens of data the model reads at once; a message is never cut.
  ///   - onTick: called about five times a second while the model runs; an error that it throws ends the model.
  package init(
    _ command: String, seconds: Int64 = usualSeconds, tokens: Int = usualTokens, onTick: @escaping () throws -> Void
  ) {
    self.command = command
    self.seconds = seconds
    dataLimit = Self.dataLimit(tokens: tokens)
    self.onTick = onTick
  }

  /// The maximum number of bytes of the data in a prompt for a number of tokens.
  static func dataLimit(tokens: Int) -> Int { tokens * bytesPerToken }

  /// - Throws: the errors of `onTick`.
  func answer(_ prompt: [UInt8]) throws -> Answer {
    // A model may need all memory and processors, and answers in text, so that only time and output have limits.
    let limits = Tool.Limits(
      seconds: seconds, processorSeconds: .max, memory: .max, fileSize: .max, output: Self.answerLimit)
    let tool = Tool(name: "sh", folder: ".", searchPath: Tool.environmentPath, limits: limits, onTick: onTick)
    let outcome = try tool.run(["-c", command], input: prompt)
    switch outcome {
    case .ok(let bytes):
      return bytes.isBlank ? .fault("it wrote nothing") : .text(bytes)
    case .tooLarge: return .fault("its answer is over \(Self.answerLimit >> 20) MiB")
    default: return .fault(outcome.reason ?? "it failed")
    }
  }

  /// Asks until an answer can be used, at most twice.
  ///
  /// - Parameter use: makes a value of an answer, or throws an `UnusableAnswer`.
  func answer<Value>(
    to prompt: Prompt, with lines: [[UInt8]], _ use: ([UInt8]) throws(UnusableAnswer) -> Value
  ) throws -> Result<Value, UnusableAnswer> {
    var fault = UnusableAnswer("")
    for attempt in 0..<2 {
      switch try answer(prompt.text(with: lines, after: attempt == 0 ? nil : fault.reason)) {
      // A second attempt would not help a program that fails.
      case .fault(let reason): return .failure(UnusableAnswer(reason, isOfProgram: true))
      case .text(let bytes):
        do throws(UnusableAnswer) { return .success(try use(bytes)) } catch { fault = error }
      }
    }
    return .failure(fault)
  }
}

/// Why an answer of a model cannot be used, for the user and for the model's second attempt.
package struct UnusableAnswer: Error {
  package let reason: String
  /// Whether the program failed, so that it would fail again with other messages.
  let isOfProgram: Bool

  init(_ reason: String, isOfProgram: Bool = false) { (self.reason, self.isOfProgram) = (reason, isOfProgram) }
}
