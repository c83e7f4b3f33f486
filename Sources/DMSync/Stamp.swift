internal import DMKit
internal import DMModel
internal import DMStore

/// Finds out whether another store connects with the login of this one, such as a copy of its folder.
///
/// At each connection, the hub and the store replace the stamp of the store by a new random id. If the hub then has a stamp
/// that the store does not have, another store has connected in the meantime, or this one was restored from a backup.
final class Stamp {
  private let store: Store
  private let link: any HubLink
  /// The stamps to send, in the present connection.
  private var offered: (held: [Identifier], next: Identifier)?
  /// Whether the hub had a stamp of this store; nil if it was not asked.
  private var isKnown: Bool?

  init(_ store: Store, _ link: any HubLink) {
    self.store = store
    self.link = link
  }

  /// Chooses the stamps for a hub that was just opened; called in a write transaction, because the hub may get the next stamp
  /// although its answer is lost.
  func offer(to hello: HubHello) throws {
    isKnown = nil
    offered = hello.hasStamps && !hello.isStandby ? try store.hub.nextStamp(orElse: .random()) : nil
  }

  /// Sends the stamps, together with the next statement.
  func send() throws {
    guard let offered else { return }
    try link.restamp(held: offered.held, next: offered.next) { [weak self] in self?.isKnown = $0 }
  }

  /// Records the answer of the hub.
  ///
  /// - Parameter isCompared: whether the hub is in the state with which the store was last compared; otherwise it may have
  ///   an older stamp.
  func note(isCompared: Bool) throws {
    guard let isKnown else { return }
    try store.write {
      try store.hub.keepNextStamp()
      if !isKnown, isCompared { try store.hub.set(copiedAt: .now) }
    }
  }
}
