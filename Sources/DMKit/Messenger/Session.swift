/// One transaction of one user.
///
/// `Messenger` makes one for each transaction. Its methods resolve references, check permissions, and do what several
/// actions have in common.
final class Session {
  let messenger: Messenger
  let store: Store
  /// The key of the user.
  let me: UserKey
  /// The viewer of the user, which caches its look-ups for the rest of the transaction.
  ///
  /// After a write that changes what it caches, take a `freshViewer`.
  private(set) lazy var viewer = freshViewer()

  init(_ messenger: Messenger, _ store: Store, _ me: UserKey) {
    self.messenger = messenger
    self.store = store
    self.me = me
  }

  /// The handle of the user.
  var handle: Handle { messenger.identity.handle }

  func freshViewer() -> Viewer { Viewer(store, me) }
}
