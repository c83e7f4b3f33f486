package import DMKit
internal import DMModel
internal import DMStore

extension Messenger {
  /// Refuses a store that cannot be linked to a hub.
  ///
  /// - Throws: `cannot_create` for a store that already has conversations.
  package func checkMayLink() throws {
    // `Store.open` returns nil if the program that created the store was killed before its first write.
    guard try location.state() == .present, let store = try Store.open(location, onUpgrade: onUpgrade) else { return }
    try store.read {
      if try !store.isLinked && store.conversations.hasAny() { throw alreadyUsed }
    }
  }

  /// Refuses a hub that is not the store's hub, or on which this login belongs to another user.
  ///
  /// - Throws: `hub_mismatch`.
  package func checkMayLink(to hello: HubHello) throws {
    guard let store = try existingStore() else { return }
    try store.read { if let hub = try store.hub.row() { try check(hello, hub, store) } }
  }

  private func check(_ hello: HubHello, _ hub: Hub.Row, _ store: Store) throws {
    guard try hub.id == hello.hub && store.users.handle(hub.user).description == hello.handle else {
      throw DMError(
        .hubMismatch, "the store '\(location.directory)' is linked to another hub or as another person",
        subject: location.directory)
    }
  }

  /// Creates the store, if it is absent.
  package func createStore() throws { _ = try createdStore() }

  private var alreadyUsed: DMError {
    DMError(
      .cannotCreate, "the store '\(location.directory)' already has conversations; join with a new store",
      subject: location.directory, remedy: .nameStore)
  }

  /// Links the store to the hub that sent `hello`; creates the store if it is absent.
  ///
  /// - Throws: `cannot_create` for a store that already has conversations, `hub_mismatch` for a store of another hub or
  ///   user.
  package func link(to hello: HubHello) throws {
    let person = try Handle(hello.handle)
    let store = try createdStore()
    try store.write {
      if let hub = try store.hub.row() {
        try check(hello, hub, store)
        try store.hub.set(machine: hello.machine)
        try store.hub.set(leftAt: nil)
        try store.hub.set(refusal: nil)
        return
      }
      guard try !store.conversations.hasAny() else { throw alreadyUsed }
      let user = try store.users.key(person) ?? store.users.insert(person, at: .now)
      try store.hub.link(to: hello.hub, as: user, machine: hello.machine, at: hello.now)
    }
    identity = Identity(person, isLoginName: false)
  }
}
