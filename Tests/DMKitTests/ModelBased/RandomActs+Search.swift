@testable import DMKit
@testable import DMModel
@testable import StoreSupport
@testable import TestSupport

/// Compares searches with a scan of all messages that the user sees.
extension RandomActs {
  /// A search: for a phrase, for the beginning of a word, for two words, for one of two words, or for one word without another.
  private enum Wanted {
    case phrase([String])
    case beginning(String)
    case both(String, String)
    case either(String, String)
    case without(String, String)

    var query: String {
      switch self {
      case .phrase(let words): words.count == 1 ? words[0] : "\"\(words.joined(separator: " "))\""
      case .beginning(let word): "\(word)*"
      case .both(let one, let other): "\(one) \(other)"
      case .either(let one, let other): "\(one) OR \(other)"
      case .without(let one, let other): "\(one) NOT \(other)"
      }
    }

    func isIn(_ text: [String]) -> Bool {
      switch self {
      case .phrase(let words):
        text.indices.contains { text[$0...].starts(with: words) }
      case .beginning(let word): text.contains { $0.hasPrefix(word) }
      case .both(let one, let other): text.contains(one) && text.contains(other)
      case .either(let one, let other): text.contains(one) || text.contains(other)
      case .without(let one, let other): text.contains(one) && !text.contains(other)
      }
    }
  }

  private static let sought = ["lunch", "naive", "straße", "東", "京", "都", "ok", "way", "alice", "al", "海", "don", "42"]

  private func wanted() -> Wanted {
    func word() -> String { Self.sought[random.below(Self.sought.count)] }
    switch random.below(8) {
    case 0: return .phrase(["on", "my", "way"])
    case 1: return .phrase([word(), word()])
    case 2: return .beginning(["l", "na", "al", "東", "4"][random.below(5)])
    case 3: return .both(word(), word())
    case 4: return .either(word(), word())
    case 5: return .without(word(), word())
    default: return .phrase([word()])
    }
  }

  /// The words of a text: letters and digits, in lower case and without accents.
  ///
  /// Each Han character or kana is a word of its own.
  private func words(of text: String) -> [String] {
    var words: [String] = []
    var goesOn = false
    for scalar in text.lowercased().unicodeScalars {
      let isAlone = (0x3040...0x9FFF).contains(scalar.value)
      guard isAlone || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) else {
        goesOn = false
        continue
      }
      let letter = scalar == "ï" ? "i" : String(scalar)
      if goesOn, !isAlone { words[words.count - 1] += letter } else { words.append(letter) }
      goesOn = !isAlone
    }
    return words
  }

  func compareSearch(of user: User) throws {
    let wanted = wanted()
    var request = SearchRequest(chance(85) ? wanted.query : nil)
    (request.limit, request.newestFirst) = (nil, true)
    let own = model.talks.indices.filter { model.talks[$0].parts[user] != nil }
    let only = chance(40) ? own.randomElement(using: &random) : nil
    if let id = only.flatMap({ model.talks[$0].id }) { request.conversations = [.id(id)] }
    let sender = chance(25) ? anybody() : nil
    request.sender = sender.map { Handle(typed: name($0)) }
    if chance(20) { request.contents = [.mention] }
    var expected: [Message] = []
    for talk in only.map({ [$0] }) ?? own {
      for seq in model.visible(talk, user) {
        let said = model.talks[talk].said[seq - 1]
        guard let text = said.text, said.sender == sender ?? said.sender else { continue }
        if !request.contents.isEmpty, said.mentions.isEmpty { continue }
        if request.words != nil, !wanted.isIn(words(of: text)) { continue }
        expected.append(try model.message(seq, talk, to: user))
      }
    }
    expected.sort { $0.createdAt > $1.createdAt }
    let what = "\(name(user)) searches \(request)"
    note(what)
    try same(try found(request, user), expected, what)
    request.newestFirst = false
    try same(try found(request, user).sorted { $0.createdAt > $1.createdAt }, expected, "\(what), by rank")
    (request.newestFirst, request.limit) = (true, 3)
    try same(try found(request, user), Array(expected.prefix(3)), "the first of what \(what)")
  }

  private func found(_ request: SearchRequest, _ user: User) throws -> [Message] {
    let results = try messengers[user].search(request)
    var messages: [Message] = []
    while case let batch = try results.next(), !batch.isEmpty {
      for found in batch {
        var message = found.message
        if (message.snippet == nil) != (request.words == nil) { throw Mismatch("\(message) has no snippet") }
        message.snippet = nil
        messages.append(message)
      }
    }
    return messages
  }
}
