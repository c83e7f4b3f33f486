internal import DMKit
package import DMModel

/// The reason why a call to a hub failed.
package enum HubFault: Error, Equatable, Sendable {
  /// The hub cannot be reached, or the connection ended; the hub may have carried out the call that was in progress.
  case lost(String)
  /// The hub refuses this login, for example because it was revoked.
  case refused(String)
  /// The server denies a permission to this login, perhaps only during maintenance.
  case denied(String)
  /// The configuration of the server refuses this login, for example because it was revoked, or during maintenance.
  case turnedAway(String)
  /// The hub, its protocol or the person is not the expected one.
  case mismatch(String)
  /// The server accepts no changes now.
  case readOnly(String)
  /// The hub asks for the call to be repeated at once.
  case again(String)
  /// Another transaction holds a lock; the set has the locked conversations that could be found.
  case locked(String, Set<Identifier>)
  /// The hub ended a call that took too long.
  case timedOut(String)
  /// The hub cannot process one of the operations.
  case poison(String)
  /// The data of the hub is damaged.
  case damaged(String)
}

extension HubFault {
  /// The description of the fault, as a clause.
  package var text: String {
    switch self {
    case .lost(let text), .refused(let text), .denied(let text), .turnedAway(let text), .mismatch(let text),
      .readOnly(let text), .again(let text), .locked(let text, _), .timedOut(let text), .poison(let text),
      .damaged(let text):
      text
    }
  }

  /// The error that the user of the store gets.
  package var error: DMError {
    switch self {
    case .lost, .denied, .readOnly, .again, .locked, .timedOut:
      DMError(.hubUnreachable, "cannot reach the hub: \(text)")
    case .turnedAway:
      DMError(
        .hubRefused, "the hub's server does not let this store in, perhaps because its login was revoked: \(text)")
    case .refused:
      DMError(.hubRefused, "the hub does not let this store in: \(text)", remedy: .joinHub)
    case .mismatch: DMError(.hubMismatch, "this is not the hub of the store: \(text)")
    case .poison: DMError(.refusedByHub, "the hub cannot carry this out: \(text)")
    case .damaged: DMError(.hubDamaged, "the data of the hub is damaged: \(text)")
    }
  }

  /// The error for the administrator of the hub.
  package var administratorsError: DMError {
    switch self {
    case .refused, .denied, .turnedAway: DMError(.hubRefused, "the database does not let you do this: \(text)")
    case .lost: DMError(.hubUnreachable, "cannot reach the database: \(text)")
    case .readOnly: DMError(.hubUnreachable, "the database takes no changes now: \(text)")
    case .locked, .again, .timedOut: DMError(.hubUnreachable, "the database is busy: \(text); try again")
    case .poison, .mismatch: DMError(.refusedByHub, "the database cannot carry this out: \(text)")
    case .damaged: error
    }
  }
}
