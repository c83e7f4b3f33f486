internal import DMCLI
internal import DMDigest
internal import DMKit

/// A question to a model, which answers from the messages that are most like the question.
struct Asking {
  private let call: Invocation
  private let messenger: Messenger
  private let command: String

  /// - Throws: an error of usage without a model.
  init(_ call: Invocation, _ messenger: Messenger) throws {
    (self.call, self.messenger) = (call, messenger)
    guard let command = try call.program(DMSearch.model, or: .model) else {
      throw usage("'--answer' needs a model; give --model COMMAND, or set DM_MODEL")
    }
    self.command = command
  }

  /// The maximum number of characters of a message that the model gets.
  private static let longest = 1000

  /// Prints the answer; if the model gives none that can be used, `otherwise` prints the messages.
  func answer(_ question: String, from found: [Message], otherwise: () throws -> Void) throws {
    let messages = try surroundings(of: found)
    let user = messenger.identity.handle.description
    let prompt = Answer.prompt(question, for: user)
    let result = try Interruption.heeded(Progress(call)) { step in
      let model = Model(command) { try step("asking the model") }
      return try Answer.ask(model, prompt, question, from: messages)
    }
    switch result {
    case .success(let answer): try call.print(answer) { Self.text($0) }
    case .failure(let fault):
      try call.output.flush()
      let reason = visible(fault.reason)
      printError(
        call.command.name, "the model failed: \(reason); printing the messages that are most like the question")
      try otherwise()
    }
  }

  /// The messages with the two before and the two after each, because an answer is often beside its words.
  private func surroundings(of found: [Message]) throws -> [DigestMessage] {
    var messages: [DigestMessage] = []
    var seen: Set<Identifier> = []
    for message in found {
      var around = [message]
      if let seq = message.seq {
        var query = HistoryQuery(.id(message.conversationID))
        query.ranges = [RangeReference(from: max(1, seq - 2), to: seq + 2)]
        around = try messenger.history(query).next()
      }
      for message in around where seen.insert(message.id).inserted {
        var message = message
        // A single long message must not take the room of all others.
        message.text = message.text.map { String($0.prefix(Self.longest)) }
        if let message = DigestMessage(message) { messages.append(message) }
      }
    }
    return messages
  }

  private static func text(_ answer: Answer) -> String {
    guard let text = answer.text else { return "not in your messages" }
    return visible(text, indent: "") + "\n" + Mark.faint(visible(answer.references.joined(separator: " ")))
  }
}
