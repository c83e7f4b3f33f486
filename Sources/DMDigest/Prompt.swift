internal import DMJSON
internal import DMKit
internal import DMModel

/// The instruction for a model, to which the data is added.
package struct Prompt: Sendable {
  /// The prompts that are in the program, by the names of the files that replace them.
  package enum Name: String, CaseIterable, Sendable {
    case answer, digest, join, translate

    fileprivate var bytes: [UInt8] {
      switch self {
      case .answer: PackageResources.answer_md
      case .digest: PackageResources.digest_md
      case .join: PackageResources.join_md
      case .translate: PackageResources.translate_md
      }
    }
  }

  private let instruction: String

  /// The prompt that is in the program.
  package init(_ name: Name) { self.init(String(decoding: name.bytes, as: UTF8.self)) }

  /// A prompt of the user.
  package init(_ instruction: String) { self.instruction = instruction }

  /// The prompt with words in place of the names between double braces.
  ///
  /// In their order, so that what a later value contains is not replaced.
  package func filled(_ values: KeyValuePairs<String, String>) -> Prompt {
    Prompt(values.reduce(instruction) { $0.replacing(text: "{{\($1.key)}}", with: $1.value) })
  }

  /// The texts that a model would get first: one for each piece of the messages.
  ///
  /// - Parameter tokens: how many tokens of data the model reads at once.
  package func texts(for messages: [DigestMessage], tokens: Int) -> [[UInt8]] {
    messages.pieces(Model.dataLimit(tokens: tokens), \.line).map { text(with: $0.lines) }
  }

  /// The whole text for a model: the instruction, then the data between two lines of three backticks.
  ///
  /// No line of the data can be taken for the end of the data, because each is a JSON object.
  ///
  /// - Parameter fault: why the last answer could not be used; nil for the first attempt.
  func text(with lines: [[UInt8]], after fault: String? = nil) -> [UInt8] {
    var text = instruction.utf8.last == UInt8(ascii: "\n") ? instruction : instruction + "\n"
    if let fault { text += "\nYour last answer could not be used: \(fault). Write only the lines of JSON.\n" }
    return Array("\(text)\n```\n".utf8) + lines.joined() + Array("```\n".utf8)
  }
}

extension DigestMessage {
  /// The message as a line for a model.
  var line: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.member("ref", reference)
      json.member("at", time)
      json.member("from", sender)
      json.member("text", text)
    }
    json.endLine()
    return json.bytes
  }
}

extension DigestPoint {
  /// The point as a line for a model.
  var line: [UInt8] {
    var json = JSONWriter()
    json.line(self)
    return json.bytes
  }
}
