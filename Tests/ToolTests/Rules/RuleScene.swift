import Foundation
import JSONSupport
import Testing

/// A store, or a hub with a store for each user, whose users have the roles of the columns of docs/rules.md.
///
/// The users have the names of the columns. `extra` is another member. `guest` has a direct conversation with each user
/// who is or was in the group, and `newcomer` has none.
struct RuleScene: Sendable {
  let stores: RuleStores
  /// The ids of messages and conversations, by their names in this test.
  private let ids: [String: String]
  private let numbers: [String: Int]
  /// The state of each user's store, as `RuleStores.state` returns it.
  let states: [String: String]

  static let onOneStore = Result { try RuleScene(onHub: false) }
  static let onHub = Result { try RuleScene(onHub: true) }

  private init(onHub: Bool) throws {
    let insiders = ["sender", "member", "former", "blocked", "blocker", "extra"]
    let users = insiders + ["owner", "stranger", "guest", "late", "newcomer"]
    let f = try RuleStores(onHub: onHub, users: users)
    var ids: [String: String] = [:]
    var numbers: [String: Int] = [:]
    func say(_ name: String, _ arguments: [String], as user: String) throws {
      let file = try "\(f.store(of: user).directory)/carried"
      try "carried by \(name)".write(toFile: file, atomically: true, encoding: .utf8)
      let attachment = onHub ? [] : ["--as-file", "--attach", file]
      let record = try f.done("dm-send", arguments + attachment, as: user).record
      ids[name] = record["id"]?.string
      ids["attachment of \(name)"] = record["attachments"]?.array.first?["id"]?.string
      let id = record["id"]?.string
      let shown = try f.done("dm-tail", ["-n", "all", "--peek", record["conversation_id"]?.string ?? ""], as: user)
      numbers[name] = try record["seq"]?.int ?? shown.records.first { $0["id"]?.string == id }?["seq"]?.int
    }
    if !onHub { for user in users { try f.store(of: user).addUsers(user) } }

    let group = try f.done("dm-conversation", ["create", "--title", "club"] + insiders, as: "owner").record
    ids["group"] = group["id"]?.string
    let announced = try f.done("dm-tail", ["+club", "1", "--peek"], as: "owner").record
    (ids["announcement"], numbers["announcement"]) = (announced["id"]?.string, 1)
    for user in ["owner"] + insiders { try say(user, ["+club", "from-\(user)"], as: user) }
    for user in ["owner"] + insiders { try f.done("dm-read", ["+club", "2..3", "7"], as: user) }
    try say("hidden", ["+club", "hidden"], as: "sender")
    try say("gone", ["+club", "gone"], as: "sender")
    try say("brief", ["+club", "--expires-in", "1s", "brief"], as: "sender")
    let gone = ids["gone"] ?? ""
    try f.done("dm-edit", ["delete", ids["hidden"] ?? ""], as: "sender")
    try f.done("dm-edit", ["delete", "--for-everyone", gone], as: "sender")
    try f.done("dm-conversation", ["remove", "+club", "former"], as: "owner")
    try say("later", ["+club", "later"], as: "sender")
    try f.done("dm-conversation", ["add", "+club", "late"], as: "owner")

    for (one, other) in [("sender", "member"), ("blocked", "blocker")] {
      try say("direct-\(one)", [other, "direct-from-\(one)"], as: one)
      try say("direct-\(other)", [one, "direct-from-\(other)"], as: other)
      let conversation = try f.done("dm-conversation", ["show", other], as: one).record
      ids["direct-of-\(one)"] = conversation["id"]?.string
      ids["direct-of-\(other)"] = conversation["id"]?.string
      for (from, to) in [(one, other), (other, one)] { try f.done("dm-read", [to, "1..2"], as: from) }
      for (from, to) in [(one, other), (other, one)] { try say("unread-\(from)", [to, "unread-\(from)"], as: from) }
    }
    ids["direct-of-stranger"] = ids["direct-of-sender"]
    for user in ["owner"] + insiders { try f.done("dm-send", [user, "hello"], as: "guest") }
    try f.done("dm-user", ["block", "blocked"], as: "blocker")
    try Torture.wait(until: "a message has expired") {
      try !f.done("dm-tail", ["+club", "-n", "all", "--peek"], as: "owner").stdout.contains("brief")
    }
    // Two rounds, because the first creates receipts, which the other users get in the second.
    for user in users + users { try f.carry(user) }
    (stores, self.ids, self.numbers) = (f, ids, numbers)
    states = try Dictionary(uniqueKeysWithValues: users.map { ($0, try f.state(of: $0)) })
  }

  func id(_ name: String) -> String? { ids[name] }

  func number(_ name: String) -> Int? { numbers[name] }
}

/// One cell of the tables, tried in its own copy of the stores.
struct RuleVisit {
  let cell: RuleCell
  let scene: RuleScene
  let stores: RuleStores
  /// The user who acts.
  let actor: String
  /// Whether calls name messages by their numbers, not their ids.
  var namesNumbers = false

  init(_ cell: RuleCell, _ scene: RuleScene) throws {
    (self.cell, self.scene) = (cell, scene)
    stores = try RuleStores(copyOf: scene.stores, copiesHub: cell.isAllowed)
    actor = Self.unseen[cell.column]?.actor ?? cell.column
  }

  var isDirect: Bool { cell.section == "In a direct conversation" }

  /// For each column of the last table, the user who acts and the message.
  static let unseen: [String: (actor: String, message: String)] = [
    "deleted by the user for themselves": ("sender", "hidden"), "deleted for everyone": ("sender", "gone"),
    "expired": ("sender", "brief"), "said after the user left": ("former", "later"),
    "said before the user joined": ("late", "sender"), "said by a user they block": ("blocker", "blocked"),
    "said where the user never was": ("stranger", "sender"), "never said": ("sender", "nothing"),
  ]

  /// Another user, who should notice what the actor does.
  var witness: String {
    guard isDirect else { return actor == "owner" ? "extra" : "owner" }
    return ["sender": "member", "member": "sender", "blocker": "blocked"][actor] ?? actor
  }

  /// The message that the column is about.
  private var message: String {
    if let message = Self.unseen[cell.column]?.message { return message }
    let sender = ["blocked": "blocker", "blocker": "blocked"][actor] ?? "sender"
    return isDirect ? "direct-\(sender)" : sender
  }

  /// A call with its words in capitals replaced; nil if something that such a word names does not exist here.
  func fill(_ template: String) -> String? {
    let mine = isDirect ? "direct-\(actor)" : actor
    let conversation = scene.id(isDirect ? "direct-of-\(actor)" : "group")
    let seen = isDirect ? "unread-\(witness == actor ? "blocker" : witness)" : actor == "member" ? "former" : "member"
    let unknown = "01938a00-0000-7000-8000-000000000000"
    func name(_ message: String) -> String? {
      // A message that was never sent gets a number and an id that do not exist.
      let number = scene.number(message) ?? (message == "nothing" ? 99 : nil)
      guard !namesNumbers else { return number.flatMap { number in conversation.map { "\($0):\(number)" } } }
      return scene.id(message) ?? (message == "nothing" ? unknown : nil)
    }
    var text = template
    for (word, value) in [
      ("CARRIED", message == "nothing" ? unknown : scene.id("attachment of \(message)")), ("MESSAGE", name(message)),
      ("WORD", message), ("NUMBER", "\(scene.number(message) ?? 99)"), ("MINE", name(mine)),
      ("ANNOUNCEMENT", name("announcement")), ("SEEN", name(seen)), ("READ", isDirect ? "1..2" : "2..3"),
      ("CONVERSATION", conversation), ("ACTOR", actor), ("SOON", Date(timeIntervalSinceNow: 3600).ISO8601Format()),
      ("TARGET", ["blocked": "blocker", "blocker": "blocked", "owner": "member"][actor] ?? "owner"),
    ] where text.contains(word) {
      guard let value else { return nil }
      text = text.replacingOccurrences(of: word, with: value)
    }
    return text
  }

  /// The output of a call or of an SQL statement.
  func look(_ call: String, as user: String) throws -> String {
    call.hasPrefix("SELECT") ? try stores.store(of: user).sql(call) : try run(call, as: user).stdout
  }

  func run(_ call: String, as user: String, line: String? = nil) throws -> Outcome {
    let words = call.split(separator: " ").map(String.init)
    return try stores.store(of: user).run(
      words[0], Array(words.dropFirst()), as: user, stdin: line.map { Input(lines: [$0]) } ?? .none)
  }

  /// Whether the state of the actor's store has changed.
  func isChanged() throws -> Bool { try stores.state(of: actor) != scene.states[actor] }
}

extension RuleStores {
  /// Runs a program as a user, and synchronizes before and after it.
  @discardableResult
  fileprivate func done(_ program: String, _ arguments: [String], as user: String) throws -> Outcome {
    try carry(user)
    let outcome = try store(of: user).done(program, arguments, as: user)
    try carry(user)
    return outcome
  }

  /// The rows and signals in the store of a user.
  func state(of user: String) throws -> String {
    let store = try store(of: user)
    let live = store.store + "/live"
    let signals =
      FileManager.default.fileExists(atPath: live) ? try FileManager.default.contentsOfDirectory(atPath: live) : []
    return try store.sql(".dump") + signals.sorted().joined(separator: "\n")
  }
}

extension RuleVisit {
  /// The user who types while the actor watches.
  var typist: String {
    ["sender": "member", "member": "sender", "blocked": "blocker", "blocker": "blocked"][actor] ?? "extra"
  }

  /// The users who are shown as typing in the conversation.
  ///
  /// At the end `guest` types, which every user sees, so the test need not wait for a signal that may never come.
  func typing(seenBy user: String) throws -> Set<String> {
    let f = try stores.store(of: user)
    let watcher = try LiveProcess(f, "dm-typing", ["--watch"], as: user, stdin: .null)
    let conversation = fill("CONVERSATION")
    var seen: Set<String> = []
    var isSynced = false
    try f.done("dm-typing", [user, "--on"], as: "guest")
    while true {
      let record = try watcher.record()
      let users = record["users"]?.array.compactMap(\.string) ?? []
      if record["conversation_id"]?.string == conversation { seen.formUnion(users) }
      if users.contains("guest") {
        isSynced = true
        try f.done("dm-typing", [user, "--off"], as: "guest")
      } else if isSynced, users.isEmpty {
        break
      }
    }
    watcher.process.send(SIGTERM)
    _ = watcher.finish()
    return seen
  }
}

extension RuleWalk.Proof {
  /// Whether the actor can see the proof; nobody sees their own typing.
  var isSeenByActor: Bool { if case .types = self { false } else { true } }
}
