internal import DMCLI
internal import DMKit
internal import DMSystem

extension DMTail {
  static let limit = Option(
    "limit", short: "n", count: "N", "the newest N messages, or 'all' [30; all with a range, --since or --unread]")
  static let before = Option(
    "before", value: "WHEN", "only those before a message or a time", as: messageOrTime)
  static let since = Option(
    "since", value: "WHEN", "only those from a message or a time on", as: messageOrTime)
  static let unread = Flag("unread", "only unread ones")
  static let unmuted = Flag("unmuted", "leave out muted conversations")
  static let deleted = Flag("deleted", "say where a message was deleted or has expired, too")
  static let with = Option(
    "with", value: "readers", oneOf: Addition.self, "say of each message who has read it")
  static let read = Flag("read", "mark what was printed as read")
  static let peek = Flag("peek", "do not mark what was printed as delivered")
  static let follow = Flag("follow", short: "f", "go on with what happens from then on")
  static let events = Option(
    "events", value: "KIND,...", values: [.list(MessagingEvent.Kind.allCases.map(\.rawValue) + ["all"])],
    "what to print [message,message_updated,message_deleted,message_status]", as: Invocation.eventKinds)
  static let cursor = Option(
    "cursor", value: "CURSOR", values: [.words(["start", "now"])],
    "no history, but what happened after CURSOR, oldest first", as: start)
  static let others = Flag("others", "leave out your own actions")
  static let heartbeat = Option(
    "heartbeat", value: "TIME", "print a heartbeat that often [a consumer: 5s]", as: duration)
  static let bell = Flag("bell", "ring the bell of the terminal at each message of others")
  static let invisible = Flag("invisible", "do not show that you are online")
  static let consumer = Option(
    "consumer", value: "NAME", values: [.consumers], "begin where this consumer of the user stands")
  static let acceptGap = Flag("accept-gap", "go on though what the consumer missed is no longer in the log")
  static let ack = Option("ack", value: "CURSOR", "move the consumer there, and print nothing else", as: Cursor.init)
  static let consumers = Flag("consumers", "print the user's consumers, and how far behind they are")
  static let forget = Option("forget", value: "NAME", values: [.consumers], "forget a consumer")

  static let options: [any Declared] = [
    limit, before, since, unread, unmuted, deleted, with, read, peek, follow, events, cursor, others, heartbeat,
    bell, invisible, consumer, acceptGap, ack, consumers, forget,
  ]

  static let rules: [Rule] = [
    // Messages that are not printed are neither read nor delivered.
    .excludes(Common.quiet, [read, follow]),
    .atMostOne([ack, consumers, forget]), .alone(ack, with: [consumer]), .alone(consumers, with: []),
    .alone(forget, with: []), .needs(ack, [consumer]),
    // An acknowledgement marks messages as delivered in all conversations of the consumer.
    .excludes(unmuted, [consumer]),
    // A stream has no end.
    .excludes(before, [follow, cursor, consumer]),
    .excludes(cursor, [limit, since, unread]), .excludes(consumer, [limit, since, unread]),
    // These options choose among events, and a history has only messages.
    .needs(events, [follow, cursor, consumer]), .needs(others, [follow, cursor, consumer]),
    .needs(invisible, [follow, cursor, consumer]),
    .needs(acceptGap, [consumer]), .needs(heartbeat, [follow]), .needs(bell, [follow, cursor, consumer]),
  ]

  /// An addition to each message, for `--with`.
  enum Addition: String, CaseIterable { case readers }

  private static func start(_ text: String) throws -> EventQuery.Start {
    switch text {
    case "start": .start
    case "now": .now
    default: .cursor(try Cursor(text))
    }
  }
}
