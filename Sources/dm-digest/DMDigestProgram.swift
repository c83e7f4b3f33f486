package import DMCLI
internal import DMDigest
internal import DMKit
internal import DMSystem

extension DMDigestProgram {
  static let since = Option(
    "since", value: "WHEN", "read only messages since a message or a time", as: messageOrTime)
  static let before = Option(
    "before", value: "WHEN", "read only messages before a message or a time", as: messageOrTime)
  static let unread = Flag("unread", "read only unread messages [without RANGE, --since and --before]")
  static let unmuted = Flag("unmuted", "leave out muted conversations")
  static let kinds = Option(
    "kind", value: "KIND", oneOf: DigestPoint.Kind.self, "print only points of this kind; can be repeated")
  static let points = Option("points", count: "N", "print at most N summary points a conversation, or 'all' [5]")
  static let cues = Option("cues", value: "FILE", values: [.files], "also use the cues of this file", as: { $0 })
  static let model = Option(
    "model", value: "COMMAND", "ask this program instead of using cues [$DM_MODEL]; '' for cues", as: { $0 })
  static let prompt = Option(
    "prompt", value: "FILE", values: [.files], "with a model: the instruction for the messages", as: { $0 })
  static let tokens = Option(
    "tokens", value: "N", "with a model: give it about N tokens of messages at once [6000]", as: count)
  static let limit = Option(
    "time-limit", value: "TIME", "with a model: wait at most TIME for an answer [2m]", as: duration)
  static let translate = Option(
    "translate", value: "LANGUAGE", "with a model: print the texts of the messages in this language", as: { $0 })
  static let dryRun = Flag("dry-run", "print what the model would be asked, and do not ask")

  private static func count(_ text: String) throws -> Int {
    guard let number = Int(text), 100...10_000_000 ~= number else {
      throw usage("'\(text)' cannot be the number of tokens; write 100 to 10000000")
    }
    return number
  }
}

package struct DMDigestProgram: Program {
  package static let command = Command(
    "dm-digest", "print what messages are about: what needs you, what is to be done, decided, asked and said",
    synopsis: ["[OPTION]... [CONVERSATION [RANGE]...]", "[OPTION]... <MESSAGE-LINES"],
    options: [
      since, before, unread, unmuted, kinds, points, cues, model, prompt, tokens, limit, translate, dryRun, fresh,
    ],
    operands: "CONVERSATION|RANGE RANGE|CONVERSATION...",
    rules: [.excludes(translate, [kinds, points, cues])],
    examples: [
      ("dm-digest +ops --since yesterday", "what happened in the group since yesterday"),
      ("dm-digest --unread --kind priority", "the unread messages that need you"),
      (
        "dm-tail +ops --since 7d | dm-digest --kind action_item | jq -r '\"\\(.who): \\(.text)\"'",
        "who has to do what"
      ),
      ("dm-digest +ops --since yesterday --text | dm-send bob", "send the page to bob"),
      ("dm-digest +ops --since yesterday --model 'llm -m small'", "the same by a model"),
      ("dm-tail bob | dm-digest --model 'llm -m small' --translate de", "the newest 30 messages with bob, in German"),
    ], writes: ["digest", "translation", "error"])

  package static func run(_ call: Invocation) throws {
    let asked = try ModelOptions(call)
    let reading = try Reading(call)
    if reading.messages.isEmpty { return try reading.noteEmpty(call) }
    if let language = try call.arguments[translate] { return try asked.translate(reading, to: language, call) }
    let user = try reading.user(call)
    let most = try call.arguments[points] ?? 5
    let chosen = try call.arguments.all(kinds)
    let digest = Digest(try ModelOptions.cues(call.arguments), for: user, kinds: chosen, limit: most ?? .max)
    guard let found = try asked.points(reading, user, most, digest, call) else { return }
    let wanted = found.filter { chosen.isEmpty || chosen.contains($0.kind) }
    var page = Page(reading.messages)
    try call.inPages {
      for point in call.isJSON ? wanted : wanted.unrepeated { try call.print(point) { page.text(of: $0) } }
    }
  }
}
