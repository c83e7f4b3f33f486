package import DMModel
public import DMStore
internal import DMSystem

/// The maintenance of a store: checks, backups, purges and repairs.
///
/// It acts on the files, not as a user, and has no permissions: a process that can open the files may do all of it.
/// Not Sendable: it has a connection, which stays on its thread.
public final class Upkeep {
  /// What can be done; the names stand in stores.
  package enum Tool: String, CaseIterable, Sendable {
    case check
    case deepCheck = "check --deep"
    case stats
    case backup
    case dump
    case restore
    case purge
    case repair
    case reports
  }

  /// When a tool was used last.
  package struct Use: Equatable, Sendable {
    package let tool: String
    package let usedAt: Timestamp
  }

  /// The location of the store.
  public let location: StoreLocation
  /// Told what is being done, often; what it throws ends the work, of which nothing is left behind.
  let progress: (String) throws -> Void
  private var opened: Store?

  /// Makes it for a store, which its first function opens.
  ///
  /// - Parameters:
  ///   - location: the location of the store.
  ///   - progress: called often with the current step; an error that it throws ends the work, and nothing is left of it.
  public init(_ location: StoreLocation, progress: @escaping (String) throws -> Void = { _ in }) {
    self.location = location
    self.progress = progress
  }

  /// - Parameter refusesForeignParts: whether a store with triggers or views is refused, or only looked at.
  /// - Throws: `no_store` when there is none.
  func store(refusesForeignParts: Bool = true) throws -> Store {
    if let opened { return opened }
    guard let store = try Store.open(location, refusesForeignParts: refusesForeignParts) else {
      throw DMError(
        .noStore, "there is no store at '\(location.directory)'; name another --store, or restore one",
        subject: location.directory)
    }
    opened = store
    return store
  }

  /// When a tool was used last; nil when it never was.
  func lastUse(of tool: Tool) throws -> Timestamp? {
    var statement = try store().connection.prepare("SELECT at FROM upkeep WHERE tool = ?")
    statement.bind(tool.rawValue)
    return try statement.step() ? statement.timestamp(0) : nil
  }

  func uses() throws -> [Use] {
    var statement = try store().connection.prepare("SELECT tool, at FROM upkeep ORDER BY tool")
    var uses: [Use] = []
    while try statement.step() { uses.append(Use(tool: statement.text(0), usedAt: statement.timestamp(1))) }
    return uses
  }

  /// Notes that a tool was used; not where the store cannot be written to now.
  func note(_ tool: Tool) throws {
    _ = try attempt { try store().write(patience: 500) { try note(tool, in: store()) } }
  }

  /// The same within a write transaction.
  func note(_ tool: Tool, in store: Store) throws {
    var note = try store.connection.prepare("INSERT OR REPLACE INTO upkeep (tool, at) VALUES (?, ?)")
    note.bind(tool.rawValue)
    note.bind(Timestamp.now)
    try note.run()
  }
}
