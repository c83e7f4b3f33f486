/// A store as one user sees it: every rule about who may do what stands here, once.
///
/// Not Sendable: it holds a connection that stays on its thread; another thread makes its own.
public final class Messenger {
  /// Who acts, and how that was decided.
  public struct Identity: Sendable {
    public let handle: Handle
    /// The login name becomes a user by its first write; a name that was given must have been added.
    public let isLoginName: Bool

    public init(_ handle: Handle, isLoginName: Bool) {
      self.handle = handle
      self.isLoginName = isLoginName
    }
  }

  public let location: StoreLocation
  public let identity: Identity
  private var opened: Store?
  /// The user's key once it is committed; it never changes.
  private var me: Int64?
  /// How often a mistake is still worth a search for what was meant: a file full of them is not.
  var suggestionsLeft = 10

  public init(_ location: StoreLocation, as identity: Identity) {
    self.location = location
    self.identity = identity
  }

  /// The store, or nil when the default one is absent.
  ///
  /// - Throws: `no_store` when one that was named is absent.
  func existingStore() throws -> Store? {
    if let opened { return opened }
    opened = try Store.open(location)
    if opened == nil, location.isNamed, try location.state() == .absent {
      throw DMError(
        .noStore, "there is no store at '\(location.directory)'; sending or 'dm-user add' creates one",
        subject: location.directory)
    }
    return opened
  }

  /// Whether there is a store.
  ///
  /// - Throws: `no_store` when one that was named is absent.
  public func hasStore() throws -> Bool { try existingStore() != nil }

  func createdStore() throws -> Store {
    if let opened { return opened }
    let store = try Store.create(location)
    opened = store
    return store
  }

  /// Runs `body` on one state of the store, or returns `empty` when it is absent or the user may yet be added.
  func reading<T>(_ empty: T, _ body: (Store, Int64) throws -> T) throws -> T {
    guard let store = try existingStore() else { return empty }
    return try store.read {
      me = try me ?? store.userKey(identity.handle.description)
      guard let me else {
        if try identity.isLoginName || !store.hasUsers() { return empty }
        throw try unknownUser(identity.handle.description, store)
      }
      return try body(store, me)
    }
  }

  /// Looks, before a write is prepared that creates what is missing: where there is no store, nothing stands in its way.
  func readingIfPresent(_ body: (Store, Int64) throws -> Void) throws {
    if try location.state() == .present { try reading((), body) }
  }

  /// Runs `body` in one durable transaction, as a user who is added when he may be.
  func writing<T>(
    isBulk: Bool = false, patience: Int = Store.patience, _ body: (Store, Int64) throws -> T
  ) throws -> T {
    let store = try createdStore()
    return try store.write(isBulk: isBulk, patience: patience) { try body(store, try actor(store)) }
  }

  /// The first to write in a new store is created whoever it is, and so is the login name.
  private func actor(_ store: Store) throws -> Int64 {
    if let me = try me ?? store.userKey(identity.handle.description) { return me }
    guard try identity.isLoginName || !store.hasUsers() else {
      throw try unknownUser(identity.handle.description, store)
    }
    return try store.insertUser(identity.handle, at: .now)
  }
}
