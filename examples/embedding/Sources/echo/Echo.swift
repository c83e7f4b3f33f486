import DMKit

/// Echoes each message of others exactly once, even if it is killed at any time and run again.
///
///     swift run echo STORE USER
@main struct Echo {
  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 3 else { fatalError("usage: echo STORE USER") }
    let store = StoreLocation(directory: words[1], isNamed: true)
    let messenger = Messenger(store, as: Messenger.Identity(try Handle(words[2]), isLoginName: false))

    var query = EventQuery(from: .start)
    query.kinds = [.message]
    query.othersOnly = true
    query.consumer = "echo"
    for try await event in messenger.events(query) {
      guard let cursor = event.cursor else { continue }
      var answer: Result<Outgoing, DMError>?
      if case .message(let message, _) = event, let text = message.text {
        let echo = Outgoing.cut("echo: \(text)", to: Outgoing.textLimit)
        answer = .success(try Outgoing(to: .id(message.conversationID), text: echo, nonce: "echo:\(message.id)"))
      }
      let line = ConsumerLine(answer, acknowledges: cursor)
      for result in try messenger.send([line], as: "echo", skipsFailed: true) {
        if case .failure(let error) = result { print("skipped: \(error.message)") }
      }
    }
  }
}
