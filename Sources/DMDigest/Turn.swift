internal import DMModel

/// A message with its sentences, and with the people who are addressed.
struct Turn: Sendable {
  let message: DigestMessage
  let sentences: [Sentence]
  /// The people whose names the message begins with, whose message it answers, or who are mentioned, in lower case; empty
  /// for a message to all.
  private(set) var addressees: [String] = []
  /// For a message without addressees, the person who is probably meant: the one who has just talked with its sender.
  fileprivate(set) var presumed: String?

  /// The sender in lower case.
  let sender: String

  /// Whether the text begins with a name that belongs to nobody in the talk, as in `zoe: hi`.
  fileprivate var namesOther: Bool {
    let first = message.text.prefix { !$0.isWhitespace }
    return first.utf8.last == UInt8(ascii: ":") && first.utf8.count > 2
  }

  func has(_ kind: Cues.Kind, _ cues: Cues) -> Bool { sentences.contains { cues.has(kind, $0) } }

  /// Whether the message is for a person, named or presumed.
  func isFor(_ person: String) -> Bool { addressees.contains(person) || presumed == person }

  /// Whether the message asks something that others can answer.
  func asks(_ cues: Cues) -> Bool {
    sentences.contains { sentence in
      if cues.has(.idle, sentence) { return false }
      if !sentence.asks { return cues.has(.ask, sentence) }
      return sentence.words.count > 1 && sentence.words.contains { !cues.has(.common, word: $0) }
    }
  }

  fileprivate mutating func add(_ person: String) {
    if person != sender, !addressees.contains(person) { addressees.append(person) }
  }

  /// How many words the message has.
  var length: Int { sentences.reduce(0) { $0 + $1.words.count } }
}

/// The messages of one conversation, in their order.
struct Talk: Sendable {
  let turns: [Turn]
  /// The names of the senders as they are written, by those in lower case.
  let names: [String: String]
  private let places: [Identifier: Int]

  /// - Parameters:
  ///   - messages: messages of one conversation, in their order.
  ///   - user: the user who gets the digest, in lower case; they need not have sent one of the messages.
  init(_ messages: [DigestMessage], for user: String) {
    let people = Set(messages.map { $0.sender.lowercased() } + [user])
    let known = Names(people)
    let places = Dictionary(messages.enumerated().map { ($1.id, $0) }) { first, _ in first }
    self.places = places
    names = Dictionary(messages.map { ($0.sender.lowercased(), $0.sender) }) { first, _ in first }
    var turns: [Turn] = []
    for message in messages {
      let (named, body) = message.text.addressed(to: known)
      var turn = Turn(message: message, sentences: Sentence.all(of: body), sender: message.sender.lowercased())
      for name in named { turn.add(name) }
      if let answered = message.replyTo.flatMap({ places[$0] }) { turn.add(messages[answered].sender.lowercased()) }
      for mention in message.mentions { turn.add(mention.lowercased()) }
      if let last = turn.sentences.last?.words.last, last.utf8.count > 2, people.contains(last) { turn.add(last) }
      if !message.isGroup, people.count == 2 { for person in people { turn.add(person) } }
      turns.append(turn)
    }
    for index in turns.indices where turns[index].addressees.isEmpty && !turns[index].namesOther {
      turns[index].presumed = Self.partner(of: turns[index].sender, before: index, turns)
    }
    self.turns = turns
  }

  /// The last person who has named a sender, or was named by them, in the ten messages before an index.
  private static func partner(of sender: String, before index: Int, _ turns: [Turn]) -> String? {
    for turn in turns[max(0, index - 10)..<index].reversed() {
      if turn.sender == sender, let other = turn.addressees.first ?? turn.presumed { return other }
      if turn.addressees.contains(sender) { return turn.sender }
    }
    return nil
  }

  /// The index of the message that a message answers; nil if it answers none, or one that is not in the talk.
  func answered(by index: Int) -> Int? { turns[index].message.replyTo.flatMap { places[$0] } }
}

/// The names by which people are addressed.
private struct Names {
  private let people: Set<String>
  /// The people by the first four letters of their names.
  private let beginnings: [Substring: [String]]

  init(_ people: Set<String>) {
    self.people = people
    beginnings = Dictionary(grouping: people) { $0.prefix(4) }
  }

  /// The person whose name is a word, or a word without the sign after it; nil if there is none.
  func person(_ word: Substring, isAddress: Bool) -> String? {
    let whole = word.lowercased()
    // Without a sign, only a name that is long enough not to be a word like 'will' or 'mark'.
    if people.contains(whole), isAddress || whole.utf8.count > 4 { return whole }
    guard isAddress else { return nil }
    let plain = String(whole.dropLast())
    return people.contains(plain) ? plain : similar(to: plain)
  }

  /// The only person whose name begins as a mistyped or shortened name does, with at least half of it; nil if there is
  /// none.
  private func similar(to name: String) -> String? {
    guard name.count >= 4 else { return nil }
    let start = name.prefix(Swift.max(4, name.count / 2))
    let found = (beginnings[name.prefix(4)] ?? []).filter { $0.hasPrefix(start) }
    return found.count == 1 ? found.first : nil
  }
}

extension String {
  /// The people who are named at the beginning of the text, and the text after them: `bob, anna: hi`, `@bob hi` and
  /// `theshadow hi` name people.
  fileprivate func addressed(to people: Names) -> (names: [String], body: Substring) {
    var (names, rest): ([String], Substring) = ([], self[...].drop { $0.isWhitespace })
    while !rest.isEmpty {
      let end = rest.firstIndex { $0.isWhitespace } ?? rest.endIndex
      var word = rest[..<end]
      let isMarked = word.first == "@"
      if isMarked { word.removeFirst() }
      let sign = word.last.map { ":,>;".contains($0) } ?? false
      guard let name = people.person(word, isAddress: isMarked || sign) else { break }
      names.append(name)
      rest = rest[end...].drop { $0.isWhitespace }
      if !isMarked, !sign || word.last == ":" { break }
    }
    return (names, rest)
  }
}
