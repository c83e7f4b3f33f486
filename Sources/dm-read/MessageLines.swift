internal import DMCLI
internal import DMKit

extension DMRead {
  /// Marks exactly the messages whose lines come in; other lines are ignored.
  ///
  /// Prints one `marked` record for each conversation of a batch.
  static func readLines(_ call: Invocation, _ messenger: Messenger, _ options: Messenger.MarkOptions) throws {
    var input = LineInput()
    while let batch = try input.batch({ line, _ in try Messenger.MarkedMessage(line: line) }) {
      var lines: [Int] = []
      var messages: [Messenger.MarkedMessage] = []
      for case (let line, .success(let message?)) in batch {
        lines.append(line)
        messages.append(message)
      }
      let (marked, errors) = messages.isEmpty ? ([], [:]) : try messenger.markRead(messages, options)
      var faults: [(line: Int, error: DMError)] = errors.map { (lines[$0.key], $0.value) }
      for case (let line, .failure(let error)) in batch { faults.append((line, error)) }
      for fault in faults.sorted(by: { $0.line < $1.line }) { try call.fail(line: fault.line, fault.error) }
      for marked in marked { try print(marked, call) }
      try call.output.flush()
    }
  }
}
