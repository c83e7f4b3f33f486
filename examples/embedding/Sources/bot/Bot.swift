import DMKit

/// Answers each message of others with its number of characters, until it is stopped.
///
///     swift run bot STORE USER
@main struct Bot {
  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 3 else { fatalError("usage: bot STORE USER") }
    let store = StoreLocation(directory: words[1], isNamed: true)
    let messenger = Messenger(store, as: Messenger.Identity(try Handle(words[2]), isLoginName: false))

    var query = EventQuery(from: .start)
    query.kinds = [.message]
    query.othersOnly = true
    for try await event in messenger.events(query) {
      guard case .message(let message, _) = event, let text = message.text else { continue }
      let answer = try Outgoing(
        to: .id(message.conversationID), text: "\(text.count) characters", nonce: "length:\(message.id)")
      do {
        _ = try messenger.send(answer)
      } catch let error as DMError where !error.code.isFatal {
        print("not answered: \(error.message)")
      }
    }
  }
}
