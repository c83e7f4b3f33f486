/// The folder of a store, and whether the user named it.
public struct StoreLocation: Hashable, Sendable {
  /// The path of the folder, absolute or relative to the working directory.
  public let directory: String
  /// Whether the user named the store: an absent default store is empty, an absent named store is an error.
  package let isNamed: Bool
  /// The time that a write waits for the lock of the store before it fails with `busy`.
  package let busyTimeout: Duration

  package static let standardBusyTimeout = Duration.seconds(5)

  /// Makes a location; touches no file.
  ///
  /// - Parameters:
  ///   - directory: the path of the folder, absolute or relative to the working directory.
  ///   - isNamed: whether an absent store is an error (`no_store`) for readers; otherwise it counts as empty.
  ///   - busyTimeout: the time that a write waits for the lock of the store before it fails with `busy`.
  public init(directory: String, isNamed: Bool, busyTimeout: Duration = .seconds(5)) {
    self.directory = directory
    self.isNamed = isNamed
    self.busyTimeout = busyTimeout
  }
}
