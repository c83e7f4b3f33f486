internal import DMKit
internal import DMModel
internal import DMStore

/// Finds out whether another store, such as a copy of this store's folder, connects with the login of this store.
///
/// The stamp is a random id, which the hub and the store replace with a new one at each connection. If the hub has a
/// stamp that the store does not have, another store has connected in the meantime, or this store was restored from a
/// backup.
final class Stamp {
  private let store: Store
  private let link: any HubLink
  /// The stamps to send on the present connection; nil if the hub gets none.
  private var offered: (held: [Identifier], next: Identifier)?
  /// False if the hub had a stamp that this store does not have; true if it had a stamp of this store, or none; nil
  /// before the hub's answer.
  private var isKnown: Bool?

  init(_ store: Store, _ link: any HubLink) {
    self.store = store
    self.link = link
  }

  /// Chooses the stamps to send on a new connection.
  ///
  /// Call this in a write transaction. The next stamp is stored before it is sent: the hub may receive the
  /// stamp even if the hub's answer is lost.
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
  /// - Parameter isCompared: whether the hub is in the state of the last comparison; a restored hub may have an older
  ///   stamp.
  func note(isCompared: Bool) throws {
    guard let isKnown else { return }
    try store.write {
      try store.hub.keepNextStamp()
      if !isKnown, isCompared { try store.hub.set(copiedAt: .now) }
    }
  }
}
