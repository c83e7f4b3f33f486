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

  /// What the hub has decided about an act that it has ordered.
  struct Order {
    /// The id of the message, for an act that adds one.
    let id: Identifier?
    let at: Timestamp
    /// The owner of a group whose last owner leaves it.
    var heir: UserKey? = nil
  }

  /// Set while an act from the log of the hub is done as its actor, who may be another user.
  private let order: Order?

  init(_ messenger: Messenger, _ store: Store, _ me: UserKey, order: Order? = nil) {
    self.messenger = messenger
    self.store = store
    self.me = me
    self.order = order
  }

  /// Whether an act of this session is to be told to a hub.
  var mustQueue: Bool { store.isLinked && order == nil }

  /// The time of what is done: the clock's, or that of the hub.
  var now: Timestamp { order?.at ?? .now }

  /// Who decides the number, the time and the id of a message that is added.
  var origin: (id: Identifier?, Messages.Origin) {
    order.map { ($0.id, .hub(at: $0.at, expiresAt: nil)) } ?? (nil, .here)
  }

  /// The user who inherits a group that has no owner any more.
  func heir(of group: ConversationKey) throws -> UserKey? {
    if let order { return order.heir }
    return try store.members.longestMember(of: group)
  }

  /// The handle of the user.
  var handle: Handle { messenger.identity.handle }

  func freshViewer() -> Viewer { Viewer(store, me) }
}
