public import DMModel
package import DMStore

/// A store as one user sees it, with the permissions of that user.
///
/// Not Sendable: it has a connection, which stays on its thread. Another thread makes its own messenger.
public final class Messenger {
  /// The user who acts.
  public struct Identity: Sendable {
    /// The handle of the user.
    package let handle: Handle
    /// Whether the handle is the login name, which the first write adds as a user.
    ///
    /// Otherwise the user must have been added, unless the store has no users yet.
    package let isLoginName: Bool

    /// Makes an identity; reads no store.
    ///
    /// - Parameters:
    ///   - handle: the handle of the user.
    ///   - isLoginName: whether the handle is the login name, which the first write adds as a user. Otherwise the user
    ///     must have been added, unless the store has no users yet.
    public init(_ handle: Handle, isLoginName: Bool) {
      self.handle = handle
      self.isLoginName = isLoginName
    }
  }

  /// The location of the store.
  package let location: StoreLocation
  /// The user who acts.
  package var identity: Identity
  private var opened: Store?
  /// The user's key, set once the user is committed; a key never changes.
  private var me: UserKey?
  /// The number of errors that may still get a suggestion: input full of mistakes must not cost a search for each.
  var suggestionsLeft = 10

  /// The state of an import across its transactions.
  var imports = ImportMemory()

  /// The operations that were queued for the hub since this messenger was made.
  package internal(set) var queued: [OutboxKey] = []
  /// Whether this messenger has queued a change that is shown only after the hub has accepted it.
  package internal(set) var awaitsHub = false
  /// Whether this messenger has left something for the process that synchronizes the store.
  package var hasWorkForHub: Bool { !queued.isEmpty || opened?.hasOwnChanges == true }
  /// Forgets what was noted for that process, because it is this one.
  package func forgetOwnChanges() { opened?.hasOwnChanges = false }

  /// Compares a linked store with its hub, because an unknown user may have been invited since; called at most once.
  ///
  /// Returns the reason, as a clause, why the hub could not be asked; nil if it was, or was not to be.
  package var compareForUnknownUser: (() throws -> String?)?
  /// Why the hub could not be asked for an unknown user, as a clause.
  var whyUsersAreNotKnown: String?

  /// Makes a messenger; the first call of another function opens the store.
  public init(_ location: StoreLocation, as identity: Identity) {
    self.location = location
    self.identity = identity
  }

  /// The store; nil if it is the default store and absent.
  ///
  /// - Throws: `no_store` if a named store is absent.
  package func existingStore() throws -> Store? {
    if let opened { return opened }
    opened = try Store.open(location)
    if opened == nil, location.isNamed { throw noStore }
    if let opened, opened.isLinked { try takeIdentity(of: opened) }
    return opened
  }

  /// Sets the identity to the person of a linked store, the only user who can act in it.
  ///
  /// - Throws: `not_allowed` if somebody else was asked for.
  private func takeIdentity(of store: Store) throws {
    guard let hub = try store.hub.row() else { return }
    let person = try store.users.handle(hub.user)
    guard identity.isLoginName || identity.handle == person else {
      throw DMError(
        .notAllowed, "the store is that of '\(person)', not of '\(identity.handle)'",
        subject: identity.handle.description)
    }
    identity = Identity(person, isLoginName: false)
  }

  private var noStore: DMError {
    DMError(
      .noStore, "there is no store at '\(location.directory)' yet",
      subject: location.directory, remedy: .createStore)
  }

  /// Refuses to continue if the store that is open was removed or replaced.
  ///
  /// - Throws: `no_store`, `store_replaced`.
  package func refuseReplaced() throws { try opened?.refuseReplaced() }

  /// Whether there is a store.
  ///
  /// - Throws: `no_store` if a named store is absent.
  package func hasStore() throws -> Bool { try existingStore() != nil }

  /// The store, which is created if it is missing.
  ///
  /// - Parameter rehearsal: the work to be done. It first runs on an empty store in memory, so that a command that
  ///   fails creates nothing.
  package func createdStore(_ rehearsal: (Store) throws -> Void = { _ in }) throws -> Store {
    if let opened { return opened }
    if let store = try Store.open(location) {
      opened = store
      if store.isLinked { try takeIdentity(of: store) }
      return store
    }
    try rehearse(rehearsal)
    let store = try Store.create(location)
    opened = store
    return store
  }

  private func rehearse(_ body: (Store) throws -> Void) throws {
    try location.refuseUnfit()
    do {
      try Store.rehearse(location, body)
    } catch let error as DMError {
      throw namingStore(error)
    }
  }

  /// The error with the folder of the store added, if the store does not exist yet and the error is about a name.
  func namingStore(_ error: DMError) -> DMError {
    guard opened == nil, [.unknownUser, .unknownConversation, .unknownMessage].contains(error.code) else {
      return error
    }
    return error.adding("; there is no store at '\(location.directory)' yet")
  }

  /// Runs `body` on one snapshot of the store; returns `empty` if the store is absent or the user may still be added.
  func reading<T>(_ empty: T, _ body: (Session) throws -> T) throws -> T {
    guard let store = try existingStore() else { return empty }
    return try askingForUsers(of: store) { try read(store, empty, body) }
  }

  /// Runs `body`; if a user is unknown, asks the hub for new users and runs it once more.
  func askingForUsers<T>(of store: Store, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as DMError where error.code == .unknownUser {
      guard try learnsOfUsers(store) else { throw error }
      return try body()
    }
  }

  /// Asks the hub of a linked store for new users; only once, and returns whether it was tried.
  func learnsOfUsers(_ store: Store) throws -> Bool {
    guard mayLearnOfUsers(store), let compare = compareForUnknownUser else { return false }
    compareForUnknownUser = nil
    whyUsersAreNotKnown = try compare()
    return true
  }

  func mayLearnOfUsers(_ store: Store) -> Bool { compareForUnknownUser != nil && store.isLinked }

  private func read<T>(_ store: Store, _ empty: T, _ body: (Session) throws -> T) throws -> T {
    try store.read {
      me = try me ?? store.users.key(identity.handle)
      guard let me else {
        let isNew = try !store.users.hasAny()
        // The process that created the store was killed before its first write.
        if isNew, location.isNamed { throw noStore }
        if identity.isLoginName || isNew { return empty }
        throw try unknownUser(identity.handle, store)
      }
      return try body(Session(self, store, me))
    }
  }

  /// Checks, before a write is prepared, whether it is allowed; without a store, checks it in an empty one.
  func lookAhead(_ body: (Session) throws -> Void) throws {
    if let store = try opened ?? Store.open(location) {
      opened = store
      if store.isLinked { try takeIdentity(of: store) }
      if try store.read(store.users.hasAny) { return try reading((), body) }
    }
    try rehearse { try body(session(in: $0)) }
  }

  /// Runs `body` in one durable transaction; adds the user first if that is necessary and allowed.
  func writing<T>(isBulk: Bool = false, timeout: Duration? = nil, _ body: (Session) throws -> T) throws -> T {
    let before = queued
    do {
      let store = try createdStore { _ = try body(session(in: $0)) }
      queued = before
      return try askingForUsers(of: store) {
        queued = before
        return try store.write(isBulk: isBulk, timeout: timeout) { try body(session(in: store)) }
      }
    } catch {
      // Operations that were rolled back are not queued.
      queued = before
      throw error
    }
  }

  /// A session for writing; adds the user if the store has no users yet, or if the handle is the login name.
  private func session(in store: Store) throws -> Session {
    if let me = try me ?? store.users.key(identity.handle) { return Session(self, store, me) }
    guard try identity.isLoginName || !store.users.hasAny() else {
      throw try unknownUser(identity.handle, store)
    }
    return Session(self, store, try store.users.insert(identity.handle, at: .now))
  }
}

extension Messenger {
  /// Microseconds until the next message of any user expires; nil if none does.
  func untilNextExpiry() throws -> Int64? {
    try reading(nil) { session in
      try session.store.messages.nextExpiry().map { max(0, $0.microseconds - session.store.clock.microseconds) }
    }
  }

  /// Turns expired messages into tombstones, so that all followers get the event.
  ///
  /// It does nothing if the store is busy or cannot be written to.
  ///
  /// - Returns: whether it was done.
  func deleteExpired() throws -> Bool {
    try attempt {
      let isDue = try reading(false) { try !$0.store.messages.expiredMessages(now: $0.store.clock).isEmpty }
      // Each write begins by making these tombstones.
      if isDue { try writing(timeout: .milliseconds(100)) { _ in } }
    }
  }
}
