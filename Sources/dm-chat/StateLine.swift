internal import DMCLI
internal import DMKit
internal import DMModel

/// The line between the conversation and the line that the user writes.
extension ChatModel {
  /// The state of the conversation: `-- Bob B. (bob), online --`.
  ///
  /// A notice replaces this text, and takes up to a third of the window's rows.
  var state: [[UInt8]] {
    guard let notice else {
      return layout.rows(of: Mark.faint(cut("-- \(stateText) --", layout.width))).prefix(1).map(\.self)
    }
    let most = max(1, layout.height / 3)
    let said = "-- " + visible(notice.text, indent: " ").replacing(text: "\n", with: " ")
    // Without the last dashes if there are several rows: they could be all that the last row has.
    let text = columns(of: said) + 3 > layout.width ? cut(said, layout.width * most) : said + " --"
    return layout.rows(of: notice.isFault ? Mark.alert(text) : Mark.strong(text)).prefix(most).map(\.self)
  }

  /// The name of the conversation is cut first if the window is narrow.
  private var stateText: String {
    if let search = composition.search { return text(of: search) }
    let parts = stateParts
    let width = layout.width - 6
    if let named { return ([text(of: named, width)] + parts).joined(separator: ", ") }
    if !typingNames.isEmpty {
      let rest = parts.map { ", " + $0 }.joined()
      let typing = typingText(max(10, width - columns(of: rest)))
      if conversation?.isGroup != true { return typing + rest }
      let whole = name(.max) + rest + ": " + typing
      return columns(of: whole) <= width ? whole : typing + rest
    }
    let rest = ((isOnline.map { [$0 ? "online" : "offline"] } ?? []) + parts).map { ", " + $0 }.joined()
    return name(max(8, width - columns(of: rest))) + rest
  }

  private func name(_ width: Int) -> String {
    Mark.body(conversation.map { TextFormat.label($0, for: me, width: width) } ?? visible(reference.description))
  }

  private var stateParts: [String] {
    var parts: [String] = []
    if isBlocked { parts.append("blocked by you") }
    if conversation?.mutedUntil != nil { parts.append("muted") }
    if isHubLost { parts.append("the hub cannot be reached") }
    if cannotMark { parts.append("the store cannot be written to") }
    if let panel {
      let more = panel.visible(max(1, layout.height - 2), layout).more
      parts.append(more.map { "\($0) shows more, Esc goes back" } ?? "Esc goes back")
    } else if loaded.isScrolled {
      parts.append(newBelow > 0 ? "\(newBelow) new below, Esc" : "Esc goes to the end")
    }
    return parts
  }

  /// Who is typing: `Alice A. (alice) is typing`, with the name cut if it is too long.
  private func typingText(_ width: Int) -> String {
    let whole = TextFormat.typing(typingNames)
    if columns(of: whole) <= width { return whole }
    guard typingNames.count == 1, let name = typingNames.first else { return "\(typingNames.count) are typing" }
    return Mark.body(cut(name, max(1, width - columns(of: " is typing")))) + " is typing"
  }

  private func text(of search: HistorySearch) -> String {
    let words = "'\(visible(search.words))'"
    if !search.isFound { return "nothing that you entered has \(words), Esc goes back" }
    return "entered with \(words): Enter takes it, Ctrl-R shows an earlier one, Esc goes back"
  }
}

/// The message that a command names, such as the one that `/reply` answers.
extension ChatModel {
  /// The number after a command that is about one message; nil if the line has no such command.
  var numberInLine: Int? {
    guard let (command, rest) = Entered.begun(composition.line.text) else { return nil }
    return [.reply, .react, .delete, .forward, .pin, .unpin].contains(command) ? Entered.number(rest).0 : nil
  }

  /// The line, with the number of the message that the state line shows in place of one that counts from the end: by now,
  /// another message may be the last one.
  var lineToEnter: String {
    let text = composition.line.text
    guard let named, named.number < 0, named.number == numberInLine, let seq = named.message?.seq,
      let (command, rest) = Entered.begun(text)
    else { return text }
    return "/\(command.rawValue) \(seq) \(Entered.number(rest).rest)"
  }

  /// `answers 27 bob 'lunch?'`, in at most `width` columns.
  private func text(of named: (number: Int, message: Message?), _ width: Int) -> String {
    // The loaded message is newer, if it was edited or deleted since the number was typed.
    let loaded = loaded.entries.last { $0.message.id == named.message?.id }?.message
    guard let message = loaded ?? named.message, let seq = message.seq, message.deletedAt == nil else {
      return "there is no message \(named.number) here"
    }
    let verb = Entered.begun(composition.line.text)?.command == .reply ? "answers" : "message"
    let head = "\(verb) \(seq) \(Mark.body(visible(message.sender.description))) "
    let text = message.text ?? message.attachments.map(\.name).joined(separator: ", ")
    let shown = TextFormat.oneLine(text).replacing(text: "'", with: "’")
    return head + "'" + Mark.body(cut(shown, max(1, width - columns(of: head) - 2))) + "'"
  }
}

/// Messages for the user in particular.
extension ChatModel {
  /// Whether the user wants to be notified of a message, and the conversation is not muted.
  func isCall(_ message: Message) -> Bool {
    conversation?.mutedUntil == nil && notifications.takes(message, for: me)
  }

  /// The words of a notification, without the text of the message.
  func call(of message: Message) -> String {
    let sender = message.sender.description
    guard message.conversation.isGroup else { return "\(sender) wrote to you" }
    return "\(sender) \(message.mentions.contains(me) ? "mentions you" : "wrote") in \(message.conversation.reference)"
  }

  /// The title of the terminal's window: `(2) bob - dm`.
  var title: String {
    let name = conversation.map { TextFormat.name($0, for: me) } ?? reference.description
    return (calls > 0 ? "(\(calls)) " : "") + visible(name) + " - dm"
  }
}
