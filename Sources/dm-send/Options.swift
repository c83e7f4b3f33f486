internal import DMCLI
internal import DMKit

extension DMSend {
  static let to = Option(
    "to", value: "CONVERSATION", values: [.conversations, .people],
    "where to send; may stand several times: to all of them or to none")
  static let lines = Flag("lines", "send each line of standard input as a message")
  static let replyTo = Option(
    "reply-to", value: "MESSAGE", "the message that this one answers", as: MessageReference.init)
  static let nonce = Option(
    "nonce", value: "NONCE", "sent before with this nonce: do nothing, return that message")
  static let once = Flag("once", "return that message whatever the text is now")
  static let consumer = Option(
    "consumer", value: "NAME", values: [.consumers],
    "the lines acknowledge ('ack') for this consumer of the user; see dm-tail(1)")
  static let stopAtFailed = Flag("stop-at-failed", "end with the first line of a consumer that fails")
  static let skipFailed = Flag(
    "skip-failed", "acknowledge and count the lines of a consumer that can never succeed; the default")
  static let edit = Flag("edit", "write the text in $VISUAL or $EDITOR")
  static let draft = Flag("draft", "keep the text as the draft of the conversation instead of sending it")
  static let fromDraft = Flag("from-draft", "send the draft, and clear it")
  static let forward = Option(
    "forward", value: "MESSAGE", "send the text of this message, and what it carries", as: MessageReference.init)
  static let expiresIn = Option("expires-in", value: "TIME", "have it gone after that long", as: duration)
  static let overflow = Option(
    "overflow", value: "HOW", oneOf: TextOptions.Overflow.self,
    "what becomes of a text over 64 KiB: attach it, truncate it, or fail [error]")
  static let attach = Option(
    "attach", value: "FILE", "send a file with it, prepared as by dm-attach(1); may stand several times")

  static let options: [any Declared] =
    [
      to, lines, replyTo, nonce, once, consumer, stopAtFailed, skipFailed, edit, draft, fromDraft, forward, expiresIn,
      lossy, overflow, attach, wait,
    ] + PreparationArguments.options

  static let rules: [Rule] = [
    .excludes(lines, [replyTo, edit, draft, fromDraft, forward, attach]),
    .excludes(draft, [fromDraft, forward, nonce, replyTo, expiresIn, attach]),
    .excludes(lossy, [edit, fromDraft, forward]), .excludes(overflow, [edit, fromDraft, forward]),
    .excludes(fromDraft, [forward, edit, attach]), .excludes(forward, [edit, attach]),
    .excludes(skipFailed, [stopAtFailed]),
  ]

  /// The rules of a message or texts to conversations that were named.
  static let messageRules =
    [.needs(once, [nonce])] + PreparationArguments.rules
    + PreparationArguments.options.map { Rule.needs($0, [attach]) }

  /// The rules of lines that name their conversations.
  static let lineRules = [Rule.needs(skipFailed, [consumer]), .needs(stopAtFailed, [consumer])]
}
