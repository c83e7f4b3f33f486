package import DMStore

extension Outbox.Act {
  /// The name of the operation in the protocol.
  package var word: String {
    switch self {
    case .say: "say"
    case .edit: "edit"
    case .delete: "delete"
    case .react: "react"
    case .read: "read"
    case .delivered: "delivered"
    case .begin: "begin"
    case .group: "group"
    case .add: "add"
    case .remove: "remove"
    case .leave: "leave"
    case .title: "title"
    case .avatar: "avatar"
    case .expire: "expire"
    case .profile: "profile"
    }
  }
}
