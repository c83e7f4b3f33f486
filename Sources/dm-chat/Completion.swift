internal import DMCLI
internal import DMKit

/// The completion of the word before the cursor or, after `/attach`, of the path before the cursor.
struct Completion {
  /// A possible completion of a word, and its label in a list of candidates.
  private typealias Candidate = (text: String, label: String)

  let messenger: Messenger

  /// Completes the word as far as all candidates agree, and lists them if there are several.
  func complete(_ model: inout ChatModel) throws {
    let before = model.composition.line.textBeforeCursor
    let word = String(before.suffix(while: { $0 != " " && $0 != "\n" }))
    let (typed, candidates) = try candidates(before, word, model)
    guard let first = candidates.first else { return }
    if candidates.count == 1 { return model.composition.line.replaceBeforeCursor(typed.count, with: first.text) }
    let common = candidates.dropFirst().reduce(first.text) { $0.commonStart(with: $1.text) }
    if common.count > typed.count { model.composition.line.replaceBeforeCursor(typed.count, with: common) }
    model.say(candidates.map(\.label).joined(separator: "  "))
  }

  /// - Returns: the text that the candidates replace, and the candidates.
  private func candidates(_ before: String, _ word: String, _ model: ChatModel) throws -> (String, [Candidate]) {
    guard before.hasPrefix("/"), let space = before.firstIndex(of: " ") else {
      return (word, before.hasPrefix("/") ? commands(word) : try names(word, model))
    }
    let rest = String(before[space...].dropFirst())
    let isFirst = rest == word
    switch Entered.begun(before)?.command {
    case .attach: return (rest, try Conversing.files(rest))
    case .save where !isFirst:
      let path = String(rest.drop { $0 != " " }.dropFirst())
      return (path, try Conversing.files(path))
    case .react where word.hasPrefix(":"): return (word, shortCodes(word))
    case .edit where isFirst: return (word, numbers(word, model, of: \.isMine))
    case .open where isFirst, .save: return (word, numbers(word, model) { !$0.attachments.isEmpty })
    case .forward where !isFirst: return (word, try conversations(word))
    case .reply, .delete, .digest, .go, .react, .forward, .pin, .unpin, .show:
      return (word, isFirst ? numbers(word, model) { _ in true } : try names(word, model))
    default: return (word, try names(word, model))
    }
  }

  /// The newest conversations whose names begin with this word.
  private func conversations(_ word: String) throws -> [Candidate] {
    try messenger.conversations().map { TextFormat.name($0, for: messenger.identity.handle) }
      .filter { $0.hasPrefix(word) }.prefix(10).map { ($0, visible($0)) }
  }

  private func commands(_ word: String) -> [Candidate] {
    Entered.Command.allCases.map { "/" + $0.rawValue }.filter { $0.hasPrefix(word) }.map { ($0 + " ", $0) }
  }

  /// Up to five numbers of messages, the newest first, each labeled with the sender and the beginning of the text.
  private func numbers(_ word: String, _ model: ChatModel, of isWanted: (Message) -> Bool) -> [Candidate] {
    var candidates: [Candidate] = []
    for message in model.loaded.entries.reversed().map(\.message) where isWanted(message) {
      guard let seq = message.seq, "\(seq)".hasPrefix(word) else { continue }
      guard let text = message.text ?? message.attachments.first?.name else { continue }
      candidates.append(("\(seq) ", "\(seq) \(visible(message.sender.description)) \(TextFormat.quoted(text))"))
      if candidates.count == 5 { break }
    }
    return candidates
  }

  private func shortCodes(_ word: String) -> [Candidate] {
    DMCLI.shortCodes.flatMap { row in row.names.map { (text: ":\($0):", label: "\(row.emoji) :\($0):") } }
      .filter { $0.text.hasPrefix(word) }
  }

  /// The other participants: their handles after `@`, otherwise their handles or display names.
  private func names(_ word: String, _ model: ChatModel) throws -> [Candidate] {
    let (sign, start) = word.hasPrefix("@") ? ("@", String(word.dropFirst())) : ("", word)
    if sign.isEmpty, start.isEmpty { return [] }
    return try (model.conversation?.participants ?? []).filter { $0 != model.me }.flatMap { handle in
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
