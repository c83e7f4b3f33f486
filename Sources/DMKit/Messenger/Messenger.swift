public import DMModel
package import DMStore

/// A store as one user sees it, with the permissions of that user.
///
/// A messenger is not Sendable, because its connection stays on one thread. For another thread, make another messenger.
public final class Messenger {
  /// The user who acts.
  public struct Identity: Sendable {
    /// The handle of the user.
    package let handle: Handle
    /// Whether the handle is the login name.
    ///
    /// If so, the first write adds the user.
    ///
    /// Otherwise the user must have been added before, unless the store has no users yet.
    package var isLoginName: Bool { comparesLoginName() }
    private let comparesLoginName: @Sendable () -> Bool

    /// Makes an identity.
    ///
    /// The store is not read.
    ///
    /// - Parameters:
    ///   - handle: the handle of the user.
    ///   - isLoginName: whether the handle is the login name. If so, the first write adds the user. Otherwise the user
    ///     must have been added before, unless the store has no users yet.
    public init(_ handle: Handle, isLoginName: Bool) { self.init(handle) { isLoginName } }

    /// Makes an identity, for which the login name is looked up only when it matters.
    package init(_ handle: Handle, comparesLoginName: @escaping @Sendable () -> Bool) {
      self.handle = handle
      self.comparesLoginName = comparesLoginName
    }
  }

  /// The location of the store.
  package let location: StoreLocation
  /// The user who acts.
  package var identity: Identity
  private var opened: Store?
  /// The key of the user; nil until a transaction has found or added them.
  ///
  /// The key of a user never changes.
  private var me: UserKey?
  /// The number of errors that may still get a suggestion.
  ///
  /// The number is limited because each suggestion costs a search.
  var suggestionsLeft = 10

  /// The state of an import, kept from one transaction to the next.
  var imports = ImportMemory()

  /// The operations that were queued for the hub since this messenger was made.
  package internal(set) var queued: [OutboxKey] = []
  /// Whether this messenger has queued a change that takes effect only after the hub has accepted it.
  package internal(set) var awaitsHub = false
  /// Whether this messenger has made changes that the sync process must push to the hub.
  package var hasWorkForHub: Bool { !queued.isEmpty || opened?.hasOwnChanges == true }
  /// Records that changes of the user's own state need no sync process, because this process is the sync process.
  package func forgetOwnChanges() { opened?.hasOwnChanges = false }

  /// Compares a linked store with its hub, because an unknown user may have been invited since the last comparison.
  ///
  /// Called at most once.
  ///
  /// Returns a clause that says why the hub could not be asked; nil if the hub was asked, or if no comparison was
  /// wanted.
  package var compareForUnknownUser: (() throws -> String?)?
  /// How a messenger gets messages that a linked store has not kept.
  package struct PageSource {
    /// The longest time to wait for a page.
    package let limit: () throws -> Duration
    /// Starts the sync process; returns the reason if it cannot be started, otherwise nil.
    package let carry: () -> String?

    package init(limit: @escaping () throws -> Duration, carry: @escaping () -> String?) {
      self.limit = limit
      self.carry = carry
    }
  }

  package var pages = PageSource(limit: { .seconds(1) }) { "no process synchronizes the store" }
  /// A clause that says why messages that the store has not kept could not be fetched; nil if there was no such failure.
  package internal(set) var whyPagesAreMissing: String?
  /// When the last fetch failed, as a time of `monotonicMicroseconds`; nil if it succeeded.
  var pagesFailedAt: Int64?
  /// How many conversations have older messages that were left out, because the store has not kept them.
  package internal(set) var leftOut = 0

  /// A clause that says why the hub could not be asked for an unknown user; nil if there was no such failure.
  var whyUsersAreNotKnown: String?

  /// Called after each act of the user that a usage log has; nil if there is no usage log.
  package var onAct: ((UsageAct) -> Void)?
  /// Called if opening the store has upgraded it, with a clause that says so.
  package var onUpgrade: ((String) -> Void)?

  /// Makes a messenger.
  ///
  /// The store is opened by the first call of another function.
  public init(_ location: StoreLocation, as identity: Identity) {
    self.location = location
    self.identity = identity
  }

  /// The store; nil if the location is the default location and has no store.
  ///
  /// - Throws: `no_store` if the caller named the location and there is no store.
  package func existingStore() throws -> Store? {
    if let opened { return opened }
    opened = try Store.open(location, onUpgrade: onUpgrade)
    if opened == nil, location.isNamed { throw noStore }
    if let opened, opened.isLinked { try takeIdentity(of: opened) }
    return opened
  }

  /// Sets the identity to the person of a linked store, because only this person can act in it.
  ///
  /// - Throws: `not_allowed` if the caller asked for another user.
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
    DMError(.noStore, location.absence, subject: location.directory, remedy: .createStore)
  }

  /// Refuses to continue if the open store was removed or replaced.
  ///
  /// - Throws: `no_store`, `store_replaced`.
  package func refuseReplaced() throws { try opened?.refuseReplaced() }

  /// Whether there is a store.
  ///
  /// - Throws: `no_store` if the caller named the location and there is no store.
  package func hasStore() throws -> Bool { try existingStore() != nil }

  /// The store.
  ///
  /// If there is none, it is created.
  ///
  /// - Parameter rehearsal: the work that the caller will do. Before a store is created, this work runs on an empty
  ///   store in memory, so that a command that fails creates no store.
  package func createdStore(_ rehearsal: (Store) throws -> Void = { _ in }) throws -> Store {
    if let opened { return opened }
    if let store = try Store.open(location, onUpgrade: onUpgrade) {
      opened = store
      if store.isLinked { try takeIdentity(of: store) }
      return store
    }
    try rehearse(rehearsal)
    let store = try Store.create(location, onUpgrade: onUpgrade)
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

  /// If there is no store, adds its path to an error about an unknown name; returns any other error unchanged.
  func namingStore(_ error: DMError) -> DMError {
    guard opened == nil, [.unknownUser, .unknownConversation, .unknownMessage].contains(error.code) else {
      return error
    }
    return error.adding("; \(location.absence)")
  }

  /// Runs `body` on one snapshot of the store.
  ///
  /// Returns `empty` if there is no store, or if the user is not in the store yet but the first write may add them.
  func reading<T>(_ empty: T, _ body: (Session) throws -> T) throws -> T {
    guard let store = try existingStore() else { return empty }
    return try askingHub(for: store) { try read(store, empty, body) }
  }

  /// Runs `body`.
  ///
  /// If it fails because a user is unknown, asks the hub for new users, and runs `body` once more. If it fails because a
  /// message was not kept, fetches the message, and runs `body` again.
  func askingHub<T>(for store: Store, _ body: () throws -> T) throws -> T {
    var fetched: HubFloors.Page?
    while true {
      do {
        return try body()
      } catch let error as DMError where error.code == .unknownUser {
        guard try learnsOfUsers(store) else { throw error }
      } catch let absent as AbsentMessage {
        // If the message cannot be fetched, the next run of `body` throws an error or, in a batch, fails only for this
        // message.
        if absent.page == fetched { noteMissingPage() } else { _ = try fetch([absent.page]) }
        fetched = absent.page
      }
    }
  }

  /// Asks the hub of a linked store for new users, at most once for each messenger.
  ///
  /// Returns whether this call has asked.
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
        // A store without users exists if the process that created it was killed before its first write.
        if isNew, location.isNamed { throw noStore }
        if identity.isLoginName || isNew { return empty }
        throw try unknownUser(identity.handle, store)
      }
      return try body(Session(self, store, me))
    }
  }

  /// Checks whether a write is allowed, before the caller prepares the write.
  ///
  /// If there is no store, or if the store has no users, the check runs on an empty store.
  func lookAhead(_ body: (Session) throws -> Void) throws {
    if let store = try opened ?? Store.open(location, onUpgrade: onUpgrade) {
      opened = store
      if store.isLinked { try takeIdentity(of: store) }
      if try store.read(store.users.hasAny) { return try reading((), body) }
    }
    try rehearse { try body(session(in: $0)) }
  }

  /// Runs `body` in one durable transaction.
  ///
  /// Adds the user first if they are missing and may be added.
  func writing<T>(isBulk: Bool = false, timeout: Duration? = nil, _ body: (Session) throws -> T) throws -> T {
    let before = queued
    do {
      let store = try createdStore { _ = try body(session(in: $0)) }
      queued = before
      return try askingHub(for: store) {
        queued = before
        return try store.write(isBulk: isBulk, timeout: timeout) { try body(session(in: store)) }
      }
    } catch {
      // The operations were rolled back, so they are not queued.
      queued = before
      throw error
    }
  }

  /// A session for writing.
  ///
  /// Adds a missing user if the store has no users yet, or if the handle is the login name.
  private func session(in store: Store) throws -> Session {
    if let me = try me ?? store.users.key(identity.handle) { return Session(self, store, me) }
    guard try identity.isLoginName || !store.users.hasAny() else {
      throw try unknownUser(identity.handle, store)
    }
    return Session(self, store, try store.users.insert(identity.handle, at: .now))
  }
}

extension Messenger {
  /// Microseconds until the next message of any user expires; nil if no message will expire.
  func untilNextExpiry() throws -> Int64? {
    try reading(nil) { session in
      try session.store.messages.nextExpiry().map { max(0, $0.microseconds - session.store.clock.microseconds) }
    }
  }

  /// Turns expired messages into tombstones, so that each follower reports the deletion.
  ///
  /// Nothing happens if the store is busy or cannot be written to.
  ///
  /// - Returns: false if the store was busy or could not be written to.
  func deleteExpired() throws -> Bool {
    try attempt {
      let isDue = try reading(false) { try !$0.store.messages.expiredMessages(now: $0.store.clock).isEmpty }
      // Each write begins by turning expired messages into tombstones, so an empty write is enough.
      if isDue { try writing(timeout: .milliseconds(100)) { _ in } }
    }
  }
}
