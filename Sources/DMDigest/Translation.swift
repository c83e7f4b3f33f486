package import DMJSON
internal import DMKit
internal import DMModel

/// Texts of messages in another language, by a model.
package struct Translation {
  private let model: Model
  private let prompt: Prompt

  /// - Parameter prompt: the instruction, in which the language is named.
  package init(_ model: Model, _ prompt: Prompt) {
    self.model = model
    self.prompt = prompt
  }

  /// The pieces of the messages that a model is given one after the other.
  ///
  /// - Parameter tokens: how many tokens of data the model reads at once.
  package static func pieces(of messages: [DigestMessage], tokens: Int) -> [Piece<DigestMessage>] {
    messages.pieces(Model.dataLimit(tokens: tokens), \.line)
  }

  /// The translation of each message of a piece, in their order.
  ///
  /// - Throws: `model_failed` if the model gives no translations; the errors of the model's `onTick`.
  package func texts(of piece: Piece<DigestMessage>) throws -> [String] {
    let answer = try model.answer(to: prompt, with: piece.lines) { bytes throws(UnusableAnswer) in
      try Self.texts(of: piece.elements, in: bytes)
    }
    switch answer {
    case .success(let texts): return texts
    case .failure(let fault): throw DMError(.modelFailed, "the model gave no translation: \(fault.reason)")
    }
  }

  /// The texts of an answer that has one object for each message, in any order.
  private static func texts(of messages: [DigestMessage], in bytes: [UInt8]) throws(UnusableAnswer) -> [String] {
    var texts: [ExactString: String] = [:]
    for object in try AnswerLines(bytes).objects {
      texts[ExactString(try object.required("ref"))] = try object.required("text")
    }
    var found: [String] = []
    for (index, message) in messages.enumerated() {
      guard let text = texts[ExactString(message.reference)] else {
        throw UnusableAnswer("there is no object for message \(index + 1)")
      }
      found.append(text)
    }
    return found
  }
}

/// A message with its text in another language.
package struct Translated: Record {
  package let message: DigestMessage
  package let text: String
  private let language: String

  /// - Parameters:
  ///   - text: the text in the other language.
  ///   - language: the name of the language, as the user wrote it.
  package init(_ message: DigestMessage, _ text: String, _ language: String) {
    self.message = message
    self.text = text
    self.language = language
  }

  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "translation")
      json.member("id", message.id)
      json.member("ref", message.reference)
      json.member("sender", message.sender)
      json.member("text", text)
      json.member("language", language)
      json.member("created_at", message.time)
    }
  }
}
