/// The state of the connection between a linked store and its hub.
public struct HubStatus: Equatable, Sendable {
  /// The state of the connection, as a word.
  public enum State: String, CaseIterable, Sendable {
    /// The store was never compared with the hub.
    case never
    /// The sync process is connecting to the hub.
    case connecting
    /// The store is catching up with the hub.
    case filling
    /// The hub notifies the store of changes at once.
    case live
    /// The store asks the hub for changes every two seconds, or every 15 to 30 seconds if the hub has few connections
    /// left.
    case polling
    /// The sync process waits before it connects again, or no sync process runs.
    case waiting
    /// The hub does not let the store in.
    case refused
    /// The simulated network is offline.
    case offline
    /// The store has left its hub.
    case left
  }

  /// The state as a color, like that of a traffic light.
  public enum Color: String, CaseIterable, Sendable {
    /// The connection works.
    case green
    /// The connection may work.
    case yellow
    /// The connection does not work.
    case red
  }

  /// The state of the connection.
  public let state: State
  /// The user who owns the store.
  public let user: Handle
  /// The network that is simulated; `normal` is the real network.
  public let network: HubNetwork
  /// Whether a process syncs the store with the hub now.
  public let isRunning: Bool
  /// The number of operations that wait for the hub.
  public let queuedCount: Int
  /// The number of operations that the hub has refused.
  public let failedCount: Int
  /// When the oldest waiting operation was queued; nil if none waits.
  public let oldestQueuedAt: Timestamp?
  /// The number of attempts to connect that have failed since the last success.
  public let attempts: Int
  /// When the hub last answered; nil if it never did.
  public let lastSyncAt: Timestamp?
  /// When the sync process connects again; nil if the sync process is connected or does not run.
  public let nextAttemptAt: Timestamp?
  /// When the hub accepts more from the user; nil if the user is not over their quota.
  public let retryAt: Timestamp?
  /// By how many microseconds the clock of the hub is ahead of this machine's clock.
  public let clockOffset: Int64
  /// The reason why something does not work; nil if everything works.
  public let fault: String?
  /// The conversations that are not synced, because their entries on the hub cannot be read.
  public let setAside: [SetAside]
  /// Whether the store is connected to the hub.
  ///
  /// If so, other users get the user's changes, unless the hub postpones the changes.
  public let isConnected: Bool

  /// A conversation that is not synced.
  public struct SetAside: Equatable, Sendable {
    /// The id of the conversation.
    public let id: Identifier
    /// The name that the user sees; nil if the conversation is not in this store.
    public let reference: String?
    /// The code of the reason.
    public let code: String

    package var name: String { reference ?? id.description }

    package init(id: Identifier, reference: String?, code: String) {
      self.id = id
      self.reference = reference
      self.code = code
    }
  }

  package init(
    state: State, user: Handle, network: HubNetwork, isRunning: Bool, queuedCount: Int, failedCount: Int,
    oldestQueuedAt: Timestamp?, attempts: Int, lastSyncAt: Timestamp?, nextAttemptAt: Timestamp?, retryAt: Timestamp?,
    clockOffset: Int64, fault: String?, setAside: [SetAside], isConnected: Bool? = nil
  ) {
    self.state = state
    self.user = user
    self.network = network
    self.isRunning = isRunning
    self.queuedCount = queuedCount
    self.failedCount = failedCount
    self.oldestQueuedAt = oldestQueuedAt
    self.attempts = attempts
    self.lastSyncAt = lastSyncAt
    self.nextAttemptAt = nextAttemptAt
    self.retryAt = retryAt
    self.clockOffset = clockOffset
    self.fault = fault
    self.setAside = setAside
    self.isConnected = isConnected ?? [.live, .polling, .filling].contains(state)
  }

  /// The color while the store is not connected.
  ///
  /// For a minute after the hub last answered, the color is green, and then yellow. On a simulated network, the color
  /// is yellow also in this minute. After a fault, the color is yellow for this minute, and then red. If the hub never
  /// answered, the color is red.
  private var waitingColor: Color {
    guard let lastSyncAt else { return .red }
    let isRecent = Timestamp.now.microseconds - lastSyncAt.microseconds < 60_000_000
    if attempts > 0 || fault != nil { return isRecent ? .yellow : .red }
    return isRecent && network == .normal ? .green : .yellow
  }

  /// Whether another status looks the same to the user; a difference only in times does not count.
  package func isSimilar(to other: HubStatus) -> Bool {
    (state, color, network, queuedCount, failedCount, fault)
      == (other.state, other.color, other.network, other.queuedCount, other.failedCount, other.fault)
      && setAside == other.setAside
  }

  /// Green if the connection works, yellow if it may work, red if it does not work or a conversation is set aside.
  public var color: Color {
    if !setAside.isEmpty { return .red }
    if retryAt != nil, state == .waiting { return .yellow }
    return switch state {
    case .live, .polling: network == .normal && fault == nil ? .green : .yellow
    case .connecting, .filling: .yellow
    case .never, .waiting: waitingColor
    case .refused, .offline, .left: .red
    }
  }
}
