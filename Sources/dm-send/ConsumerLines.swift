internal import DMCLI
internal import DMKit

extension DMSend {
  /// The first line that fails is the last that is looked at, so that no acknowledgement leaps over it.
  static func sendLines(_ call: Invocation, _ messenger: Messenger, as consumer: String) throws {
    let skipsFailed = call.arguments.has("skip-failed")
    try call.answerLines(
      { try ConsumerLine(line: $0) }, replacing: { ConsumerLine(.failure($0), acknowledges: nil) },
      stopsAtFault: !skipsFailed
    ) {
      try messenger.send($0, as: consumer, skipsFailed: skipsFailed)
    } print: { result in
      switch result {
      case .message(let message): try call.print(message) { answer($0, $0.conversationID.description) }
      case .acknowledged(let acknowledgement): try call.print(acknowledgement) { "\($0.consumer)  \($0.cursor)" }
      }
    }
  }
}
