package import DMCLI
internal import DMKit

package struct DMConversation: Program {
  static let title = Option("title", value: "TITLE", "create a group with this title")
  static let ifAbsent = Flag(
    "if-absent", "if the group exists already, print it, and create nothing")
  static let withHistory = Flag("with-history", "let the added users see earlier messages, too")
  static let length = Option("for", value: "TIME", "mute only for this time, such as 8h", as: duration)
  static let clear = Flag("clear", "delete the draft")

  package static let command = Command(
    "dm-conversation", "create, show and change conversations",
    synopsis: [
      "create USER... [--if-absent]", "create --title TITLE [USER]... [--if-absent]", "show CONVERSATION",
      "add CONVERSATION USER... [--with-history]", "remove CONVERSATION USER...", "leave CONVERSATION",
      "title CONVERSATION TITLE", "name CONVERSATION NAME", "avatar CONVERSATION URL",
      "picture CONVERSATION [FILE]", "expire CONVERSATION TIME|off",
      "pin|unpin|archive|unarchive|unmute|delete CONVERSATION...", "mute CONVERSATION... [--for TIME]",
      "draft CONVERSATION [TEXT]... [--clear]",
    ],
    options: [wait],
    subcommands: [
      Command.Subcommand(
        "create", operands: "[USER]...", "find or create a direct conversation, or create a group",
        options: [title, ifAbsent], run: create),
      Command.Subcommand("show", operands: "CONVERSATION", "print a conversation", run: show),
      Command.Subcommand(
        "add", operands: "CONVERSATION USER...", "add users to a group", options: [withHistory], run: add),
      Command.Subcommand(
        "remove", operands: "CONVERSATION USER...", "remove users from a group that you own", run: remove),
      Command.Subcommand(
        "leave", operands: "CONVERSATION", "leave a group; if no owner remains, a member becomes owner", run: leave),
      Command.Subcommand("title", operands: "CONVERSATION TITLE", "give a group another title", run: setTitle),
      Command.Subcommand(
        "name", operands: "CONVERSATION NAME", "set a name that only you see; '' removes it", run: setName),
      Command.Subcommand(
        "avatar", operands: "CONVERSATION URL", "set the URL of the group's picture; '' clears it", run: setAvatar),
      Command.Subcommand(
        "picture", operands: "CONVERSATION [FILE]",
        "give a group a picture, or write its picture to standard output; '' removes it",
        run: picture),
      Command.Subcommand(
        "expire", operands: "CONVERSATION TIME|off", "let new messages expire after this time, or never", run: setExpiry
      ),
      Command.Subcommand("pin", operands: "CONVERSATION...", "list the conversation before all others") {
        try change(.pinned(true), $0)
      },
      Command.Subcommand("unpin", operands: "CONVERSATION...", "list the conversation by its activity again") {
        try change(.pinned(false), $0)
      },
      Command.Subcommand(
        "mute", operands: "CONVERSATION...", "mark the conversation as muted, for programs that show notifications",
        options: [length],
        run: mute),
      Command.Subcommand("unmute", operands: "CONVERSATION...", "remove the mark that the conversation is muted") {
        try change(.unmuted, $0)
      },
      Command.Subcommand(
        "archive", operands: "CONVERSATION...",
        "leave the conversation out of the list until a new message; if it is muted, until 'unarchive'"
      ) { try change(.archived(true), $0) },
      Command.Subcommand("unarchive", operands: "CONVERSATION...", "list the conversation again") {
        try change(.archived(false), $0)
      },
      Command.Subcommand(
        "delete", operands: "CONVERSATION...",
        "delete the conversation's messages for yourself, and hide it until a new message"
      ) { try change(.deleted, $0) },
      Command.Subcommand(
        "draft", operands: "CONVERSATION [TEXT]...", "save TEXT as your draft, or print the draft", options: [clear],
        operandsWith: [(clear, "CONVERSATION")], run: draft),
    ],
    examples: [
      ("dm-conversation create --title ops bob carol", "a group of you, bob and carol"),
      ("dm-conversation create --title ops bob --if-absent", "a group for a script: a second run creates nothing"),
      (
        "dm-conversation name +ops work",
        "give the group the name +work, which only you see; it stays if the title changes"
      ),
      ("dm-conversation create bob | jq -r .id", "the id of the direct conversation with bob"),
      ("dm-conversation show +ops", "the participants, the last activity and the unread count of the group"),
      ("dm-conversation add +ops dave --with-history", "add dave, who then sees earlier messages, too"),
      ("dm-conversation mute +ops --for 8h", "mute the group for eight hours"),
      ("dm-conversation expire bob 1d", "let new messages expire after a day"),
    ], writes: ["conversation"])
}

extension DMConversation {
  static func create(_ call: Invocation) throws {
    let (arguments, messenger) = (call.arguments, try call.messenger())
    let users = arguments.operands.map { Handle(typed: $0.without("@")) }
    if let title = try arguments[title] {
      let title = title.without("+")
      let group = try messenger.createGroup(titled: title, with: users, ifAbsent: arguments[ifAbsent])
      return try print(group, call, "a group with \(others(in: group, messenger, none: "nobody else"))")
    }
    if users.isEmpty { throw arguments.missing("USER or --title") }
    let conversation = try messenger.createConversation(with: users, ifAbsent: arguments[ifAbsent])
    try print(conversation, call, "a conversation with \(others(in: conversation, messenger, none: "yourself"))")
  }

  static func show(_ call: Invocation) throws { try print(call.messenger().conversation(onlyOperand(call)), call) }

  static func leave(_ call: Invocation) throws { try print(call.messenger().leave(onlyOperand(call)), call, "left") }

  static func add(_ call: Invocation) throws {
    let (conversation, users) = try members(call)
    let changed = try call.messenger().add(users, to: conversation, withHistory: call.arguments[withHistory])
    try print(changed, call, "\(names(users)) added")
  }

  static func remove(_ call: Invocation) throws {
    let (conversation, users) = try members(call)
    try print(call.messenger().remove(users, from: conversation), call, "\(names(users)) removed")
  }

  static func setTitle(_ call: Invocation) throws {
    let (conversation, title) = try value("TITLE", call)
    // As in a reference, a `+` before the title is not part of the title.
    try print(call.messenger().setTitle(title.without("+"), of: conversation), call, "the new title")
  }

  static func setAvatar(_ call: Invocation) throws {
    let (conversation, url) = try value("URL", call)
    if !url.isEmpty, !url.contains(":") {
      throw usage("'\(url)' is not a URL; for a file, write \(call.arguments.retyped("avatar", as: "picture"))")
    }
    let changed = try call.messenger().setAvatar(url.isEmpty ? nil : url, of: conversation)
    try print(changed, call, url.isEmpty ? "without a picture" : "a new picture")
  }

  static func picture(_ call: Invocation) throws {
    let conversation = try conversation(call)
    try call.arguments.atMost(2)
    guard let file = call.arguments.operands.dropFirst().first else {
      return try call.write(call.messenger().picture(ofGroup: conversation))
    }
    let messenger = try call.messenger()
    let changed =
      try file.isEmpty
      ? messenger.setAvatar(nil, of: conversation) : messenger.setPicture(call.picture(file), of: conversation)
    try print(changed, call, file.isEmpty ? "without a picture" : "a new picture")
  }

  static func setExpiry(_ call: Invocation) throws {
    let (conversation, lifetime) = try value("TIME", call)
    let length: Duration?
    do {
      length = try lifetime == "off" ? nil : duration(lifetime)
    } catch let error as DMError where error.code == .badTime {
      throw error.adding(", or 'off' for no end")
    }
    let changed = try call.messenger().setExpiry(length, of: conversation)
    try print(changed, call, lifetime == "off" ? "new messages stay" : "new messages expire after \(lifetime)")
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

  /// Prints a conversation: as text all its details, or after a change one line, as in `+ops: carol added`.
  ///
  /// - Parameters:
  ///   - conversation: nil when nothing was changed.
  ///   - change: a description of the change; nil to print the details.
  static func print(_ conversation: Conversation?, _ call: Invocation, _ change: String? = nil) throws {
    guard let conversation else { return }
    let messenger = try call.messenger()
    try call.print(conversation) { conversation in
      if let change { return TextFormat.line(conversation, change, for: messenger.identity.handle) }
      return try TextFormat.details(conversation, for: messenger.identity.handle, called: messenger.shownName)
    }
  }

  /// The participants besides the user; an existing group may have others than those that the command line names.
  private static func others(in conversation: Conversation, _ messenger: Messenger, none: String) -> String {
    let others = conversation.participants.filter { $0 != messenger.identity.handle }
    return others.isEmpty ? none : names(others)
  }

  /// Users as in `bob, carol`.
  private static func names(_ users: [Handle]) -> String {
    users.map { visible($0.description) }.joined(separator: ", ")
  }
}

/// The actions that change conversations only for the user.
extension DMConversation {
  static func change(_ change: OwnChange, _ call: Invocation) throws {
    _ = try call.arguments.operand(0, "CONVERSATION")
    try self.change(change, call.arguments.operands.map(ConversationReference.init), call)
  }

  private static func change(
    _ change: OwnChange, _ conversations: [ConversationReference], _ call: Invocation
  ) throws {
    for changed in try call.messenger().change(change, in: conversations) {
      try print(changed, call, words(change, of: changed))
    }
  }

  static func setName(_ call: Invocation) throws {
    let (conversation, name) = try value("NAME", call)
    let bare = name.without("+")
    try change(.named(bare.isEmpty ? nil : bare), [conversation], call)
  }

  /// A description of a change.
  private static func words(_ change: OwnChange, of changed: Conversation) -> String {
    switch change {
    case .pinned(let isPinned): isPinned ? "pinned" : "no longer pinned"
    case .archived(let isArchived): isArchived ? "archived" : "no longer archived"
    case .muted(let length):
      length == nil ? "muted" : "muted until \(changed.mutedUntil.map(TextFormat.dateAndTime) ?? "later")"
    case .unmuted: "no longer muted"
    case .deleted: "deleted for you"
    case .draft(let text): text == nil ? "without a draft" : "draft saved"
    case .named(let name): name == nil ? "without a name of your own" : "the name that only you see"
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
    try print(call.messenger().saveDraft(words.joined(separator: " "), in: conversation), call, "draft saved")
  }
}
