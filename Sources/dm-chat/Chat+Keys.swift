internal import DMCLI
internal import DMKit
internal import DMSystem

/// What keys do.
extension Chat {
  func take(_ event: Window.Event) throws {
    switch event {
    case .key(let key):
      notice = nil
      do {
        try press(key)
      } catch let error as DMError {
        // Nothing that is typed ends the window but what leaves it.
        say(error.text, isFault: true)
      }
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
      if line.text == offered?.text { line.replace("") }
      if panel == nil { try goToEnd() }
      panel = nil
    case .pageUp: try goBack(1)
    case .pageDown: try goBack(-1)
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

  /// Goes back by a page, or on if the number is negative; one row stays.
  private func goBack(_ pages: Int) throws {
    let height = try height()
    let count = max(1, height - 1)
    if panel != nil {
      let screen = try call.screen()
      panel?.goBack(pages * count, height: height, screen)
    } else if pages > 0 {
      try stretch.goBack(count, height: height, text)
    } else {
      try stretch.goOn(count, text)
    }
  }

  func goToEnd() throws {
    stretch.bottom = nil
    if stretch.hasNewer { try stretch.readNewest() }
  }

  /// Puts `/edit` of the user's last message into the line, or of the one before the message that is there.
  private func offerOwn() throws {
    let limit = line.isEmpty ? Int.max : offered?.number ?? .max
    guard let own = stretch.lastOwn(before: limit), let number = own.seq, let text = own.text else {
      return say("there is no message to edit here")
    }
    line.replace(offer(number, text))
  }

  func say(_ text: String, isFault: Bool = false) { notice = (text, isFault) }
}
