internal import DMCLI
internal import DMKit

extension DMConversation {
  static func create(_ call: Invocation) throws {
    let (arguments, messenger) = (call.arguments, try call.messenger())
    let users = arguments.operands.map { Handle(typed: $0.without("@")) }
    if let title = try arguments[title] {
      let title = title.without("+")
      return try print(messenger.createGroup(titled: title, with: users, ifAbsent: arguments[ifAbsent]), call)
    }
    if users.isEmpty { throw arguments.missing("USER or --title") }
    try print(messenger.createConversation(with: users, ifAbsent: arguments[ifAbsent]), call)
  }

  static func show(_ call: Invocation) throws { try print(call.messenger().conversation(onlyOperand(call)), call) }

  static func leave(_ call: Invocation) throws { try print(call.messenger().leave(onlyOperand(call)), call) }

  static func add(_ call: Invocation) throws {
    let (conversation, users) = try members(call)
    try print(call.messenger().add(users, to: conversation, withHistory: call.arguments[withHistory]), call)
  }

  static func remove(_ call: Invocation) throws {
    let (conversation, users) = try members(call)
    try print(call.messenger().remove(users, from: conversation), call)
  }

  static func setTitle(_ call: Invocation) throws {
    let (conversation, title) = try value("TITLE", call)
    // As in a reference: '+ops' is the group titled ops.
    try print(call.messenger().setTitle(title.without("+"), of: conversation), call)
  }

  static func setAvatar(_ call: Invocation) throws {
    let (conversation, url) = try value("URL", call)
    try print(call.messenger().setAvatar(url.isEmpty ? nil : url, of: conversation), call)
  }

  static func setExpiry(_ call: Invocation) throws {
    let (conversation, lifetime) = try value("TIME", call)
    try print(call.messenger().setExpiry(lifetime == "off" ? nil : duration(lifetime), of: conversation), call)
  }

  // MARK: Operands and answers

  static func conversation(_ call: Invocation) throws -> ConversationReference {
    try ConversationReference(call.arguments.operand(0, "CONVERSATION"))
  }

  private static func onlyOperand(_ call: Invocation) throws -> ConversationReference {
    let conversation = try conversation(call)
    try call.arguments.atMost(1)
    return conversation
  }

  private static func members(_ call: Invocation) throws -> (ConversationReference, users: [Handle]) {
    let conversation = try conversation(call)
    _ = try call.arguments.operand(1, "USER")
    return (conversation, call.arguments.operands.dropFirst().map { Handle(typed: $0.without("@")) })
  }

  /// The two operands: a conversation and a value.
  static func value(_ name: String, _ call: Invocation) throws -> (ConversationReference, String) {
    let conversation = try conversation(call)
    try call.arguments.atMost(2)
    return (conversation, try call.arguments.operand(1, name))
  }

  /// - Parameter conversation: nil when nothing was changed.
  static func print(_ conversation: Conversation?, _ call: Invocation) throws {
    guard let conversation else { return }
    let messenger = try call.messenger()
    try call.print(conversation) { conversation in
      try TextFormat.details(conversation, for: messenger.identity.handle, called: messenger.shownName)
    }
  }
}
