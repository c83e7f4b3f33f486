/// The call for an action of docs/rules.md, and how a test sees that the action was done.
struct RuleWalk: Sendable {
  enum Proof: Sendable {
    /// The call prints this text, and changes nothing.
    case prints(String)
    /// Another call shows this text after the action, and not before.
    case shows(String, call: String, by: By)
    case hides(String, call: String, by: By)
    /// A watcher sees that the actor is typing.
    case types
    /// The actor watches another user type.
    case watches
  }

  enum By: Sendable { case actor, witness }

  let call: String
  let proof: Proof
  /// The same action as a line of input, for programs that read lines.
  let lines: (call: String, line: String)?
  /// Whether the program only reads lines.
  let needsLine: Bool

  init(
    _ call: String, _ proof: Proof, lines: String? = nil, _ line: String = #"{"id":"MESSAGE"}"#, needsLine: Bool = false
  ) {
    (self.call, self.proof, self.needsLine) = (call, proof, needsLine)
    self.lines = lines.map { ($0, line) }
  }

  static func walk(_ cell: RuleCell) -> RuleWalk? {
    switch cell.section {
    case "In a group": inGroup[cell.act] ?? anywhere[cell.act]
    case "In a direct conversation": anywhere[cell.act]
    case "Elsewhere": elsewhere[cell.act]
    case "Messages that the user does not see": unseen[cell.act]
    default: nil
    }
  }

  /// The actions that each table must have.
  static let bySection: [String: Set<String>] = [
    "In a group": Set(anywhere.keys).union(inGroup.keys),
    "In a direct conversation": Set(anywhere.keys), "Elsewhere": Set(elsewhere.keys),
    "Messages that the user does not see": Set(unseen.keys),
  ]

  private static let history = "dm-tail CONVERSATION -n all --peek"
  private static let show = "dm-conversation show CONVERSATION"

  private static func own(_ call: String, _ shown: String) -> RuleWalk {
    RuleWalk("dm-conversation \(call)", .shows(shown, call: show, by: .actor))
  }

  private static func all(_ call: String, _ shown: String) -> RuleWalk {
    RuleWalk("dm-conversation \(call)", .shows(shown, call: show, by: .witness))
  }

  /// The actions that are the same in every conversation.
  private static let anywhere: [String: RuleWalk] = [
    "read its history": RuleWalk(history, .prints(#""text":""#)),
    "read what happened": RuleWalk("dm-tail CONVERSATION --cursor start --peek", .prints(#""text":""#)),
    "list it by a reference": RuleWalk("dm-list CONVERSATION", .prints(#""id":"CONVERSATION""#)),
    "show it": RuleWalk(show, .prints(#""id":"CONVERSATION""#)),
    "search it": RuleWalk("dm-search from --in CONVERSATION", .prints(#""text":""#)),
    "find it in the list": RuleWalk("dm-list --all", .prints(#""id":"CONVERSATION""#)),
    "send": RuleWalk(
      "dm-send CONVERSATION news", .shows(#""text":"news""#, call: history, by: .witness), lines: "dm-send",
      #"{"conversation":"CONVERSATION","text":"news"}"#),
    "reply to it": RuleWalk(
      "dm-send CONVERSATION --reply-to MESSAGE news", .shows(#""text":"news""#, call: history, by: .witness),
      lines: "dm-send", #"{"conversation":"CONVERSATION","text":"news","reply_to":"MESSAGE"}"#),
    "forward it to their own notes": RuleWalk(
      "dm-send ACTOR --forward MESSAGE", .shows(#""text":""#, call: "dm-tail ACTOR --peek", by: .actor)),
    "fetch what it carries": RuleWalk("dm-attach --get MESSAGE -o -", .prints("carried by WORD")),
    "fetch its attachment by id": RuleWalk(
      "dm-attach --get CARRIED -o -", .prints("carried by WORD"), lines: "dm-send",
      #"{"conversation":"ACTOR","attachments":["CARRIED"]}"#),
    "list what it carries": RuleWalk("dm-attach --list CONVERSATION", .prints(#""message_id":"MESSAGE""#)),
    "import into it": RuleWalk(
      "dm-import", .shows(#""text":"news""#, call: history, by: .witness), lines: "dm-import",
      #"{"conversation_id":"CONVERSATION","sender":"ACTOR","text":"news","created_at":"SOON"}"#, needsLine: true),
    "draft": own("draft CONVERSATION unsaid", #""draft_text":"unsaid""#),
    "mark it read": RuleWalk(
      "dm-read CONVERSATION --all",
      .shows(#""read_by":["ACTOR""#, call: "dm-tail SEEN --with readers --peek", by: .witness)),
    "mark it unread": RuleWalk(
      "dm-read CONVERSATION READ --unread",
      .shows(#""text":""#, call: "dm-tail CONVERSATION READ --unread --peek", by: .actor)),
    "see who has read it": RuleWalk("dm-read --receipts MESSAGE", .prints(#""type":"read_receipt""#)),
    "react": RuleWalk(
      "dm-edit react 👍 MESSAGE", .shows(#""reactions":[{"emoji":"👍","users":["ACTOR"]}]"#, call: history, by: .witness),
      lines: "dm-edit react 👍"),
    "pin the message": RuleWalk(
      "dm-edit pin MESSAGE", .shows(#""pinned_by":"ACTOR""#, call: history, by: .witness), lines: "dm-edit pin"),
    "edit its text": RuleWalk(
      "dm-edit text MESSAGE news", .shows(#""text":"news""#, call: history, by: .witness), lines: "dm-edit text",
      #"{"id":"MESSAGE","text":"news"}"#),
    "edit one's own": RuleWalk(
      "dm-edit text MINE news", .shows(#""text":"news""#, call: history, by: .witness), lines: "dm-edit text",
      #"{"id":"MINE","text":"news"}"#),
    "delete it for themselves": RuleWalk(
      "dm-edit delete MESSAGE", .hides(#""id":"MESSAGE""#, call: history, by: .actor), lines: "dm-edit delete"),
    "delete it for everyone": RuleWalk(
      "dm-edit delete --for-everyone MESSAGE", .hides(#""id":"MESSAGE""#, call: history, by: .witness),
      lines: "dm-edit delete --for-everyone"),
    "delete one's own for everyone": RuleWalk(
      "dm-edit delete --for-everyone MINE", .hides(#""id":"MINE""#, call: history, by: .actor),
      lines: "dm-edit delete --for-everyone", #"{"id":"MINE"}"#),
    "report it": RuleWalk(
      "dm-edit report MESSAGE", .shows("ACTOR", call: reports, by: .actor), lines: "dm-edit report"),
    "name it for themselves": own("name CONVERSATION mine", #""own_name":"mine""#),
    "pin the conversation": own("pin CONVERSATION", #""is_pinned":true"#),
    "mute it": own("mute CONVERSATION", #""is_muted":true"#),
    "archive it": own("archive CONVERSATION", #""is_archived":true"#),
    "delete the conversation": RuleWalk(
      "dm-conversation delete CONVERSATION", .hides(#""text":""#, call: history, by: .actor)),
    "show typing": RuleWalk("dm-typing CONVERSATION --on", .types),
    "watch typing": RuleWalk("dm-typing --watch CONVERSATION", .watches),
    "add somebody": all("add CONVERSATION guest", #""guest""#),
    "remove somebody": RuleWalk(
      "dm-conversation remove CONVERSATION extra",
      .shows(#""system_kind":"user_left","subject":"extra""#, call: history, by: .witness)),
    "leave": RuleWalk(
      "dm-conversation leave CONVERSATION",
      .shows(#""system_kind":"user_left","subject":"ACTOR""#, call: history, by: .witness)
    ),
    "change the title": all("title CONVERSATION guild", #""title":"guild""#),
    "change the picture": all("avatar CONVERSATION https://example.org/a", #""avatar_url":"https://example.org/a""#),
    "have messages expire": all("expire CONVERSATION 1h", #""expire_after":"#),
  ]

  /// Read with SQL, because users cannot read reports.
  private static let reports = "SELECT handle FROM report JOIN user ON user.id = reporter"

  private static let inGroup: [String: RuleWalk] = [
    "mention somebody": RuleWalk(
      "dm-send CONVERSATION hi,@extra", .shows(#""mentions":["extra"]"#, call: history, by: .witness)),
    "show it by its title": RuleWalk("dm-conversation show +club", .prints(#""id":"CONVERSATION""#)),
    "forward an announcement": RuleWalk("dm-send ACTOR --forward ANNOUNCEMENT", .prints("")),
    "react to an announcement": RuleWalk(
      "dm-edit react 👍 ANNOUNCEMENT", .prints(""), lines: "dm-edit react 👍", #"{"id":"ANNOUNCEMENT"}"#),
    "pin an announcement": RuleWalk(
      "dm-edit pin ANNOUNCEMENT", .prints(""), lines: "dm-edit pin", #"{"id":"ANNOUNCEMENT"}"#),
    "edit an announcement": RuleWalk(
      "dm-edit text ANNOUNCEMENT news", .prints(""), lines: "dm-edit text", #"{"id":"ANNOUNCEMENT","text":"news"}"#),
    "delete an announcement for everyone": RuleWalk(
      "dm-edit delete --for-everyone ANNOUNCEMENT", .prints(""), lines: "dm-edit delete --for-everyone",
      #"{"id":"ANNOUNCEMENT"}"#),
    "report an announcement": RuleWalk(
      "dm-edit report ANNOUNCEMENT", .prints(""), lines: "dm-edit report", #"{"id":"ANNOUNCEMENT"}"#),
    "delete an announcement for themselves": RuleWalk(
      "dm-edit delete ANNOUNCEMENT", .hides(#""id":"ANNOUNCEMENT""#, call: history, by: .actor),
      lines: "dm-edit delete", #"{"id":"ANNOUNCEMENT"}"#),
    "reply to an announcement": RuleWalk(
      "dm-send CONVERSATION --reply-to ANNOUNCEMENT news", .shows(#""text":"news""#, call: history, by: .witness),
      lines: "dm-send", #"{"conversation":"CONVERSATION","text":"news","reply_to":"ANNOUNCEMENT"}"#),
  ]

  private static let elsewhere: [String: RuleWalk] = [
    "see presence": RuleWalk("dm-user presence TARGET", .prints(#""user":"TARGET""#)),
    "block somebody": RuleWalk(
      "dm-user block extra", .shows(#""handle":"extra""#, call: "dm-user blocked", by: .actor)),
    "begin a direct conversation": RuleWalk(
      "dm-send newcomer news", .shows(#""text":"news""#, call: "dm-tail newcomer --peek", by: .actor), lines: "dm-send",
      #"{"conversation":"newcomer","text":"news"}"#),
  ]

  private static let unseen: [String: RuleWalk] = [
    "search for it": RuleWalk("dm-search WORD --in CONVERSATION", .prints(#""text":""#)),
    "read it": RuleWalk("dm-tail CONVERSATION NUMBER --peek", .prints(#""seq":"#)),
    "mark it read": RuleWalk("dm-read CONVERSATION NUMBER", .prints("")),
    "mark it unread": RuleWalk("dm-read CONVERSATION NUMBER --unread", .prints("")),
    "see who has read it": anywhere["see who has read it"],
    "reply to it": anywhere["reply to it"],
    "forward it to their own notes": anywhere["forward it to their own notes"],
    "fetch what it carries": anywhere["fetch what it carries"],
    "fetch its attachment by id": anywhere["fetch its attachment by id"],
    "list what it carries": anywhere["list what it carries"],
    "react": anywhere["react"],
    "pin the message": anywhere["pin the message"],
    "edit its text": anywhere["edit its text"],
    "delete it for themselves": anywhere["delete it for themselves"],
    "delete it for everyone": anywhere["delete it for everyone"],
    "report it": anywhere["report it"],
  ].compactMapValues { $0 }
}
