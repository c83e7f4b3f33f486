internal import DMJSON
internal import DMModel
internal import DMStore
internal import DMSystem

/// A program that computes vectors of texts, whose directions are alike if the texts mean something alike.
///
/// The program reads texts on standard input, a line each, and writes for each a line with a JSON array of numbers, in
/// the same order.
public struct EmbeddingProgram: Sendable {
  /// The command for sh(1).
  public let command: String
  private let silence: Int64

  /// - Parameters:
  ///   - command: a command for sh(1).
  ///   - silence: how long the program may write nothing before it is ended.
  public init(_ command: String, silence: Duration = .seconds(120)) {
    self.command = command
    self.silence = max(1_000_000, silence.microseconds)
  }

  /// Why an answer of the program cannot be used.
  struct Fault: Error {
    let reason: String
    /// Whether the lines of the answer may belong to other texts, so that none of them can be used.
    var isMisaligned = false
  }

  /// The maximum number of bytes of a text; the rest of a longer text is left out.
  private static let textLimit = 8192

  /// Computes the vectors of texts.
  ///
  /// - Parameters:
  ///   - onTick: called about five times a second; an error that it throws ends the program.
  ///   - body: gets the number of each text, from 0, and its vector, as soon as the program has written it.
  /// - Throws: `Fault`; the errors of `onTick` and `body`.
  func compute(
    _ texts: [String], onTick: @escaping () throws -> Void, _ body: @escaping (Int, [Float]) throws -> Void
  ) throws {
    var answers = Answers(count: texts.count)
    var heardAt = monotonicMicroseconds()
    let tool = Tool(
      name: "sh", folder: ".", searchPath: Tool.environmentPath,
      limits: Tool.Limits(seconds: .max / 2_000_000, processorSeconds: .max, memory: .max, fileSize: .max)
    ) { [silence] in
      try onTick()
      guard monotonicMicroseconds() - heardAt < silence else {
        throw Fault(reason: "it has written nothing for \(silence / 1_000_000) s")
      }
    }
    let outcome = try tool.run(["-c", command], input: Self.lines(texts)) { bytes in
      heardAt = monotonicMicroseconds()
      try answers.take(bytes, body)
    }
    if let reason = outcome.reason { throw Fault(reason: reason) }
    try answers.end(body)
  }

  /// The texts as lines: each on one line, and cut if it is long.
  private static func lines(_ texts: [String]) -> [UInt8] {
    var lines: [UInt8] = []
    for text in texts {
      var end = text.utf8.index(text.startIndex, offsetBy: textLimit, limitedBy: text.endIndex) ?? text.endIndex
      while end < text.endIndex, end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
      let part = text[..<end]
      lines += part.utf8.contains(where: isSuspect) ? onOneLine(part).utf8.map(\.self) : Array(part.utf8)
      lines.append(0x0A)
    }
    return lines
  }

  /// Whether a byte may begin a character that ends a line: a control, U+0080 to U+00BF, or U+2000 to U+2FFF.
  private static func isSuspect(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F || byte == 0xC2 || byte == 0xE2 }

  /// The text with spaces for all characters at which programs end a line: some do so at more than LF.
  private static func onOneLine(_ text: Substring) -> String {
    let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value || 0x2028...0x2029 ~= scalar.value ? " " : scalar
    }
    return String(String.UnicodeScalarView(scalars))
  }

  /// The answers that the program has written so far.
  private struct Answers {
    let count: Int
    private var splitter = LineSplitter()
    private var answered = 0
    private var dimension: Int?

    init(count: Int) { self.count = count }

    mutating func take(_ bytes: UnsafeRawBufferPointer, _ body: (Int, [Float]) throws -> Void) throws {
      splitter.append(bytes)
      while let line = splitter.next() {
        guard answered < count else { throw Fault(reason: "it wrote more lines than it was given", isMisaligned: true) }
        guard case .whole(let bytes) = line else { throw fault("is over \(LineSplitter.limit >> 20) MiB long") }
        try body(answered, vector(bytes))
        answered += 1
      }
    }

    /// Takes a last line without a line end.
    mutating func end(_ body: (Int, [Float]) throws -> Void) throws {
      if splitter.isUnfinished { try [0x0A].withUnsafeBytes { try take($0, body) } }
      guard answered == count else {
        throw Fault(reason: "it wrote \(answered) lines, and was given \(count)", isMisaligned: true)
      }
    }

    private mutating func vector(_ line: ArraySlice<UInt8>) throws -> [Float] {
      let vector: [Float]
      do {
        vector = try JSONReader.numbers(line)
      } catch {
        throw fault("is not an array of numbers")
      }
      let expected = dimension ?? vector.count
      guard vector.count == expected else { throw fault("has \(vector.count) numbers, and others \(expected)") }
      guard VectorFile.dimensions ~= expected else { throw fault("has fewer than 2 or more than 8192 numbers") }
      dimension = expected
      return vector
    }

    private func fault(_ what: String) -> Fault { Fault(reason: "line \(answered + 1) of its answer \(what)") }
  }
}
