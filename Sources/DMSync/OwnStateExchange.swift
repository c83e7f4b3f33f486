internal import DMKit
internal import DMStore

/// What a connection knows of the exchange of the user's own states.
struct OwnStateExchange {
  /// The last rev that the hub has named; nil before the first comparison.
  private(set) var namedRev: Int64?
  /// Whether the last exchange has changed nothing, so that the next one waits for a comparison, or for a change.
  private(set) var isAtRest = false
  /// The rev up to which all states have been read again, and the conversations that the hub has states of; nil unless they
  /// are being read from the first on.
  var reread: (rev: Int64, seen: Set<Identifier>)?
  /// The conversations whose states name messages that did not come with the last pull.
  var awaited: Set<Identifier> = []

  mutating func compared(rev: Int64, mustReread: Bool) {
    (namedRev, isAtRest) = (rev, false)
    if mustReread, reread == nil { reread = (0, []) }
  }

  /// Notes that the user has changed something in this store, or in another.
  mutating func note(isHint: Bool) {
    isAtRest = false
    if isHint { namedRev = .max }
  }

  /// Notes the end of an exchange that has read everything up to a rev, or that could not.
  mutating func ended(at rev: Int64, isAtRest: Bool) { (namedRev, self.isAtRest) = (rev, isAtRest) }

  func hasNews(after rev: Int64) -> Bool { !isAtRest && (namedRev.map { $0 > rev } ?? false || reread != nil) }
}
