@testable import DMKit
@testable import DMStore
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// Acts that send, edit, delete, pin and report messages, and react to them.
extension RandomActs {
  func check(_ actual: Message, _ address: Address, _ isDuplicate: Bool, to user: User) throws {
    var expected = try model.message(address.seq, address.talk, to: user)
    expected.isDuplicate = isDuplicate
    try same(actual, expected, "what was sent")
  }

  func send(by user: User) throws {
    let wish = wish(by: user)
    try play("\(name(user)) sends \(wish)") {
      try messengers[user].send(wish.outgoing())
    } _: { model throws(ReferenceModel.Refusal) in
      try model.send(wish, by: user)
    } _: { actual, sent in
      try check(actual, sent.address, sent.isDuplicate, to: user)
    }
  }

  /// Sends several messages in one transaction; if some fail, the others are sent.
  func sendSeveral(by user: User) throws {
    let first = wish(by: user)
    let wishes = [first] + (0...random.below(3)).map { _ in chance(50) ? wish(by: user) : more(first) }
    try play("\(name(user)) sends all of \(wishes)") {
      try messengers[user].send(wishes.map { try $0.outgoing() })
    } _: { model in
      wishes.map { wish in
        Result { () throws(ReferenceModel.Refusal) in try model.send(wish, by: user) }
      }
    } _: { actual, sent in
      try same(actual.count, sent.count, "answers")
      for (actual, sent) in zip(actual, sent) {
        switch (actual, sent) {
        case (.success(let actual), .success(let sent)): try check(actual, sent.address, sent.isDuplicate, to: user)
        case (.failure(let actual), .failure(let refusal)): try same(actual.code, refusal.code, "the refusal")
        default: throw Mismatch("answered \(actual), not \(sent)")
        }
      }
    }
  }

  private func more(_ wish: ReferenceModel.Wish) -> ReferenceModel.Wish {
    ReferenceModel.Wish(to: wish.to, text: text(), nonce: chance(20) ? wish.nonce : nil)
  }

  /// Forwards the text of a message to one or more conversations.
  func forward(by user: User) throws {
    let reference = message(for: user)
    let targets = (0...random.below(3)).map { _ in conversation(for: user) }
    try play("\(name(user)) forwards \(reference) to \(targets)") {
      let text = try messengers[user].messageToForward(reference).text ?? ""
      return try messengers[user].sendToAll(try targets.map { try Outgoing(to: $0, text: text) })
    } _: { model throws(ReferenceModel.Refusal) in
      let address = try model.seen(reference, user)
      guard let text = model.talks[address.talk].said[address.seq - 1].text else {
        throw ReferenceModel.Refusal(.notAllowed)
      }
      let after = model
      var addresses: [Address] = []
      do throws(ReferenceModel.Refusal) {
        for target in targets {
          // A conversation that is listed several times gets the message once.
          if let talk = try model.find(target, user), addresses.contains(where: { $0.talk == talk }) { continue }
          addresses.append(try model.send(ReferenceModel.Wish(to: target, text: text), by: user).address)
        }
      } catch {
        model = after
        throw error
      }
      return addresses
    } _: { actual, addresses in
      try same(actual.count, addresses.count, "messages")
      for (actual, address) in zip(actual, addresses) { try check(actual.message, address, false, to: user) }
    }
  }

  func saveDraft(by user: User) throws {
    let reference = chance(25) ? .direct(Handle(typed: name(anybody()))) : conversation(for: user)
    let text = chance(30) ? "the same draft" : text()
    try play("\(name(user)) drafts for \(reference)") {
      try messengers[user].saveDraft(text, in: reference)
    } _: { model throws(ReferenceModel.Refusal) in
      try model.saveDraft(text, in: reference, by: user)
    } _: { actual, talk in
      try same(actual, try model.conversation(talk, to: user), "the conversation")
    }
  }

  func beginDirect(by user: User) throws {
    let other = chance(3) ? "nobody" : name(anybody())
    try play("\(name(user)) begins a conversation with \(other)") {
      try messengers[user].directConversation(with: Handle(typed: other))
    } _: { model throws(ReferenceModel.Refusal) in
      try model.directConversation(with: other, by: user)
    } _: { actual, talk in
      try same(actual, try model.conversation(talk, to: user), "the conversation")
    }
  }

  func sendDraft(by user: User) throws {
    var reference = conversation(for: user)
    if let talk = model.talks.indices.filter({ model.talks[$0].parts[user]?.draft != nil }).randomElement(
      using: &random)
    {
      reference = self.reference(talk, user)
    }
    var wish = ReferenceModel.Wish(to: reference, text: "", lifetime: lifetime())
    if chance(30) { wish.nonce = "n\(random.below(8))" }
    let sent = wish
    try play("\(name(user)) sends the draft \(sent)") {
      try messengers[user].sendDraft(in: reference, nonce: sent.nonce, lifetime: sent.lifetime)
    } _: { model throws(ReferenceModel.Refusal) in
      let talk = try model.found(reference, user)
      guard let draft = model.talks[talk].parts[user]?.draft else {
        if let nonce = sent.nonce,
          let index = model.talks[talk].said.firstIndex(where: { $0.nonce == nonce && $0.sender == user })
        {
          return ((talk, index + 1), true)
        }
        throw ReferenceModel.Refusal(.noDraft)
      }
      var wish = sent
      wish.text = draft
      let answer = try model.send(wish, by: user)
      // The message with this nonce may have another text by now; then the draft is kept.
      if !answer.isDuplicate || model.talks[talk].said[answer.address.seq - 1].text == draft {
        _ = try model.change(.draft(nil), in: talk, by: user)
      }
      return answer
    } _: { (actual: Message, sent: (address: Address, isDuplicate: Bool)) in
      try check(actual, sent.address, sent.isDuplicate, to: user)
    }
  }

  // MARK: Changing

  private static let emoji = ["👍", "🎉", "❤️", "👩‍👩‍👧"]

  private func edit(_ user: User) throws -> Edit {
    switch random.below(100) {
    case 0..<28: try Edit(message(for: user, isOwn: chance(85)), .text(chance(15) ? "the same" : text()))
    case 28..<45: try Edit(message(for: user, isOwn: chance(85)), .delete(forEveryone: true))
    case 45..<60: try Edit(message(for: user), .delete(forEveryone: false))
    case 60..<70: try Edit(message(for: user), .pin(chance(70)))
    case 70..<92: try Edit(message(for: user), .react(chance(75) ? Self.emoji[random.below(4)] : nil))
    default:
      try Edit(
        chance(40) ? reported(by: user) : message(for: user), .report(reason: chance(50) ? "rude \(act)" : nil))
    }
  }

  /// A message that the user has reported before, or a random one.
  private func reported(by user: User) -> MessageReference {
    let report = model.reports.filter { $0.reporter == user }.randomElement(using: &random)
    let id = report.flatMap { model.talks[$0.talk].said[$0.seq - 1].id }
    return id.map { .id($0) } ?? message(for: user)
  }

  func edit(by user: User) throws {
    let edits = try (0...(chance(80) ? 0 : random.below(4))).map { _ in try edit(user) }
    try play("\(name(user)) edits: \(edits.map { "\($0.message) \($0.act)" })") {
      try messengers[user].edit(edits)
    } _: { model in
      edits.map { edit in
        Result { () throws(ReferenceModel.Refusal) -> Address in
          switch edit.act {
          case .text(let text): try model.edit(edit.message, to: text, by: user).0
          case .delete(let forEveryone): try model.delete(edit.message, forEveryone: forEveryone, by: user)
          case .react(let emoji): try model.react(emoji, to: edit.message, by: user).0
          case .report(let reason): try model.report(edit.message, reason, by: user)
          case .pin(let isPinned): try model.pin(isPinned, edit.message, by: user)
          }
        }
      }
    } _: { actual, addresses in
      try same(actual.count, edits.count, "answers")
      for (number, edit) in edits.enumerated() {
        switch (actual[number], addresses[number]) {
        case (.success(let outcome), .success(let address)):
          try check(outcome, of: edit, at: address, by: user, isAlone: edits.count == 1)
        case (.failure(let actual), .failure(let refusal)):
          try same(actual.code, refusal.code, "the refusal of \(edit)")
        default: throw Mismatch("\(edit) was answered by \(actual[number]), not \(addresses[number])")
        }
      }
    }
  }

  private func check(
    _ outcome: Edit.Outcome, of edit: Edit, at address: Address, by user: User, isAlone: Bool
  ) throws {
    let said = model.talks[address.talk].said[address.seq - 1]
    guard let id = said.id, let conversation = model.talks[address.talk].id else { throw Mismatch("not learned") }
    switch (edit.act, outcome) {
    // A later edit of the same transaction may have changed the message again.
    case (.text, .message(let actual)):
      if isAlone { try same(actual, try model.message(address.seq, address.talk, to: user), "the edited message") }
    case (.delete(let forEveryone), .deleted(let actual)):
      let expected = Deletion(messageID: id, conversationID: conversation, seq: address.seq, forEveryone: forEveryone)
      try same(actual, expected, "the deletion")
    case (.react(let emoji), .reaction(let actual)):
      let expected = Reaction(
        messageID: id, conversationID: conversation, seq: address.seq, user: model.handle(user), emoji: emoji,
        reactedAt: actual.reactedAt
      )
      try same(actual, expected, "the reaction")
      try nearNow(actual.reactedAt)
    case (.pin(let isPinned), .pin(let actual)):
      let message = try model.message(address.seq, address.talk, to: user)
      let expected = MessagePin(of: message, by: model.handle(user), isPinned: isPinned, at: actual.changedAt)
      try same(actual, expected, "the pin")
      try nearNow(actual.changedAt)
    case (.report(let reason), .report(let actual)):
      let text = isAlone ? said.text : actual.text
      let expected = Report(
        messageID: id, conversationID: conversation, seq: address.seq, sender: model.handle(said.sender),
        user: model.handle(user), reason: reason, text: text, reportedAt: actual.reportedAt)
      try same(actual, expected, "the report")
    default: throw Mismatch("\(edit) was answered by \(outcome)")
    }
  }
}

extension Result where Failure == ReferenceModel.Refusal {
  /// Like the initializer of the standard library, but keeps the type of the error.
  init(_ body: () throws(ReferenceModel.Refusal) -> Success) {
    do throws(ReferenceModel.Refusal) {
      self = .success(try body())
    } catch {
      self = .failure(error)
    }
  }
}
