package import DMModel
internal import DMStore
internal import DMSystem

/// Maintenance of a store: check, back up, dump, restore, purge, repair, statistics.
///
/// Maintenance is not done for a user: every process that can open the files may do all of this. This class is not
/// Sendable, because its connection stays on one thread.
package final class Upkeep {
  /// The tools; stores contain their raw values.
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
  package let location: StoreLocation
  /// Is called often with a description of the current step; an error that it throws ends the work, and nothing partial
  /// is left.
  let progress: (String) throws -> Void
  /// Called if opening the store has upgraded it, with a clause that says so.
  package var onUpgrade: ((String) -> Void)?
  private var opened: Store?

  /// Does not open the store; the first call of another function opens the store.
  ///
  /// - Parameters:
  ///   - location: the location of the store.
  ///   - progress: called often with a description of the current step; an error that it throws ends the work, and
  ///     nothing partial is left.
  package init(_ location: StoreLocation, progress: @escaping (String) throws -> Void = { _ in }) {
    self.location = location
    self.progress = progress
  }

  /// - Parameter refusesForeignParts: whether to refuse a store with triggers or views that are not ours.
  /// - Throws: `no_store` if there is no store.
  func store(refusesForeignParts: Bool = true) throws -> Store {
    if let opened { return opened }
    let store = try Store.open(location, refusesForeignParts: refusesForeignParts, onUpgrade: onUpgrade)
    guard let store else {
      throw DMError(
        .noStore, "there is no store at '\(location.directory)'",
        subject: location.directory, remedy: .nameStoreOrRestore)
    }
    opened = store
    return store
  }

  /// The time at which a tool was last used; nil if never.
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

  /// Records that a tool was used, unless the store cannot be written to now.
  func note(_ tool: Tool) throws {
    _ = try attempt { try store().write(timeout: .milliseconds(500)) { try note(tool, in: store()) } }
  }

  /// Records that a tool was used; runs within a write transaction.
  func note(_ tool: Tool, in store: Store) throws {
    var note = try store.connection.prepare("INSERT OR REPLACE INTO upkeep (tool, at) VALUES (?, ?)")
    note.bind(tool.rawValue)
    note.bind(Timestamp.now)
    try note.run()
  }
}
