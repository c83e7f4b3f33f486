internal import DMCLI
internal import DMKit
internal import DMSystem

/// What keys do.
extension Chat {
  func take(_ event: Window.Event) throws {
    switch event {
    case .key(let key):
      notice = nil
      try press(key)
    case .resized: stretch.forgetRows()
    case .ended: end = .quit
    }
  }

  private func press(_ key: Key) throws {
    let before = line.text
    switch key {
    case .enter: try enter()
    case .tab: try completeWord()
    case .escape:
      if panel == nil { try goToEnd() }
      panel = nil
    case .pageUp: try stretch.goBack(max(1, height() - 1), height: height(), text)
    case .pageDown: try stretch.goOn(max(1, height() - 1), text)
    case .redraw: window.forget()
    case .up where line.isEmpty || line.text == offered?.text: try offerOwn()
    default:
      if !line.apply(key), key == .endOfInput, line.isEmpty { end = .quit }
    }
    if line.isEmpty {
      keystrokes.stop()
    } else if line.text != before, !line.text.hasPrefix("/") || line.text.hasPrefix("/reply ") {
      keystrokes.strike(at: monotonicMicroseconds())
    }
  }

  private func goToEnd() throws {
    stretch.bottom = nil
    if stretch.hasNewer { try stretch.readNewest() }
  }

  /// Puts `/edit` of the user's last message into the line, or of the one before the message that is there.
  private func offerOwn() throws {
    let limit = line.isEmpty ? Int.max : offered?.number ?? .max
    let own = stretch.entries.last { entry in
      entry.message.isMine && entry.message.text != nil && (entry.message.seq ?? .max) < limit
    }?.message
    guard let own, let number = own.seq, let text = own.text else { return say("there is no message to edit here") }
    line.replace("/edit \(number) \(text)")
    offered = (line.text, number)
  }

  func say(_ text: String, isFault: Bool = false) { notice = (text, isFault) }

  /// Does what the line says; the line stays if that fails.
  private func enter() throws {
    panel = nil
    let text = line.text
    guard text.contains(where: { !$0.isWhitespace }) else { return _ = line.take() }
    do {
      let next = try perform(Entered(text))
      _ = line.take()
      if let next { line.replace(next) }
      keystrokes.stop()
      shownTyping.show(false)
      try removeDraft()
      call.startCarrier()
    } catch let error as DMError {
      say(error.text, isFault: true)
    }
  }

  /// - Returns: what stands in the line then; nil for nothing.
  private func perform(_ entered: Entered) throws -> String? {
    guard case .command(let command, let rest) = entered else {
      if case .message(let text) = entered { try acts.send(text) }
      stretch.firstUnread = nil
      try goToEnd()
      return nil
    }
    switch command {
    case .reply: try acts.reply(rest)
    case .edit: return try edit(rest)
    case .react: try acts.react(rest, to: stretch.entries.last { !$0.message.isMine }?.message.seq)
    case .delete: try acts.delete(rest)
    case .attach: try attach(rest)
    case .search: try search(rest)
    case .go: try go(rest)
    case .mute: say(try acts.mute() ? "muted" : "no longer muted")
    case .list: end = .list
    case .help: panel = Entered.help
    case .quit: end = .quit
    }
    return nil
  }
}
