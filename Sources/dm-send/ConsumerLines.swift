internal import DMCLI
internal import DMKit

extension ConsumerLine {
  fileprivate var nonce: String? { if case .success(let outgoing)? = outgoing { outgoing.nonce } else { nil } }
}

extension DMSend {
  /// Sends lines that acknowledge; skips lines that can never succeed, or ends at the first of them.
  static func sendLines(_ call: Invocation, _ messenger: Messenger, as consumer: String) throws {
    let skipsFailed = !call.arguments[stopAtFailed]
    var skippedCount = 0
    try call.answerLines(
      { line, _ in try ConsumerLine(line: line) }, replacing: { ConsumerLine(.failure($0), acknowledges: nil) },
      nonce: { $0.nonce }, stopsAtFault: !skipsFailed
    ) {
      let results = try messenger.send($0, as: consumer, skipsFailed: skipsFailed)
      for case .failure(let error) in results where error.code != .unfinishedLine { skippedCount += 1 }
      return results
    } print: { result, line in
      switch result {
      case .message(let message):
        try call.print(call.settled(message), line: line) { answer($0, $0.conversationID.description) }
      case .acknowledged(let acknowledgement): try call.print(acknowledgement) { "\($0.consumer)  \($0.cursor)" }
      }
    }
    if skipsFailed, skippedCount > 0 {
      printError(command.name, "skipped \(skippedCount) \(skippedCount == 1 ? "line" : "lines") that can never succeed")
    }
  }
}
