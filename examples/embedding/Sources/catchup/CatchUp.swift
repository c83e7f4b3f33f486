import DMKit

/// Prints the unread messages of a user, and marks exactly these as read.
///
///     swift run catchup STORE USER
@main struct CatchUp {
  static func main() throws {
    let words = CommandLine.arguments
    guard words.count == 3 else { fatalError("usage: catchup STORE USER") }
    let store = StoreLocation(directory: words[1], isNamed: true)
    let messenger = Messenger(store, as: Messenger.Identity(try Handle(words[2]), isLoginName: false))

    var list = ListQuery()
    list.unreadOnly = true
    list.limit = nil
    for conversation in try messenger.conversations(list) {
      let reference = ConversationReference.id(conversation.id)
      var query = HistoryQuery(reference)
      query.unreadOnly = true
      query.limit = nil
      let history = try messenger.history(query)
      while case let batch = try history.next(), !batch.isEmpty {
        for message in batch { print("\(message.reference) \(message.sender): \(message.text ?? "")") }
        let printed = batch.map { RangeReference(from: $0.seq, to: $0.seq) }
        guard let marked = try messenger.markRead(.ranges(printed), in: reference) else { continue }
        print("\(conversation.name): marked \(marked.count), \(marked.unreadCount) left")
      }
    }
  }
}
