package import DMKit
internal import DMSystem

extension Invocation {
  /// Calls `handle` with each batch of events, as long as standard output has a reader.
  ///
  /// Standard output is flushed after each batch. When the reader of standard output ends, SIGPIPE ends this process,
  /// even if there is nothing to write.
  ///
  /// - Parameters:
  ///   - redraw: called when the terminal's size has changed; nil if nothing is redrawn.
  ///   - handle: returns the timeout for the next batch, or nil for none; after a timeout, `handle` is called with an
  ///     empty batch.
  package func follow(
    _ query: EventQuery, redraw: (() throws -> Void)? = nil, _ handle: ([MessagingEvent]) throws -> Duration?
  ) throws {
    // Without a store there is nothing to read, and reading must not create a store.
    if !query.follows, query.consumer == nil, try !messenger().hasStore() { return }
    let follower = try Follower(messenger(), query)
    follower.endsWith = Stream.output.rawValue
    follower.keepCarrier = { [self] in startCarrier() }
    let resizes = try redraw.map { _ in try ResizeSignals() }
    if let resizes { follower.yieldsTo = [resizes.descriptor] }
    var hasWarned = false
    var limit: Duration?
    while let events = try follower.next(within: limit) {
      if resizes?.hasArrived() == true { try redraw?() }
      limit = try handle(events)
      try output.flush()
      try follower.markDelivered(events)
      if let warning = follower.warning, !hasWarned {
        printError(command.name, "\(warning); looking ten times a second instead")
        hasWarned = true
      }
    }
    if query.follows { Signal.brokenPipe.end() }
  }

  /// The kinds of events in a comma-separated list.
  ///
  /// - Throws: `usage`.
  package static func eventKinds(_ list: String) throws -> Set<MessagingEvent.Kind> {
    let all = MessagingEvent.Kind.allCases
    return try Set(
      list.split(separator: ",", omittingEmptySubsequences: false).flatMap { word in
        if word == "all" { return all }
        guard let kind = MessagingEvent.Kind(rawValue: String(word)) else {
          let names = all.map(\.rawValue).joined(separator: ", ")
          throw usage("'\(word)' is not a kind of event; name some of \(names), or 'all'")
        }
        return [kind]
      })
  }
}

/// The signals that report a new size of the terminal.
private final class ResizeSignals {
  private let signals: Interrupts
  var descriptor: Int32 { signals.descriptor }

  init() throws { signals = try Interrupts(of: [.resize]) }

  /// Whether a signal has arrived since the last call.
  func hasArrived() -> Bool {
    guard signals.next() != nil else { return false }
    while signals.next() != nil {}
    return true
  }
}
