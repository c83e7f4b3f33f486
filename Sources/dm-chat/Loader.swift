internal import DMCLI
internal import DMKit

/// Reads from the store the data that a model lacks.
struct Loader {
  let acts: Conversing
  private var pages: Pages { acts.pages }

  init(_ acts: Conversing) { self.acts = acts }

  /// A model of the conversation, and the cursor at which its events continue; the cursor is nil if there is
  /// no store yet.
  ///
  /// - Parameter commands: the commands of the user's history, oldest first.
  func begin(_ layout: Layout, commands: [String] = []) throws -> (ChatModel, Cursor?) {
    let conversation = try acts.existing()
    let (newest, cursor) = try pages.newest(isOpening: true)
    // The user's messages come from the store and not from a file, so that a deleted text is not kept.
    let texts = newest.filter { $0.isMine && $0.expiresAt == nil }.compactMap(\.text)
    var model = ChatModel(acts.conversation, conversation, layout, entered: commands + texts)
    if conversation != nil { model.loaded.people.add(try acts.participants()) }
    model.loaded.replace(newest)
    try lookForPresence(&model)
    model.blocked = try blocked()
    try settle(&model)
    return (model, cursor)
  }

  private func lookForPresence(_ model: inout ChatModel) throws {
    guard let other = model.other else { return }
    model.isOnline = try unlessRefused { try acts.messenger.presence(of: [other]).first?.isOnline }
  }

  private func blocked() throws -> Set<Handle> { Set(try acts.messenger.blockedUsers().map(\.handle)) }

  /// Reads the data that the model lacks.
  ///
  /// If reading fails, shows the error; the next call tries again.
  func load(_ model: inout ChatModel) throws {
    do {
      try fetch(&model)
      model.lack = ChatModel.Lack()
      try settle(&model)
      try name(&model)
    } catch let error as DMError {
      model.say(acts.text(of: error), isFault: true)
      model.loaded.halt()
    }
  }

  private func fetch(_ model: inout ChatModel) throws {
    if model.lack.conversation {
      model.conversation = try acts.existing()
      try lookForPresence(&model)
    }
    let lacksPeople = model.lack.conversation || model.lack.people
    if lacksPeople, model.conversation != nil { model.loaded.take(try acts.participants()) }
    if model.lack.blocked { try lookForBlocked(&model) }
    if model.lack.names { model.typingNames = try model.typing.map(acts.messenger.shownName) }
    if model.lack.pins { model.update(pins: try acts.pins()) }
    if model.lack.newest { model.loaded.replace(try pages.newest().messages) }
    let changed = model.loaded.held(coalesced(model.lack.changed.sorted { $0.lowerBound < $1.lowerBound }))
    if !changed.isEmpty { model.loaded.renew(changed, try pages.messages(changed)) }
  }

  /// Reads the message that the command in the line names.
  private func name(_ model: inout ChatModel) throws {
    guard let number = model.numberInLine else { return model.named = nil }
    if number == model.named?.number { return }
    model.named = (number, nil)
    do {
      model.named?.message = try acts.messenger.messages(
        in: acts.conversation, [RangeReference(from: number, to: number)]
      ).first
    } catch let error as DMError where !error.code.isFatal {
      // The conversation does not exist yet, so it has no such message.
      return
    }
  }

  /// Reads the pages that the screen needs.
  private func settle(_ model: inout ChatModel) throws {
    let height = model.height
    while let side = model.loaded.settle(height, model.layout) {
      switch side {
      case .older:
        model.loaded.add(older: try model.loaded.firstNumber.map(pages.older) ?? [])
        if let absence = acts.messenger.takeAbsence() { model.say(absence, isFault: true) }
      case .newer:
        let newer = try model.loaded.lastNumber.map(pages.newer) ?? []
        if newer.isEmpty { model.loaded.replace(try pages.newest().messages) } else { model.loaded.add(newer: newer) }
      }
    }
  }

  /// Reads the blocked users; if they have changed, requests the messages again, because messages of blocked users are
  /// not shown.
  private func lookForBlocked(_ model: inout ChatModel) throws {
    let before = model.blocked
    model.blocked = try blocked()
    if model.blocked == before { return }
    if model.loaded.isScrolled { model.lack.changed.append(1...Int.max) } else { model.lack.newest = true }
  }
}
