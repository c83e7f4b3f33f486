internal import DMCLI
internal import DMKit
internal import DMSystem

/// What the window shows.
extension Chat {
  /// A message as dm-tail prints it.
  func text(of message: Message) -> String { TextFormat.line(message, for: me) }

  /// The rows of the conversation, from the size of the window.
  func height() throws -> Int { try height(above: state().count + composed().rows.count) }

  private func height(above rows: Int) throws -> Int { max(1, try size().rows - rows) }

  private func size() throws -> (columns: Int, rows: Int) {
    let screen = try call.screen()
    return (screen.columns ?? 80, screen.rows ?? 24)
  }

  /// What the user writes, of which at most a third of the window is shown: that around the cursor.
  private func composed() throws -> (rows: ArraySlice<String>, row: Int, beforeCursor: String) {
    let (columns, height) = try size()
    let line = LineRows(line, width: columns, prompt: "> ")
    let most = max(1, height / 3)
    let first = max(0, line.row + 1 - most)
    return (line.rows[first...].prefix(most), line.row - first, line.beforeCursor)
  }

  func draw() throws {
    let screen = try call.screen()
    let (composed, row, beforeCursor) = try composed()
    let state = try state()
    let height = try height(above: state.count + composed.count)
    var rows: [[UInt8]]
    var seen: ArraySlice<Stretch.Entry> = []
    if let panel {
      rows = panel.visible(height, screen).rows
    } else {
      (rows, seen) = try stretch.visible(height, text)
    }
    let end = rows.count
    rows += state
    rows += composed.map { Array($0.utf8) }
    window.draw(rows, cursor: (rows.count - composed.count + row, beforeCursor), clearingFrom: end)
    unread = seen.map(\.message).filter(\.isUnread)
    try markRead(now: monotonicMicroseconds())
  }

  /// The line between the conversation and what the user writes: `-- Bob B. (bob), online: Bob B. is typing --`.
  ///
  /// A notice has up to a third of the window.
  private func state() throws -> [[UInt8]] {
    let (width, height) = try size()
    if let notice {
      let most = max(1, height / 3)
      let text = cut("-- \(visible(notice.text, indent: " ")) --".replacing("\n", with: " "), width * most)
      return try call.screen().rows(of: notice.isFault ? Mark.alert(text) : Mark.strong(text)).prefix(most).map(\.self)
    }
    let name = conversation.map { TextFormat.label($0, for: me) } ?? visible(acts.conversation.description)
    var parts = [Mark.body(name)]
    if let isOnline { parts.append(isOnline ? "online" : "offline") }
    if isBlocked { parts.append("blocked by you") }
    if conversation?.mutedUntil != nil { parts.append("muted") }
    if let panel {
      let hasMore = try panel.visible(max(1, height - 2), call.screen()).hasMore
      parts.append(hasMore ? "PageUp shows more, Esc goes back" : "Esc goes back")
    } else if stretch.isScrolled {
      parts.append("Esc goes to the end")
    }
    var text = parts.joined(separator: ", ")
    if !typing.isEmpty {
      let names = try typing.map(messenger.shownName)
      text += ": " + TextFormat.typing(names)
    }
    return try call.screen().rows(of: Mark.faint(cut("-- \(text) --", width))).prefix(1).map(\.self)
  }
}

extension Chat {
  /// What was on the screen is read; it is written at most five times a second.
  ///
  /// A busy store is not waited for long, because the user may be typing; it is tried again a second later, like a store
  /// that cannot be written to.
  func markRead(now: Int64) throws {
    guard !unread.isEmpty, now >= nextMark else { return }
    var printed = PrintedMessages(isToBeRead: true)
    for message in unread { printed.add(message) }
    guard try attempt({ try printed.markRead(messenger, busyTimeout: .milliseconds(100)) }) else {
      nextMark = monotonicMicroseconds() + 1_000_000
      return
    }
    nextMark = monotonicMicroseconds() + 200_000
    stretch.setRead(Set(unread.map(\.id)))
    unread = []
  }
}

/// What happens in the conversation.
extension Chat {
  func take(_ event: MessagingEvent) throws {
    switch event {
    case .message(let message, _):
      if conversation == nil { try begin() }
      stretch.take(message)
      if isBlocked { try lookForBlock() }
      if !message.isMine, call.arguments[DMChat.bell] { ringBell() }
    case .messageUpdated(let message, _):
      stretch.take(message)
      changed += stretch.replies(to: message.id)
    case .messageDeleted(let deletion, _):
      if let seq = deletion.seq { changed.append(seq...seq) } else { try stretch.readNewest() }
      changed += stretch.replies(to: deletion.messageID)
    case .reaction(let reaction, _): changed.append(reaction.seq...reaction.seq)
    case .messageStatus(let status, _): changed += status.ranges
    case .readReceipt(let receipt, _), .deliveryReceipt(let receipt, _):
      if receipt.user != me { changed += receipt.ranges }
    case .conversationUpdated(let changed, _):
      conversation = changed
      try lookForBlock()
    case .typing(let typing): self.typing = typing.users
    case .presence(let presence): if presence.user == other { isOnline = presence.isOnline }
    case .caughtUp, .heartbeat: break
    case .gap: try stretch.readNewest()
    }
  }

  /// The messages of a blocked user are not shown, so the state says why.
  func lookForBlock() throws {
    let wasBlocked = isBlocked
    isBlocked = try conversation.flatMap(messenger.blockedUser) != nil
    if isBlocked != wasBlocked { try stretch.readNewest() }
  }

  func readChanged() throws {
    try stretch.refresh(coalesced(changed.sorted { $0.lowerBound < $1.lowerBound }))
    changed = []
  }

  /// The first message of a direct conversation has come.
  private func begin() throws {
    conversation = try acts.existing()
    shownTyping = try acts.shownTyping()
  }
}

/// What the user has begun to write.
extension Chat {
  /// Shows the conversation until the user leaves it, and keeps what they have begun to write as the draft.
  ///
  /// If that cannot be kept, it is printed.
  func run() throws -> End {
    do {
      try converse()
      try keepDraft()
    } catch {
      try printText()
      throw error
    }
    return end ?? .quit
  }

  private var text: String { line.text == offered?.text ? "" : line.text }

  private func keepDraft() throws {
    if text.contains(where: { !$0.isWhitespace }) {
      conversation = try messenger.saveDraft(text, in: acts.conversation)
    } else {
      try removeDraft()
    }
  }

  func removeDraft() throws {
    guard let draft = conversation?.draftText, draft == loadedDraft else { return }
    _ = try messenger.change(.draft(nil), in: [acts.conversation])
    conversation?.draftText = nil
  }

  /// After an error, which ends the program.
  private func printText() throws {
    window.leave()
    if text.isEmpty { return }
    try call.print("> " + visible(text, indent: "  "))
    try call.output.flush()
  }
}

/// The completion of the word before the cursor.
extension Chat {
  /// What a word can become, and how it is shown where there are several.
  private typealias Candidate = (text: String, label: String)

  func completeWord() throws {
    let before = line.textBeforeCursor
    let word = String(before.suffix(while: { $0 != " " && $0 != "\n" }))
    let (typed, candidates) = try candidates(before, word)
    guard let first = candidates.first else { return }
    if candidates.count == 1 {
      return line.replaceBeforeCursor(typed.count, with: first.text)
    }
    let common = candidates.dropFirst().reduce(first.text) { $0.commonStart(with: $1.text) }
    if common.count > typed.count { line.replaceBeforeCursor(typed.count, with: common) }
    say(candidates.map(\.label).joined(separator: "  "))
  }

  /// - Returns: what the candidates are for, and the candidates.
  private func candidates(_ before: String, _ word: String) throws -> (String, [Candidate]) {
    guard before.hasPrefix("/"), let space = before.firstIndex(of: " ") else {
      return (word, before.hasPrefix("/") ? commands(word) : try names(word))
    }
    let rest = String(before[space...].dropFirst())
    switch Entered.Command(rawValue: String(before[..<space].dropFirst())) {
    case .attach: return (rest, try Conversing.files(rest))
    case .react where word.hasPrefix(":"): return (word, shortCodes(word))
    case .edit where rest == word: return (word, numbers(word, of: \.isMine))
    case .reply, .delete, .go, .react: return (word, rest == word ? numbers(word) { _ in true } : try names(word))
    default: return (word, try names(word))
    }
  }

  private func commands(_ word: String) -> [Candidate] {
    Entered.Command.allCases.map { "/" + $0.rawValue }.filter { $0.hasPrefix(word) }.map { ($0 + " ", $0) }
  }

  /// The newest messages, with a glimpse of each.
  private func numbers(_ word: String, of isWanted: (Message) -> Bool) -> [Candidate] {
    var candidates: [Candidate] = []
    for message in stretch.entries.reversed().map(\.message) where isWanted(message) {
      guard let seq = message.seq, "\(seq)".hasPrefix(word), let text = message.text else { continue }
      candidates.append(("\(seq) ", "\(seq) \(visible(message.sender.description)) \(TextFormat.quoted(text))"))
      if candidates.count == 5 { break }
    }
    return candidates
  }

  private func shortCodes(_ word: String) -> [Candidate] {
    DMCLI.shortCodes.flatMap { row in row.names.map { (text: ":\($0):", label: "\(row.emoji) :\($0):") } }
      .filter { $0.text.hasPrefix(word) }
  }

  /// The people of the conversation: handles after `@`, else display names too.
  private func names(_ word: String) throws -> [Candidate] {
    let (sign, start) = word.hasPrefix("@") ? ("@", String(word.dropFirst())) : ("", word)
    if sign.isEmpty, start.isEmpty { return [] }
    return try (conversation?.participants ?? []).filter { $0 != me }.flatMap { handle in
      let names =
        [handle.description] + (sign.isEmpty ? [try messenger.user(handle).displayName].compactMap(\.self) : [])
      return names.filter { $0.lowercased().hasPrefix(start.lowercased()) }.prefix(1)
    }.map { ("\(sign)\($0) ", sign + visible($0)) }
  }
}

extension String {
  fileprivate func commonStart(with other: String) -> String {
    String(zip(self, other).prefix { $0 == $1 }.map(\.0))
  }

  fileprivate func suffix(while isWanted: (Character) -> Bool) -> Substring {
    self[(lastIndex { !isWanted($0) }.map(index(after:)) ?? startIndex)...]
  }
}
