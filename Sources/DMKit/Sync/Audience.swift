internal import DMStore

/// Who was in a group when its messages were said, as its announcements tell.
struct Audience {
  /// The members now.
  let now: [Handle]
  /// The newest first.
  private let comings: [(seq: Int, handle: Handle, isComing: Bool)]

  init(_ store: Store, _ conversation: ConversationKey) throws {
    now = try store.members.participantKeys(of: conversation).map(store.users.handle)
    comings = try store.messages.comings(in: conversation)
  }

  /// The members when a message was said.
  func members(at seq: Int) -> [Handle] {
    var members = Set(now)
    for coming in comings {
      if coming.seq <= seq { break }
      if coming.isComing { members.remove(coming.handle) } else { members.insert(coming.handle) }
    }
    return members.sorted()
  }
}
