@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// The random choice of an act's user, conversation and message.
extension RandomActs {
  func anybody() -> User { random.below(Self.names.count) }

  var hasCrowd: Bool { model.names.count > Self.names.count }

  func chance(_ percent: Int) -> Bool { random.chance(percent) }

  /// Names of one or more users; a few names are unknown.
  func somebody() -> [String] {
    (0...random.below(3)).map { _ in
      chance(2) ? "nobody" : name(chance(4) ? random.below(model.names.count) : anybody())
    }
  }

  /// A conversation; in most cases one that the user is in.
  func conversation(for user: User) -> ConversationReference {
    switch random.below(100) {
    case 0..<5: return .direct(Handle(typed: name(anybody())))
    case 5: return .direct("nobody")
    case 6: return .title("nothing")
    case 7: return .id(Identifier(high: 1, low: 1))
    case 8..<13: return reference(model.talks.indices.randomElement(using: &random), user)
    case 13..<20: return reference(model.talks.indices.filter { model.talks[$0].has(user) }.last, user)
    default:
      if hasCrowd, chance(15), model.isIn(user, 0) { return reference(0, user) }
      let own = model.talks.indices.filter { model.talks[$0].parts[user] != nil }
      return reference(own.randomElement(using: &random), user)
    }
  }

  func reference(_ talk: Int?, _ user: User) -> ConversationReference {
    guard let talk, let id = model.talks[talk].id else { return .direct(Handle(typed: name(anybody()))) }
    if let own = model.talks[talk].parts[user]?.ownName, chance(30) { return .title(own) }
    if let title = model.talks[talk].title, chance(20) { return .title(title) }
    if model.talks[talk].has(user), let partner = model.talks[talk].partner(of: user), chance(80) {
      return .direct(Handle(typed: name(partner)))
    }
    return .id(id)
  }

  /// The number of a message; in most cases a late one.
  func number(in talk: Int, for user: User) -> Int {
    let end = max(1, model.talks[talk].end(for: user))
    return chance(60) ? max(1, end - random.below(12)) : 1 + random.below(end)
  }

  /// A message; in most cases one that the user sees.
  ///
  /// - Parameter isOwn: whether to prefer a message of the user.
  func message(for user: User, isOwn: Bool = false) -> MessageReference {
    let own = model.talks.indices.filter { chance(3) || model.talks[$0].parts[user] != nil }
    guard chance(98), let talk = own.randomElement(using: &random), !model.talks[talk].said.isEmpty else {
      return .id(Identifier(high: 1, low: 2))
    }
    return message(in: talk, for: user, isOwn: isOwn)
  }

  func message(in talk: Int, for user: User, isOwn: Bool = false, isAlone: Bool = false) -> MessageReference {
    var seq = number(in: talk, for: user)
    for _ in 1...6 where model.talks[talk].parts[user] != nil {
      guard seq <= model.talks[talk].said.count else { break }
      if model.sees(seq, talk, user), !isOwn || model.talks[talk].said[seq - 1].sender == user { break }
      seq = number(in: talk, for: user)
    }
    let conversation = isAlone ? nil : reference(talk, user)
    switch random.below(100) {
    case 0..<3: return .number(model.talks[talk].end(for: user) + random.below(2), in: conversation)
    case 3..<20: return .number(seq - model.talks[talk].end(for: user) - 1, in: conversation)
    case 20..<60 where seq <= model.talks[talk].said.count:
      return model.talks[talk].said[seq - 1].id.map { .id($0) } ?? .number(seq, in: conversation)
    default: return .number(seq, in: conversation)
    }
  }

  private static let words = [
    "lunch", "Lunch?", "naïve", "NAÏVE", "Straße", "東京", "東京都で", "ok", "on my way", "don't", "42", "haha🤣", "🎉",
    "@alice", "@al", "@alicea", "@bob.", "(@carol)", "x@bob", "@海です", "@海", "海@al", "@nobody", "@alice@bob", "@", "a*b",
  ]

  func text() -> String {
    (0...random.below(4)).map { _ in Self.words[random.below(Self.words.count)] }.joined(separator: " ")
  }

  func lifetime() -> Duration? { chance(15) ? .seconds(3600 * (1 + random.below(3))) : nil }

  func wish(by user: User) -> ReferenceModel.Wish {
    let to = conversation(for: user)
    var wish = ReferenceModel.Wish(to: to, text: text(), lifetime: lifetime())
    if chance(20) { wish.nonce = "n\(random.below(chance(50) ? 8 : 400))" }
    if chance(25) {
      let talk: Int?
      do { talk = try model.find(to, user) } catch { talk = nil }
      if let talk, !model.talks[talk].said.isEmpty, chance(90) {
        wish.replyTo = message(in: talk, for: user, isAlone: chance(80))
      } else {
        wish.replyTo = message(for: user)
      }
    }
    return wish
  }

  // MARK: A random act

  /// A random act of a random user.
  func step() throws {
    let user = anybody()
    switch random.below(1000) {
    case 0..<250: try send(by: user)
    case 250..<280: try sendSeveral(by: user)
    case 280..<300: try forward(by: user)
    case 300..<304: try beginDirect(by: user)
    case 304..<330: try saveDraft(by: user)
    case 330..<350: try sendDraft(by: user)
    case 350..<470: try mark(by: user)
    case 470..<490: try markMessages(by: user)
    case 490..<500: try markEverywhere(by: user)
    case 500..<690: try edit(by: user)
    case 690..<712: try createGroup(by: user)
    case 712..<760: try add(by: user)
    case 760..<785: try remove(by: user)
    case 785..<805: try leave(by: user)
    case 805..<835: try describe(by: user)
    case 835..<850: try setLifetime(by: user)
    case 850..<905: try changeOwn(by: user)
    case 905..<930: try block(by: user)
    case 930..<975: try passTime()
    default: try look(by: user)
    }
  }
}
