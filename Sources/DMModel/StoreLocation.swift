/// The folder of a store, and whether the user named it.
public struct StoreLocation: Hashable, Sendable {
  /// The path of the folder, absolute or relative to the working directory.
  public let directory: String
  /// Whether the user named the store.
  ///
  /// A named store that does not exist is an error; a default store that does not exist counts as empty.
  package let isNamed: Bool
  /// How long a write waits for the lock of the store before it fails with `busy`.
  package let busyTimeout: Duration
  /// What opening a store of an earlier version does.
  package var upgrading = Upgrading.keepsCopy

  /// What opening a store of an earlier version does: upgrade it after copying its database, upgrade it at once, or
  /// fail.
  package enum Upgrading: Sendable { case keepsCopy, keepsNothing, refused }

  package static let standardBusyTimeout = Duration.seconds(5)

  /// Makes a location; touches no file.
  ///
  /// - Parameters:
  ///   - directory: the path of the folder, absolute or relative to the working directory.
  ///   - isNamed: whether a store that does not exist is an error (`no_store`) for readers; otherwise it counts as
  ///     empty.
  ///   - busyTimeout: how long a write waits for the lock of the store before it fails with `busy`.
  public init(directory: String, isNamed: Bool, busyTimeout: Duration = .seconds(5)) {
    self.directory = directory
    self.isNamed = isNamed
    self.busyTimeout = busyTimeout
  }
}
