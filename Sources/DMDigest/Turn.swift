internal import DMModel

/// A message with its sentences, and with the people who are addressed.
struct Turn: Sendable {
  let message: DigestMessage
  let sentences: [Sentence]
  /// The people whose names the message begins with, whose message it answers, or who are mentioned; empty for a message
  /// to all.
  private(set) var addressees: [Handle] = []
  /// For a message without addressees, the person who is probably meant: the one who has just talked with its sender.
  fileprivate(set) var presumed: Handle?

  var sender: Handle { message.handle }

  /// Whether the text begins with a name that belongs to nobody in the talk, as in `zoe: hi`.
  fileprivate var namesOther: Bool {
    let first = message.text.prefix { !$0.isWhitespace }
    return first.utf8.last == UInt8(ascii: ":") && first.utf8.count > 2
  }

  func has(_ kind: Cues.Kind, _ cues: Cues) -> Bool { sentences.contains { cues.has(kind, $0) } }

  /// Whether the message is for a person, named or presumed.
  func isFor(_ person: Handle) -> Bool { addressees.contains(person) || presumed == person }

  /// Whether the message asks something that others can answer.
  func asks(_ cues: Cues) -> Bool {
    sentences.contains { sentence in
      if cues.has(.idle, sentence) { return false }
      if !sentence.asks { return cues.has(.ask, sentence) }
      return sentence.words.count > 1 && sentence.words.contains { !cues.has(.common, word: $0) }
    }
  }

  fileprivate mutating func add(_ person: Handle) {
    if person != sender, !addressees.contains(person) { addressees.append(person) }
  }

  /// How many words the message has.
  var length: Int { sentences.reduce(0) { $0 + $1.words.count } }
}

/// The messages of one conversation, in their order.
struct Talk: Sendable {
  let turns: [Turn]
  private let places: [Identifier: Int]

  /// - Parameters:
  ///   - messages: messages of one conversation, in their order.
  ///   - user: the user who gets the digest; they need not have sent one of the messages.
  init(_ messages: [DigestMessage], for user: Handle) {
    let people = Set(messages.map(\.handle) + [user])
    let known = Names(people)
    let places = Dictionary(messages.enumerated().map { ($1.id, $0) }) { first, _ in first }
    self.places = places
    var turns: [Turn] = []
    for message in messages {
      let (named, body) = message.text.addressed(to: known)
      var turn = Turn(message: message, sentences: Sentence.all(of: body))
      for name in named { turn.add(name) }
      if let answered = message.replyTo.flatMap({ places[$0] }) { turn.add(messages[answered].handle) }
      for mention in message.mentions { turn.add(Handle(typed: mention)) }
      if let last = turn.sentences.last?.words.last, last.utf8.count > 2, let person = known.only(last) {
        turn.add(person)
      }
      if !message.isGroup, people.count == 2 { for person in people { turn.add(person) } }
      turns.append(turn)
    }
    for index in turns.indices where turns[index].addressees.isEmpty && !turns[index].namesOther {
      turns[index].presumed = Self.partner(of: turns[index].sender, before: index, turns)
    }
    self.turns = turns
  }

  /// The last person who has named a sender, or was named by them, in the ten messages before an index.
  private static func partner(of sender: Handle, before index: Int, _ turns: [Turn]) -> Handle? {
    for turn in turns[max(0, index - 10)..<index].reversed() {
      if turn.sender == sender, let other = turn.addressees.first ?? turn.presumed { return other }
      if turn.addressees.contains(sender) { return turn.sender }
    }
    return nil
  }

  /// The index of the message that a message answers; nil if it answers none, or one that is not in the talk.
  func answered(by index: Int) -> Int? { turns[index].message.replyTo.flatMap { places[$0] } }
}

/// The names by which people are addressed: their handles, in which people often do not heed upper and lower case.
private struct Names {
  private let people: Set<Handle>
  /// The people by their handles in lower case; those whose handles differ only in case are together.
  private let folded: [String: [Handle]]
  /// The handles in lower case, by their first four letters.
  private let beginnings: [Substring: [String]]

  init(_ people: Set<Handle>) {
    self.people = people
    folded = Dictionary(grouping: people) { $0.description.lowercased() }
    beginnings = Dictionary(grouping: folded.keys) { $0.prefix(4) }
  }

  /// The person whose name is a word, or a word without the sign after it; nil if there is none.
  func person(_ word: Substring, isAddress: Bool) -> Handle? {
    // Without a sign, only a name that is long enough not to be a word like 'will' or 'mark'.
    if isAddress || word.utf8.count > 4, let person = named(word) { return person }
    guard isAddress else { return nil }
    let plain = word.dropLast()
    return named(plain) ?? similar(to: plain.lowercased())
  }

  /// The person with exactly this handle, or the only one with this handle in another case.
  private func named(_ word: Substring) -> Handle? {
    let exact = Handle(typed: String(word))
    return people.contains(exact) ? exact : only(word.lowercased())
  }

  /// The only person with this handle in lower case; nil if there is none, or if there are several.
  func only(_ name: String) -> Handle? { folded[name].flatMap { $0.count == 1 ? $0.first : nil } }

  /// The only person whose name begins as a mistyped or shortened name does, with at least half of it; nil if there is
  /// none.
  private func similar(to name: String) -> Handle? {
    guard name.count >= 4 else { return nil }
    let start = name.prefix(Swift.max(4, name.count / 2))
    let found = (beginnings[name.prefix(4)] ?? []).filter { $0.hasPrefix(start) }
    return found.count == 1 ? only(found[0]) : nil
  }
}

extension String {
  /// The people who are named at the beginning of the text, and the text after them: `bob, anna: hi`, `@bob hi` and
  /// `theshadow hi` name people.
  fileprivate func addressed(to people: Names) -> (names: [Handle], body: Substring) {
    var (names, rest): ([Handle], Substring) = ([], self[...].drop { $0.isWhitespace })
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
