internal import DMKit
internal import DMModel

/// What the cues find in a talk: priorities, action items, decisions and questions.
struct Findings {
  let exchange: Exchange
  /// The user who gets the digest.
  let user: Handle

  private var talk: Talk { exchange.talk }
  private var cues: Cues { exchange.cues }

  func points() -> [DigestPoint] { priorities() + actionItems() + decisions() + questions() }

  private func questions() -> [DigestPoint] {
    exchange.openQuestions().map { place in
      let message = talk.turns[place].message
      return DigestPoint(.question, message.text, who: message.sender, on: [message])
    }
  }

  // MARK: Action items

  private func actionItems() -> [DigestPoint] {
    talk.turns.indices.compactMap { place in
      let turn = talk.turns[place]
      guard let who = actor(turn), !exchange.solved.contains(place) else { return nil }
      return DigestPoint(.actionItem, turn.message.text, who: who, until: until(turn), on: [turn.message])
    }
  }

  /// Who has to do something after a message: its sender, or the person who is addressed; nil if nobody has.
  private func actor(_ turn: Turn) -> String? {
    if turn.sentences.contains(where: { !$0.asks && cues.has(.commit, $0) }) { return turn.message.sender }
    guard let asked = turn.addressees.first ?? turn.presumed, turn.sentences.contains(where: isInstruction) else {
      return nil
    }
    return asked.description
  }

  private func isInstruction(_ sentence: Sentence) -> Bool {
    sentence.words.count > 1 && !cues.has(.ask, sentence)
      && (cues.has(.request, sentence) || cues.has(.order, sentence))
  }

  /// The words that say until when: a day with the word before it, such as `by friday`; nil if there are none.
  private func until(_ turn: Turn) -> String? {
    for sentence in turn.sentences {
      guard let day = cues.place(of: .day, in: sentence) else { continue }
      let hasWord = day.lowerBound > 0 && cues.has(.until, word: sentence.words[day.lowerBound - 1])
      return sentence.words[(hasWord ? day.lowerBound - 1 : day.lowerBound)..<day.upperBound].joined(separator: " ")
    }
    return nil
  }

  // MARK: Decisions

  private func decisions() -> [DigestPoint] {
    talk.turns.indices.compactMap { place in
      let turn = talk.turns[place]
      guard turn.sentences.contains(where: isDecision) else { return nil }
      let basis = talk.answered(by: place).map { [talk.turns[$0].message] } ?? []
      return DigestPoint(.decision, turn.message.text, who: turn.message.sender, on: [turn.message] + basis)
    }
  }

  private func isDecision(_ sentence: Sentence) -> Bool {
    !sentence.asks && sentence.words.count > 1 && (cues.has(.decide, sentence) || cues.has(.solve, sentence))
  }

  // MARK: Priorities

  private func priorities() -> [DigestPoint] {
    talk.turns.indices.compactMap { place in
      let turn = talk.turns[place]
      guard turn.sender != user, turn.isFor(user), let reason = reason(place) ?? answer(place),
        reason == .asks || turn.addressees.contains(user),
        !exchange.hasReacted(user, to: turn.sender, after: place)
      else { return nil }
      return DigestPoint(.priority, turn.message.text, who: turn.message.sender, reason: reason, on: [turn.message])
    }
  }

  /// `answers` if a message answers what the user has asked its sender or asked for.
  private func answer(_ place: Int) -> DigestPoint.Reason? {
    let turn = talk.turns[place]
    guard turn.length > 2, !turn.has(.thanks, cues),
      let index = exchange.last(of: user, to: turn.sender, before: place)
    else { return nil }
    let last = talk.turns[index]
    return exchange.asks[index] || last.has(.order, cues) || last.has(.request, cues) ? .answers : nil
  }

  /// Why a message needs the person who is addressed; nil if it does not.
  private func reason(_ place: Int) -> DigestPoint.Reason? {
    let turn = talk.turns[place]
    if turn.has(.urgent, cues) { return .urgent }
    if exchange.asks[place] { return .asks }
    if turn.has(.request, cues) || turn.has(.order, cues) { return .requests }
    return turn.has(.trouble, cues) ? .trouble : nil
  }
}
