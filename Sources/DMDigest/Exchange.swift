/// Who answers what in a talk.
struct Exchange {
  let talk: Talk
  let cues: Cues
  /// How many messages after a question are searched for an answer.
  private static let reach = 200

  /// The questions that nobody has answered, as indices of the talk, oldest first.
  ///
  /// Of a question that its sender repeats, only the last one is returned. Linear in the number of messages for each
  /// question.
  func openQuestions() -> [Int] {
    talk.turns.indices.filter { talk.turns[$0].asks(cues) && !isClosed($0) }
  }

  /// Whether a later message answers or repeats a question, or its sender does not need the answer any more.
  private func isClosed(_ question: Int) -> Bool {
    let asked = talk.turns[question]
    var isFirst = true
    for place in (question + 1)..<min(talk.turns.count, question + 1 + Self.reach) where place < talk.turns.count {
      let turn = talk.turns[place]
      if talk.answered(by: place) == question { return true }
      if turn.sender == asked.sender {
        if ends(asked, turn, place - question) { return true }
        continue
      }
      if turn.addressees.contains(asked.sender) { return true }
      if turn.addressees.isEmpty {
        if asked.addressees.contains(turn.sender) { return true }
        if isFirst, place - question <= 4, !turn.asks(cues), isAnswer(turn, to: asked) { return true }
      }
      if !turn.addressees.isEmpty || turn.length > 2 { isFirst = false }
    }
    return false
  }

  /// Whether a later message of the sender of a question ends the question.
  private func ends(_ asked: Turn, _ turn: Turn, _ distance: Int) -> Bool {
    if turn.asks(cues) {
      return asked.addressees == turn.addressees || asked.addressees.isEmpty || turn.addressees.isEmpty
        ? shared(asked, turn) * 2 >= min(content(asked).count, content(turn).count) : false
    }
    return turn.has(.solve, cues) && turn.addressees.allSatisfy(asked.addressees.contains)
  }

  /// Whether a message that names nobody can be the answer to the question just before it.
  private func isAnswer(_ turn: Turn, to asked: Turn) -> Bool { shared(asked, turn) > 0 }

  /// How many words that say something two messages share.
  private func shared(_ one: Turn, _ other: Turn) -> Int { content(one).intersection(content(other)).count }

  /// The words of a message that say something about its subject.
  func content(_ turn: Turn) -> Set<String> {
    Set(turn.sentences.flatMap(\.words).filter { $0.utf8.count > 1 && !cues.has(.common, word: $0) })
  }

  /// Whether a person has said something to another after a message, as far as the talk goes.
  func hasReacted(_ person: String, to sender: String, after place: Int) -> Bool {
    talk.turns[(place + 1)...].contains { turn in
      turn.sender == person && turn.isFor(sender)
    }
  }
}
