package import DMKit
internal import DMSystem

/// Records as text for people.
///
/// Everything that comes from a store is escaped with `visible`.
package enum TextFormat {
  /// The clock, such as `14:30`, for a time today; otherwise the date.
  package static func short(_ time: Timestamp, now: Timestamp = .now) -> String {
    day(time) == day(now) ? clock(time) : day(time)
  }

  package static func clock(_ time: Timestamp) -> String {
    let local = LocalTime(time)
    return "\(padded(local.hour)):\(padded(local.minute))"
  }

  package static func day(_ time: Timestamp) -> String {
    let local = LocalTime(time)
    let year = String(local.year)
    let zeros = String(repeating: "0", count: max(0, 4 - year.utf8.count))
    return "\(zeros)\(year)-\(padded(local.month))-\(padded(local.day))"
  }

  /// A local date and its day of the week: `Mon 2026-11-23`.
  ///
  /// - Throws: `bad_time`.
  package static func weekdayAndDay(_ date: String) throws -> String {
    weekdayAndDay(try typedTime(date + "T12:00"))
  }

  package static func weekdayAndDay(_ time: Timestamp) -> String { "\(LocalTime(time).dayOfWeek) \(day(time))" }

  /// The line above the messages of a day: `── Monday 23 November ──`, or `── Today ──`.
  ///
  /// - Parameter now: nil for lines that are kept, which always have the year and never say `Today`.
  package static func dayLine(_ time: Timestamp, now: Timestamp? = .now) -> String {
    let local = LocalTime(time)
    if let now, day(time) == day(now) { return Mark.faint("── Today ──" + Mark.fill) }
    let year = now.map { LocalTime($0).year == local.year } ?? false ? "" : " \(local.year)"
    let date = "\(local.weekday) \(local.day) \(months[local.month - 1])\(year)"
    return Mark.faint("── \(date) ──" + Mark.fill)
  }

  private static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
  ]

  /// The line above the first unread message: `── 5 new ──`.
  package static func unreadLine(_ count: Int) -> String { Mark.alert("── \(count) new ──" + Mark.fill) }

  /// `2026-11-23 14:30`.
  package static func dateAndTime(_ time: Timestamp) -> String { "\(day(time)) \(clock(time))" }

  /// A time in at most six columns: `14:30` for today, `Mon` for the last six days, `3 Nov` for this year, else the
  /// year.
  static func brief(_ time: Timestamp, now: Timestamp = .now) -> String {
    let (local, today) = (LocalTime(time), LocalTime(now))
    if (local.year, local.month, local.day) == (today.year, today.month, today.day) { return clock(time) }
    let age = now.microseconds - time.microseconds
    if 0...(6 * 86_400_000_000) ~= age { return local.dayOfWeek }
    return local.year == today.year ? "\(local.day) \(months[local.month - 1].prefix(3))" : String(local.year)
  }

  static func padded(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// A message: time, number, the sender, marks, and the text.
  ///
  /// - Parameters:
  ///   - isIntroduced: whether the line has the handle of the sender beside their display name.
  ///   - address: the URL of an attachment; nil for no link.
  package static func line(
    _ message: Message, _ people: People, isIntroduced: Bool = true, in conversation: String? = nil,
    address: (Attachment) -> String? = { _ in nil }
  ) -> String {
    if let announcement = announcement(message, people) {
      return Mark.faint("\(clock(message.createdAt))\(start(of: message, in: conversation))\(announcement)")
    }
    let marks = marks(of: message, people, address)
    var line = Mark.faint(clock(message.createdAt)) + start(of: message, in: conversation)
    line += people.sender(of: message, isIntroduced: isIntroduced, marks)
    line += ":"
    if message.text != nil {
      line += Mark.text
      line += " "
      line += body(of: message, people)
    }
    if let preview = message.linkPreview { line += "\n\(margin)\(self.line(preview))" }
    return line
  }

  /// What is between the time and the sender of a message: its number, after the name of the conversation.
  private static func start(of message: Message, in conversation: String?) -> String {
    var start = "  "
    if let conversation { start += Mark.body(conversation) + ":" }
    start += number(message)
    return start + " "
  }

  /// The title of a page, and the name of its site: `↳ A page (Example)`.
  private static func line(_ preview: LinkPreview) -> String {
    let site = preview.site.map { " (\(Mark.body(cut(oneLine($0), 40))))" } ?? ""
    return Mark.faint("↳ \(Mark.body(cut(oneLine(preview.title), 100)))\(site)")
  }

  /// The beginning of a text in quotation marks; quotation marks inside the text are replaced, so that the reader sees
  /// where the text ends.
  package static func quoted(_ text: String) -> String {
    let scalars = visible(unpadded(text)).unicodeScalars.map { $0 == "'" || $0 == "\u{FF07}" ? "’" : $0 }
    return "'" + cut(String(String.UnicodeScalarView(scalars)), 24) + "'"
  }

  /// A text that is escaped and put on one line.
  package static func oneLine(_ text: String?) -> String { unpadded(visible(text ?? "", indent: "")) }

  /// A text on one line, with one space instead of each run of white space: a text with wide gaps could look like two
  /// texts.
  static func unpadded(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

  /// The margin of all lines of a message except the first.
  static let margin = String(repeating: " ", count: Screen.indent)

  /// The marks in parentheses; an empty text if there are none.
  static func noted(_ marks: [String]) -> String {
    marks.isEmpty ? "" : Mark.notes + " " + Mark.faint("(\(marks.joined(separator: ", ")))")
  }

  /// The number of a message, or a hyphen for a message that waits for the hub.
  package static func number(_ message: Message) -> String { message.seq.map(String.init) ?? "-" }

  /// The line of a deleted message or a system message; nil for other messages.
  static func announcement(_ message: Message, _ people: People) -> String? {
    if message.deletedAt == nil, message.systemKind == nil { return nil }
    let sender = people.name(of: message.sender, message.senderName)
    if let time = message.deletedAt {
      let hasExpired = message.expiresAt.map { $0 <= time } ?? false
      return hasExpired ? "expired, by \(sender)" : "deleted by \(sender)"
    }
    let title = Mark.body(plain(message.subject ?? ""))
    let subject = people.name(of: Handle(stored: message.subject ?? ""))
    guard let act = message.act(title: title, user: subject) else {
      return "\(sender) (cannot be read by this version of dm; update it)"
    }
    return "-- \(sender) \(act) --"
  }

  package static func line(_ deletion: Deletion, in prefix: String = "") -> String {
    "-- \(Mark.body(prefix))\(deletion.seq.map(String.init) ?? "-") deleted\(deletion.forEveryone ? "" : " for you") --"
  }

  package static func line(_ reaction: Reaction, in prefix: String = "") -> String {
    let user = handle(reaction.user)
    guard let emoji = reaction.emoji else {
      return "-- \(user) took back a reaction to \(Mark.body(prefix))\(reaction.seq) --"
    }
    return "-- \(user) reacted to \(Mark.body(prefix))\(reaction.seq): \(visible(emoji)) --"
  }

  /// A report and the reported text, for the administrator of a store or a hub.
  package static func lines(_ report: Report) -> String {
    let reason = report.reason.map { " (\(visible($0, indent: "  ")))" } ?? ""
    let text = visible(report.text ?? "", indent: "  ")
    return """
      \(dateAndTime(report.reportedAt))  \(visible(report.user.description)) reported \(report.conversationID):\(report.seq)\(reason)
        \(visible(report.sender.description)): \(text)
      """
  }

  package static func line(_ report: Report) -> String {
    let reason = report.reason.map { ": \(visible($0, indent: " "))" } ?? ""
    return
      "\(dateAndTime(report.reportedAt))  \(handle(report.user)) reported \(report.seq) of \(handle(report.sender))\(reason)"
  }

  package static func line(_ receipt: Receipt, _ people: People, in conversation: String? = nil) -> String {
    let time = receipt.at.map(dateAndTime) ?? "some time ago"
    return
      "\(people.colored(receipt.user, people.name(of: receipt.user)))  \(conversation.map { Mark.body($0) + ":" } ?? "")\(ranges(receipt.ranges))  \(time)"
      + (receipt.kind == .delivery ? "  delivered" : "  read")
  }

  /// The messages that were marked or, in a dry run, would be marked: `marked 5 of bob as read: 5..8, 12; 3 unread`.
  package static func line(_ marked: Marked, in conversation: String) -> String {
    "\(marked.isDryRun ? "would mark" : "marked") \(marked.count) of \(Mark.body(conversation)) as \(marked.action.rawValue): "
      + "\(ranges(marked.ranges)); \(marked.unreadCount) unread"
  }

  /// A line about a new status of messages: `-- bob has read up to alice:60 --`.
  package static func line(_ status: MessageStatus, in prefix: String = "") -> String {
    let verb = status.status == .read ? "has read" : "got"
    return "-- \(handle(status.user)) \(verb) up to \(Mark.body(prefix))\(status.ranges.last?.upperBound ?? 0) --"
  }

  /// The first ranges, at most ten, as in `5..8, 12`.
  static func ranges(_ ranges: [SeqRange]) -> String {
    let shown = ranges.prefix(10).map {
      $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)..\($0.upperBound)"
    }
    return shown.joined(separator: ", ") + (ranges.count > shown.count ? ", …" : "")
  }

  /// The users who are typing, by their printed names: `Alice A. (alice), bob, +2 are typing`.
  package static func typing(_ names: [String]) -> String {
    let shown = names.prefix(2).map(Mark.body) + (names.count > 2 ? ["+\(names.count - 2)"] : [])
    return "\(names.isEmpty ? "nobody" : shown.joined(separator: ", ")) \(names.count > 1 ? "are" : "is") typing"
  }

  /// - Parameter displayName: nil if the user has no display name.
  package static func line(_ presence: Presence, displayName: String? = nil) -> String {
    let name = Mark.person(
      Mark.look(of: presence.user.description), left(person(displayName, presence.user, width: 24), 24))
    let seen = presence.lastSeenAt.map { "last seen \(dateAndTime($0))" } ?? "never seen"
    return "\(name)  \(presence.isOnline ? "online" : seen)"
  }

  package static func line(_ consumer: Consumer) -> String {
    let skipped = consumer.skippedCount > 0 ? ", \(consumer.skippedCount) skipped" : ""
    return
      "\(left(visible(consumer.name), 24))  \(consumer.behindCount) behind\(skipped), used \(dateAndTime(consumer.usedAt))  \(consumer.cursor)"
  }

  package static func line(_ user: User) -> String {
    var line = Mark.person(Mark.look(of: user.handle.description), handle(user.handle))
    if !user.showsPresence { line += " (hides presence)" }
    if !user.sendsReadReceipts { line += " (hides read receipts)" }
    if user.displayName != nil || user.bio != nil || user.avatarURL != nil {
      line += String(repeating: " ", count: max(0, 24 - columns(of: line)))
    }
    for part in [user.displayName, user.bio, user.avatarURL.map(avatar)] {
      if let part { line += "  " + Mark.body(oneLine(part)) }
    }
    return line
  }

  /// The URL of a picture, or words for the long name of a picture that is in the store.
  private static func avatar(_ url: String) -> String { ContentHash(url: url) == nil ? url : "(with a picture)" }

  /// A conversation with all its details, for `dm-conversation`.
  ///
  /// - Parameter called: returns the printed name of a user.
  package static func details(
    _ conversation: Conversation, for me: Handle, called: (Handle) throws -> String = { visible($0.description) }
  ) throws -> String {
    let participants = try conversation.participants.map { Mark.body(try called($0)) }.joined(separator: ", ")
    var lines = [
      label(conversation, for: me),
      "  id            \(conversation.id)",
      "  participants  \(participants)",
      "  messages      \(conversation.lastMessage?.seq ?? 0), \(conversation.unreadCount) unread",
      "  last activity \(dateAndTime(conversation.lastActivityAt))",
    ]
    if !conversation.owners.isEmpty {
      let owners = conversation.owners.map { handle($0) }.joined(separator: ", ")
      lines.insert("  owners        \(owners)", at: 3)
    }
    if conversation.ownName != nil, let title = conversation.title {
      lines.insert("  title         \(visible(title))", at: 1)
    }
    if let url = conversation.avatarURL { lines.append("  avatar        \(visible(avatar(url)))") }
    if let lifetime = conversation.expireAfter { lines.append("  expire after  \(lifetime.components.seconds) s") }
    if let end = conversation.mutedUntil {
      lines.append("  muted         \(end == .forever ? "for ever" : "until \(dateAndTime(end))")")
    }
    if conversation.isPinned { lines.append("  pinned") }
    if conversation.isArchived { lines.append("  archived") }
    if let draft = conversation.draftText {
      lines.append("  draft         \(visible(draft, indent: "                "))")
    }
    return lines.joined(separator: "\n")
  }
}

extension TextFormat {
  /// A message that was found: time, conversation, number, the sender, attachments, and the text around the hits.
  package static func line(
    _ message: Message, _ snippet: Snippet?, _ people: People, in conversation: String
  ) -> String {
    let pinned = message.pin.map { ["pinned by \(people.handle($0.user))"] } ?? []
    let sender = people.sender(of: message, isIntroduced: true, message.attachments.map(mark) + pinned)
    let head = "\(dateAndTime(message.createdAt))  \(Mark.body(conversation)):\(number(message)) \(sender): "
    guard let snippet else { return head + Mark.body(highlighted(oneLine(message.text), message, people)) }
    let text = snippet.parts.map { part in
      let text = visible(part.text, indent: nil)
      return part.isHit ? Mark.hitStart + text + Mark.hitEnd : text
    }
    return head + Mark.body(highlighted(text.joined(), message, people))
  }
}

/// A number and a noun: `1 message`, `2 messages`.
///
/// - Parameter plural: nil for the noun with an s.
package func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
  "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}
