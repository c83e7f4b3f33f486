public import DMKit
internal import Glibc

extension Invocation {
  /// Hands on what happens, batch by batch, for as long as somebody reads standard output.
  ///
  /// What is printed goes out after each batch. When the reader has gone, the process dies as if it had written to
  /// him.
  ///
  /// - Parameter handle: returns how long it wants to wait for more at the most, nil for any time; it is handed
  ///   nothing when that is over.
  public func follow(_ query: EventQuery, _ handle: ([MessagingEvent]) throws -> Duration?) throws {
    // What only looks makes no store.
    if !query.follows, query.consumer == nil, try !messenger().hasStore() { return }
    let follower = try Follower(messenger(), query)
    follower.endsWith = Stream.output.rawValue
    var hasWarned = false
    var limit: Duration?
    while let events = try follower.next(within: limit) {
      limit = try handle(events)
      try output.flush()
      if let warning = follower.warning, !hasWarned {
        complain(command.name, "\(warning); looking ten times a second instead")
        hasWarned = true
      }
    }
    if query.follows { dieOf(SIGPIPE) }
  }

  /// The kinds of events that a list of words names.
  ///
  /// - Throws: `usage`.
  public static func eventKinds(_ list: String) throws -> Set<MessagingEvent.Kind> {
    let all = MessagingEvent.Kind.allCases
    return try Set(
      list.split(separator: ",", omittingEmptySubsequences: false).flatMap { word in
        if word == "all" { return all }
        guard let kind = MessagingEvent.Kind(rawValue: String(word)) else {
          let known = all.map(\.rawValue).joined(separator: ", ")
          throw usage("'\(word)' is no kind of event; name some of \(known), or 'all'")
        }
        return [kind]
      })
  }
}
