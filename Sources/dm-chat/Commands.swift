internal import DMCLI
internal import DMKit

/// Sends a message, or runs a command, that was entered in a window.
struct Commands {
  let acts: Conversing
  /// How the terminal shows pictures; nil if it does not.
  private let pictures: () throws -> PictureProtocol?

  init(_ acts: Conversing, pictures: @escaping () throws -> PictureProtocol? = { nil }) {
    (self.acts, self.pictures) = (acts, pictures)
  }

  /// - Parameters:
  ///   - layout: the window, in which a picture must fit.
  ///   - replaces: whether `/save` may replace files.
  ///   - progress: called often during long work, with a description of the work.
  func perform(
    _ entered: Entered, in layout: Layout, replaces: Bool = false, progress: @escaping (String) throws -> Void
  ) throws -> ChatModel.Outcome {
    guard case .command(let command, let rest) = entered else {
      if case .message(let text) = entered { try acts.send(text) }
      return .sent
    }
    switch command {
    case .reply: try acts.reply(rest)
    case .edit: return try edit(rest)
    case .react: try acts.react(rest)
    case .delete: try acts.delete(rest)
    case .forward: return .notice(try acts.forward(rest))
    case .pin: return .notice(try acts.pin(rest, true))
    case .unpin: return .notice(try acts.pin(rest, false))
    case .pins: return try pins()
    case .show:
      let (lines, picture) = try acts.show(rest, pictures(), in: layout, progress: progress)
      return .shown(lines, picture)
    case .open: return .opened(try acts.open(rest, progress: progress))
    case .save: return try save(rest, replaces, progress)
    case .attach: try acts.attach(rest, progress: progress)
    case .search: return try search(rest)
    case .digest: return try digest(rest)
    case .go: return try go(rest)
    case .who: return try who()
    case .mute: return .notice(try acts.mute() ? "muted" : "no longer muted")
    case .list: return .end(.list)
    case .help: return .panel(Panel(Entered.help, atTop: true), notice: nil)
    case .quit: return .end(.quit)
    }
    return .changed
  }

  private func edit(_ words: String) throws -> ChatModel.Outcome {
    let (number, text) = Entered.number(words)
    guard let number = try number ?? acts.lastOwn()?.seq else {
      throw usage("you have sent nothing here that could be edited")
    }
    if text.isEmpty {
      try acts.checkOwn(number, "edit")
      return .offer(try acts.messenger.messageToEdit(acts.message(number)))
    }
    try acts.edit(number, text)
    return .changed
  }

  private func search(_ words: String) throws -> ChatModel.Outcome {
    if words.allSatisfy(\.isWhitespace) { throw usage("write /search and the words to look for") }
    let found = try acts.search(words)
    if found.isEmpty { return .notice("nothing here matches '\(words)'; 'wor*' finds what begins with 'wor'") }
    let count = counted(found.count, "message")
    let newest = found.count < Conversing.mostFound ? "" : "the newest "
    return .panel(
      Panel(hits: found.reversed()), notice: "\(newest)\(count); Up, Down and Enter go to one, Esc back")
  }

  private func pins() throws -> ChatModel.Outcome {
    let found = try acts.pins()
    if found.isEmpty { return .notice("nothing is pinned here; /pin and the number of a message pins it") }
    return .panel(Panel(pins: found), notice: Panel.notice(pins: found.count))
  }

  /// Saves attachments; if a file has the name of one already, asks whether to replace the file.
  private func save(
    _ words: String, _ replaces: Bool, _ progress: (String) throws -> Void
  ) throws -> ChatModel.Outcome {
    do {
      return .notice(try acts.save(words, replaces: replaces, progress: progress))
    } catch let error as DMError where error.remedy == .nameFileOrReplace {
      return .asks("\(error.message); Enter replaces it, or name another file")
    }
  }

  private func who() throws -> ChatModel.Outcome {
    let (lines, online) = try acts.who()
    if lines.isEmpty { return .notice("nobody is here yet; a message begins the conversation") }
    return .panel(
      Panel(lines, atTop: true), notice: "\(counted(lines.count, "person", "people")), \(online) online; Esc back")
  }

  private func digest(_ words: String) throws -> ChatModel.Outcome {
    let lines = try DigestLines(acts).made(of: words)
    return lines.count == 1
      ? .notice(lines[0]) : .panel(Panel(lines, atTop: true), notice: "/go N goes to a message, Esc back")
  }

  private func go(_ words: String) throws -> ChatModel.Outcome {
    guard let number = Entered.number(words).0 else { throw usage("write /go and the number of a message") }
    return try go(to: number)
  }

  /// - Throws: `unknown_message` for a number that the conversation does not have.
  func go(to number: Int) throws -> ChatModel.Outcome {
    let (before, after) = try acts.pages.around(number)
    let found = after.first?.seq
    return .messages(before: before, after: after, marked: number < 0 || found == number ? found : nil)
  }
}
