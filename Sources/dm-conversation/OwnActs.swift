internal import DMCLI
internal import DMKit

/// The actions that change only what the user sees of conversations.
extension DMConversation {
  static func change(_ change: OwnChange, _ call: Invocation) throws {
    _ = try call.arguments.operand(0, "CONVERSATION")
    let conversations = try call.arguments.operands.map(ConversationReference.init)
    for changed in try call.messenger().change(change, in: conversations) { try print(changed, call) }
  }

  static func setName(_ call: Invocation) throws {
    let (conversation, name) = try value("NAME", call)
    let bare = name.without("+")
    for changed in try call.messenger().change(.named(bare.isEmpty ? nil : bare), in: [conversation]) {
      try print(changed, call)
    }
  }

  static func mute(_ call: Invocation) throws {
    let length = try call.arguments[length]
    if let last = call.arguments.operands.dropFirst().last, microseconds(of: last) != nil {
      throw usage("'\(last)' is a time; write --for \(last)")
    }
    try change(.muted(for: length), call)
  }

  static func draft(_ call: Invocation) throws {
    let conversation = try conversation(call)
    if call.arguments[clear] {
      try call.arguments.atMost(1)
      return try change(.draft(nil), call)
    }
    let words = call.arguments.operands.dropFirst()
    if words.isEmpty { return try print(call.messenger().conversation(conversation), call) }
    try print(call.messenger().saveDraft(words.joined(separator: " "), in: conversation), call)
  }
}
