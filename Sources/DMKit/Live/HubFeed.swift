internal import DMModel
internal import DMSystem

/// The events of a follower about the connection of a linked store to its hub.
struct HubFeed {
  private let messenger: Messenger
  private var isConnected = true
  private var look = RepeatingTimer(1_000_000)

  init(_ messenger: Messenger) { self.messenger = messenger }

  /// The time of the next check, on the monotonic clock.
  var due: Int64 { look.due }

  /// Returns an event if, since the last check, the connection was lost or was established again.
  mutating func next() throws -> [MessagingEvent] {
    guard look.fires(), let now = messenger.runningState.isConnected, now != isConnected else { return [] }
    isConnected = now
    return [.hub(try messenger.hubStatus())]
  }
}
