import Foundation
import Synchronization
import Testing

/// The stores of a scene: one store for all users or, on a hub, one for each user.
final class RuleStores: Sendable {
  private let hub: HubFixture?
  /// The stores that are copied; each copy is made when it is needed.
  private let original: RuleStores?
  private let stores: Mutex<[String: ToolFixture]>

  /// - Parameter users: the users who have their own stores on a hub.
  init(onHub: Bool, users: [String]) throws {
    original = nil
    guard onHub else {
      hub = nil
      stores = Mutex(["": try ToolFixture()])
      return
    }
    let hub = try HubFixture()
    self.hub = hub
    stores = Mutex(try Dictionary(uniqueKeysWithValues: users.map { ($0, try hub.machine($0)) }))
  }

  /// - Parameter copiesHub: whether to copy the hub too, because the copies will synchronize.
  init(copyOf original: RuleStores, copiesHub: Bool) throws {
    self.original = original
    hub = try original.hub.flatMap { copiesHub ? try HubFixture(copyOf: $0) : $0 }
    stores = Mutex([:])
  }

  var isOnHub: Bool { hub != nil }

  /// The store of a user.
  func store(of user: String) throws -> ToolFixture {
    let name = isOnHub ? user : ""
    return try stores.withLock { stores in
      if let store = stores[name] { return store }
      guard let original else { throw SpawnError(description: "'\(user)' has no store") }
      let copy = try ToolFixture(copyOf: original.store(of: user))
      try hub?.takeOver(copy)
      stores[name] = copy
      return copy
    }
  }

  /// Synchronizes the store of a user, if there is a hub.
  func carry(_ user: String, at location: SourceLocation = #_sourceLocation) throws {
    if isOnHub { try store(of: user).sync(at: location) }
  }
}
