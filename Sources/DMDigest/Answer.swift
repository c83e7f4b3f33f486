package import DMJSON
internal import DMKit
internal import DMModel

/// An answer of a model to a question, from messages.
package struct Answer: Record {
  package let question: String
  /// The answer; nil if the messages do not answer the question.
  package let text: String?
  /// The references of the messages that the answer rests on; at least one if there is an answer.
  package let references: [String]

  /// The instruction for a question, which stands in it as a string of JSON: a question of another person may contain
  /// line ends and instructions.
  package static func prompt(_ question: String, for user: String) -> Prompt {
    var json = JSONWriter()
    json.value(question)
    let quoted = String(decoding: json.bytes, as: UTF8.self)
    return Prompt(.answer).filled(["user": user, "question": quoted])
  }

  /// Asks a model.
  ///
  /// References that no message has are left out, and an answer that rests on no message is asked for once more.
  ///
  /// - Parameters:
  ///   - prompt: the instruction, in which the question is named.
  ///   - messages: what the answer may rest on; as many as fit into a prompt are used.
  /// - Throws: the errors with which the model's `onTick` ends it.
  package static func ask(
    _ model: Model, _ prompt: Prompt, _ question: String, from messages: [DigestMessage]
  ) throws -> Result<Answer, UnusableAnswer> {
    guard let piece = messages.pieces(model.dataLimit, \.line).first else {
      return .success(Answer(question: question, text: nil, references: []))
    }
    let known = Set(piece.elements.map { ExactString($0.reference) })
    return try model.answer(to: prompt, with: piece.lines) { bytes throws(UnusableAnswer) in
      try Answer(question, bytes, known)
    }
  }

  init(question: String, text: String?, references: [String]) {
    (self.question, self.text, self.references) = (question, text, references)
  }

  private init(_ question: String, _ bytes: [UInt8], _ known: Set<ExactString>) throws(UnusableAnswer) {
    let objects = try AnswerLines(bytes).objects
    guard objects.count == 1 else { throw UnusableAnswer("it has \(objects.count) objects, and not one") }
    guard let text = try objects[0].optional("text") else {
      self.init(question: question, text: nil, references: [])
      return
    }
    if text.allSatisfy(\.isWhitespace) { throw UnusableAnswer("its text is blank") }
    var seen: Set<ExactString> = []
    let references = try objects[0].list("refs").filter {
      known.contains(ExactString($0)) && seen.insert(ExactString($0)).inserted
    }
    guard !references.isEmpty else { throw UnusableAnswer("no 'refs' of the answer is that of a message") }
    self.init(question: question, text: text, references: references)
  }

  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "answer")
      json.member("question", question)
      json.member("text", text)
      json.member("refs", texts: references)
    }
  }
}
