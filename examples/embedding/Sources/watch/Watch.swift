import DMKit

/// Prints the messages of others to a user, and who is typing, until there were COUNT messages.
///
///     swift run watch STORE USER COUNT
@main struct Watch {
  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 4, let count = Int(words[3]) else { fatalError("usage: watch STORE USER COUNT") }
    let store = StoreLocation(directory: words[1], isNamed: true)
    let messenger = Messenger(store, as: Messenger.Identity(try Handle(words[2]), isLoginName: false))

    var query = EventQuery(from: .start)
    query.kinds = [.message, .typing]
    query.othersOnly = true
    var left = count
    for try await event in messenger.events(query) {
      switch event {
      case .message(let message, _):
        print("\(message.sender): \(message.text ?? "")")
        left -= 1
      case .typing(let typing):
        print("typing: \(typing.users.map(\.description).joined(separator: ", "))")
      default:
        break
      }
      if left == 0 { break }
    }
  }
}
