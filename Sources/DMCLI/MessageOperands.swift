public import DMKit

/// The operands of `dm-tail` and `dm-read`: a conversation and ranges of its messages, `bob 40..57
/// 60` or `bob:40..57`.
///
/// Nil for what is not there.
///
/// - Throws: `usage`, `bad_reference`.
public func conversationAndRanges(
  _ operands: [String]
) throws -> (ConversationReference?, [RangeReference]?) {
  guard let first = operands.first else { return (nil, nil) }
  var ranges: [RangeReference] = []
  let conversation: ConversationReference
  if let (named, range) = try splitReference(first) {
    conversation = named
    ranges.append(range)
  } else {
    conversation = try ConversationReference(first)
  }
  for operand in operands.dropFirst() {
    guard let range = RangeReference(operand) else {
      throw usage("'\(operand)' is no range of messages; write 57, 40..57, 40.. or ..57")
    }
    ranges.append(range)
  }
  if let backwards = ranges.first(where: \.isBackwards) {
    let (from, to) = (backwards.from ?? 0, backwards.to ?? 0)
    throw usage("'\(from)..\(to)' runs backwards; write \(to)..\(from)")
  }
  return (conversation, ranges.isEmpty ? nil : ranges)
}

/// A number or a UUID is a message, `bob:57` too; but `14:30` is a time, though a user may be called 14.
///
/// - Throws: `bad_time`.
public func messageOrTime(_ text: String) throws -> HistoryQuery.Bound {
  if Int(text) != nil || Identifier(text) != nil { return .message(try MessageReference(text)) }
  do {
    return .time(try moment(text))
  } catch let error as DMError where error.code == .badTime {
    if let reference = try splitReference(text), reference.range.from != nil {
      return .message(try MessageReference(text))
    }
    throw error
  }
}

/// What `dm-tail` has printed, to mark it.
public struct PrintedMessages {
  private var ranges: [Identifier: [SeqRange]] = [:]
  /// The last number in each conversation that somebody else said.
  public private(set) var lastOfOthers: [Identifier: Int] = [:]

  public init() {}

  public mutating func add(_ messages: [Message], seenBy me: Handle) {
    for message in messages {
      let (id, seq) = (message.conversationID, message.seq)
      if message.sender != me { lastOfOthers[id] = max(lastOfOthers[id] ?? 0, seq) }
      if let last = ranges[id]?.last, last.upperBound + 1 == seq {
        ranges[id]?.removeLast()
        ranges[id]?.append(last.lowerBound...seq)
      } else {
        ranges[id, default: []].append(seq...seq)
      }
    }
  }

  public func markRead(_ messenger: Messenger) throws {
    for (id, ranges) in ranges {
      let target = ReadTarget.ranges(ranges.map { RangeReference(from: $0.lowerBound, to: $0.upperBound) })
      _ = try messenger.markRead(target, in: .id(id))
    }
  }
}

/// Messages as a page for people: by day, with a line above what is unread.
public struct MessagePage {
  private let messenger: Messenger
  /// Without one, each message says in which conversation it stands.
  private let conversation: ConversationReference?
  private var firstUnread: Int??
  private var day = ""
  private var names: [Identifier: String] = [:]

  public init(_ messenger: Messenger, _ conversation: ConversationReference?) {
    self.messenger = messenger
    self.conversation = conversation
  }

  public mutating func text(of message: Message) throws -> String {
    var text = ""
    let today = TextFormat.day(message.createdAt)
    if today != day { text += "-- \(today) --\n" }
    day = today
    if firstUnread == nil {
      firstUnread = .some(try conversation.flatMap { try messenger.conversation($0).firstUnreadSeq })
    }
    if message.seq == firstUnread { text += "-- unread --\n" }
    return try text
      + TextFormat.line(
        message, for: messenger.identity.handle, in: conversation == nil ? name(message.conversationID) : nil,
        replyTo: message.replyTo.flatMap { try messenger.number(of: $0) })
  }

  private mutating func name(_ id: Identifier) throws -> String {
    if let known = names[id] { return known }
    let name = TextFormat.name(try messenger.conversation(.id(id)), for: messenger.identity.handle)
    names[id] = name
    return name
  }
}
