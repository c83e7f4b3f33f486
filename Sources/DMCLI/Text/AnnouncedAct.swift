package import DMKit

extension Message {
  /// What the sender of an announcement did, such as `added carol`; nil for other messages and unreadable ones.
  ///
  /// - Parameters:
  ///   - title: the subject as text for people, if it is a title.
  ///   - user: the subject as text for people, if it is a user.
  package func act(title: String, user: String) -> String? {
    switch systemKind {
    case nil, .unreadable: nil
    case .conversationCreated: title.isEmpty ? "created the group" : "created the group \(title)"
    case .titleChanged: "changed the title to \(title)"
    case .historyImported: "imported history"
    case .userJoined: "added \(user)"
    case .userLeft: subject == sender.description ? "left" : "removed \(user)"
    }
  }
}
