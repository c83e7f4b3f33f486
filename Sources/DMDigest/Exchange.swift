internal import DMModel

/// Who answers what in a talk.
struct Exchange {
  let talk: Talk
  let cues: Cues
  /// For each message, whether it asks something.
  let asks: [Bool]
  /// For each message, the words that say something about its subject.
  let content: [Set<String>]
  /// The messages to which a reply says that their matter is solved, as indices of the talk.
  let solved: Set<Int>
  /// For each pair of people, the messages of the first that are for the second, as indices of the talk.
  private var said: [[Handle]: [Int]] = [:]

  /// How many messages after a question are searched for an answer.
  private static let reach = 200

  init(_ talk: Talk, _ cues: Cues) {
    (self.talk, self.cues) = (talk, cues)
    asks = talk.turns.map { $0.asks(cues) }
    content = talk.turns.map { turn in
      Set(turn.sentences.lazy.flatMap(\.words).filter { $0.utf8.count > 1 && !cues.has(.common, word: $0) })
    }
    solved = Set(
      talk.turns.indices.compactMap { talk.turns[$0].has(.solve, cues) ? talk.answered(by: $0) : nil })
    for (index, turn) in talk.turns.enumerated() {
      for person in turn.addressees + (turn.presumed.map { [$0] } ?? []) {
        said[[turn.sender, person], default: []].append(index)
      }
    }
  }

  /// The questions that nobody has answered, as indices of the talk, oldest first.
  ///
  /// Of a question that its sender repeats, only the last one is returned. Linear in the number of messages.
  func openQuestions() -> [Int] { talk.turns.indices.filter { asks[$0] && !isClosed($0) } }

  /// Whether a later message answers or repeats a question, or its sender does not need the answer any more.
  private func isClosed(_ question: Int) -> Bool {
    let asked = talk.turns[question]
    var isFirst = true
    for index in talk.turns.indices.dropFirst(question + 1).prefix(Self.reach) {
      let turn = talk.turns[index]
      if talk.answered(by: index) == question { return true }
      if turn.sender == asked.sender {
        if ends(question, index) { return true }
        continue
      }
      if turn.addressees.contains(asked.sender) { return true }
      if turn.addressees.isEmpty {
        if asked.addressees.contains(turn.sender) { return true }
        // A message that names nobody can be the answer to the question just before it.
        if isFirst, index - question <= 4, !asks[index], !content[index].isDisjoint(with: content[question]) {
          return true
        }
      }
      if !turn.addressees.isEmpty || turn.length > 2 { isFirst = false }
    }
    return false
  }

  /// Whether a later message of the sender of a question ends the question.
  private func ends(_ question: Int, _ index: Int) -> Bool {
    let (asked, turn) = (talk.turns[question], talk.turns[index])
    guard asks[index] else {
      return turn.has(.solve, cues) && turn.addressees.allSatisfy(asked.addressees.contains)
    }
    guard asked.addressees == turn.addressees || asked.addressees.isEmpty || turn.addressees.isEmpty else {
      return false
    }
    let shared = content[question].intersection(content[index]).count
    return shared * 2 >= min(content[question].count, content[index].count)
  }

  /// Whether a person has said something to another after a message.
  func hasReacted(_ person: Handle, to sender: Handle, after index: Int) -> Bool {
    said[[person, sender]]?.last.map { $0 > index } ?? false
  }

  /// The last message of a person to another before a message, as an index of the talk; nil if there is none.
  func last(of person: Handle, to other: Handle, before index: Int) -> Int? {
    said[[person, other]]?.last { $0 < index }
  }
}
