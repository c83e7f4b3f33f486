internal import DMKit
internal import DMModel
internal import DMStore
internal import DMSystem

/// What other programs last requested of the sync process, by the modification times of files.
struct SyncRequests: Equatable {
  /// When a comparison with the hub was requested.
  private(set) var comparison: Timestamp?
  /// When the credentials were replaced, as joining again does.
  private var credentials: Timestamp?

  init() {}

  init(at location: StoreLocation) {
    comparison = FileStatus(location.liveAsked)?.modified
    credentials = FileStatus(location.hub)?.modified
  }
}
