internal import DMCLI
internal import DMDigest
internal import DMKit

/// The messages of a digest: those that the command line chooses, or the lines of standard input.
struct Reading {
  let messages: [DigestMessage]
  /// Whether the messages are lines of standard input, not messages of the store.
  let isInput: Bool

  /// Reads the messages; reports lines that cannot be read.
  init(_ call: Invocation) throws {
    let choices: [any Declared] = [
      DMDigestProgram.since, DMDigestProgram.before, DMDigestProgram.unread, DMDigestProgram.unmuted,
    ]
    let (arguments, isTyped) = (call.arguments, isTerminal(.input))
    isInput = arguments.operands.isEmpty && !choices.contains(where: arguments.isGiven) && !isTyped
    messages = try isInput ? Self.lines(call) : Self.history(call)
  }

  private static func lines(_ call: Invocation) throws -> [DigestMessage] {
    var input = LineInput()
    var messages: [DigestMessage] = []
    while let batch = try input.batch({ line, _ in try DigestMessage(line: line) }) {
      for (line, content) in batch {
        switch content {
        case .success(let message): if let message { messages.append(message) }
        case .failure(let error): try call.fail(line: line, error)
        }
      }
    }
    return messages
  }

  private static func history(_ call: Invocation) throws -> [DigestMessage] {
    let arguments = call.arguments
    let (conversations, ranges) = try arguments.conversationsAndRanges(arguments.operands)
    var query = HistoryQuery()
    (query.conversations, query.ranges) = (conversations, ranges)
    query.since = try arguments[DMDigestProgram.since]
    query.before = try arguments[DMDigestProgram.before]
    query.unreadOnly =
      arguments[DMDigestProgram.unread] || ranges == nil && query.since == nil && query.before == nil
    query.unmutedOnly = arguments[DMDigestProgram.unmuted]
    query.limit = nil
    let messenger = try call.messenger()
    try call.refresh()
    let history = try messenger.history(query)
    var messages: [DigestMessage] = []
    while case let batch = try history.next(), !batch.isEmpty { messages += batch.compactMap(DigestMessage.init) }
    return messages
  }

  /// The handle of the user who gets the digest: the sender of their own lines, else the user who acts.
  ///
  /// - Throws: `bad_handle`.
  func user(_ call: Invocation) throws -> Handle {
    let sender = messages.first(where: \.isMine)?.sender
    return try sender.map { try Handle($0) } ?? call.messenger().identity.handle
  }

  /// Says why there is nothing to read.
  func noteEmpty(_ call: Invocation) throws {
    if isInput { return try call.note("standard input has no message") }
    let isChosen = [DMDigestProgram.since, DMDigestProgram.before].contains(where: call.arguments.isGiven)
    try call.note(
      isChosen ? "there are no messages there" : "nothing is unread; '--since yesterday' reads what is read")
  }
}
