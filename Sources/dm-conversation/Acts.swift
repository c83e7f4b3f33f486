internal import DMCLI
internal import DMKit

extension DMConversation {
  /// Does what the words say, and returns the conversations that it changed.
  static func act(_ arguments: Arguments, _ messenger: Messenger) throws -> [Conversation] {
    if let change = try ownChange(arguments) {
      _ = try arguments.operand(0, "CONVERSATION")
      if case .muted = change, let last = arguments.operands.dropFirst().last, microseconds(of: last) != nil {
        throw usage("'\(last)' is a time; write --for \(last)")
      }
      return try messenger.change(change, in: arguments.operands.map(ConversationReference.init))
    }
    if arguments.subcommand == "create" { return [try create(arguments, messenger)] }
    let conversation = try ConversationReference(arguments.operand(0, "CONVERSATION"))
    let others = arguments.operands.dropFirst()
    let users = others.map { $0.without("@") }
    switch arguments.subcommand {
    case "add":
      _ = try arguments.operand(1, "USER")
      return try messenger.add(users, to: conversation, withHistory: arguments.has("with-history")).map { [$0] } ?? []
    case "remove":
      _ = try arguments.operand(1, "USER")
      return try messenger.remove(users, from: conversation).map { [$0] } ?? []
    case "draft":
      return try draft(others.joined(separator: " "), arguments, messenger, conversation)
    case "show", "leave":
      try arguments.atMost(1)
      if arguments.subcommand == "show" { return [try messenger.conversation(conversation)] }
      return try messenger.leave(conversation).map { [$0] } ?? []
    case let act:
      try arguments.atMost(2)
      let names = ["title": "TITLE", "name": "NAME", "avatar": "URL"]
      let value = try arguments.operand(1, act.flatMap { names[$0] } ?? "TIME")
      if act == "name" {
        let name = value.without("+")
        return try messenger.change(.named(name.isEmpty ? nil : name), in: [conversation])
      }
      let changed =
        switch act {
        // As in a reference: '+ops' is the group titled ops.
        case "title": try messenger.setTitle(value.without("+"), of: conversation)
        case "avatar": try messenger.setAvatar(value.isEmpty ? nil : value, of: conversation)
        default: try messenger.setExpiry(value == "off" ? nil : duration(value), of: conversation)
        }
      return changed.map { [$0] } ?? []
    }
  }

  static func ownChange(_ arguments: Arguments) throws -> OwnChange? {
    switch arguments.subcommand {
    case "pin": .pinned(true)
    case "unpin": .pinned(false)
    case "archive": .archived(true)
    case "unarchive": .archived(false)
    case "mute": .muted(for: try arguments.value("for").map(duration))
    case "unmute": .unmuted
    case "delete": .deleted
    default: nil
    }
  }

  static func create(_ arguments: Arguments, _ messenger: Messenger) throws -> Conversation {
    let users = arguments.operands.map { $0.without("@") }
    if let title = arguments.value("title") {
      return try messenger.createGroup(
        titled: title.without("+"), with: users, ifAbsent: arguments.has("if-absent"))
    }
    if users.isEmpty { throw usage("USER or --title is missing; see --help") }
    return try messenger.createConversation(with: users, ifAbsent: arguments.has("if-absent"))
  }

  static func draft(
    _ text: String, _ arguments: Arguments, _ messenger: Messenger, _ conversation: ConversationReference
  ) throws -> [Conversation] {
    if arguments.has("clear") {
      try arguments.atMost(1)
      return try messenger.change(.draft(nil), in: [conversation])
    }
    if arguments.operands.count > 1 { return [try messenger.saveDraft(text, in: conversation)] }
    return [try messenger.conversation(conversation)]
  }
}
