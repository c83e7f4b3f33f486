package import DMKit
internal import DMModel
internal import DMStore
internal import DMSync
internal import DMSystem

/// Links a store to the hub of an invitation.
///
/// Each step may be the last one before a crash: what was done is found again, and the rest follows.
package struct Joining {
  private let messenger: Messenger
  private let location: StoreLocation

  /// - Throws: `cannot_create` for a store in which something was said, before the invitation is used up.
  package init(_ messenger: Messenger) throws {
    self.messenger = messenger
    location = messenger.location
    try messenger.checkMayLink()
  }

  /// Whether a link was begun and not finished.
  package var hasBegun: Bool { fileExists(location.joiningHub) }

  /// Joins with an invitation; goes on with the one that was begun for nil.
  ///
  /// Does nothing with an invitation by which this store has joined already.
  ///
  /// - Throws: `no_hub` if none was begun, `HubFault`, or an error of the store.
  package func join(_ invitation: Invitation?) throws {
    if let invitation, !hasBegun, try isOf(invitation, location.hub) { return }
    if let invitation, try !isOf(invitation, location.joiningHub) { try begin(invitation) }
    var credentials = try Credentials(file: location.joiningHub)
    if !accepts(credentials) { try signUp(credentials) }
    let link = Self.link(with: credentials)
    let hello = try link.open()
    try link.joined()
    try messenger.link(to: hello)
    // Again, for a connection with the password of the invitation that was being made meanwhile.
    try link.joined()
    link.close()
    credentials.invitation = nil
    // Only now: the store may have had a link before, which a token of another hub must not break.
    if let authority = readFile(location.joiningAuthority, limit: Credentials.sizeLimit) {
      try replaceFile(location.hubAuthority, with: authority)
    } else {
      removeFile(location.hubAuthority)
    }
    try credentials.write(to: location.hub)
    removeFile(location.joiningHub)
    removeFile(location.joiningAuthority)
  }

  /// Whether there are credentials that were made of an invitation.
  private func isOf(_ invitation: Invitation, _ path: String) throws -> Bool {
    guard fileExists(path) else { return false }
    let credentials = try Credentials(file: path)
    return credentials.user == invitation.user && credentials.host == invitation.host
  }

  /// Records the password that the login is going to have, before it has it.
  private func begin(_ invitation: Invitation) throws {
    try messenger.createStore()
    removeFile(location.joiningAuthority)
    if let authority = invitation.authority {
      try replaceFile(location.joiningAuthority, with: Array(authority.utf8))
    }
    var credentials = Credentials(invitation)
    credentials.password = Credentials.randomPassword()
    credentials.invitation = invitation.password
    try credentials.write(to: location.joiningHub)
  }

  /// Whether the hub knows the new password already.
  private func accepts(_ credentials: Credentials) -> Bool {
    let attempt = Result { try PQConnection(credentials.settings()) }
    if case .success = attempt { return true }
    return false
  }

  /// Replaces the password of the invitation.
  private func signUp(_ credentials: Credentials) throws {
    guard let invitation = credentials.invitation else { return }
    var once = credentials
    once.password = invitation
    let connection = try PQConnection(once.settings())
    // Refused before the password is changed, and the invitation is used up.
    try messenger.checkMayLink(to: Self.link(with: once).open())
    try connection.run([PQConnection.settings(), PQConnection.Statement("SELECT dm1.signing_up()")])
    let verifier = try connection.verifier(of: credentials.password, for: credentials.user)
    try connection.run([
      PQConnection.Statement("ALTER ROLE CURRENT_USER PASSWORD \(try connection.literal(verifier))")
    ])
  }

  private static func link(with credentials: Credentials) -> PQHubLink {
    PQHubLink(label: hostName(), bell: nil) { try credentials.settings() }
  }
}

/// Takes this machine off the hub, and forgets its credentials; does nothing if that was done already.
///
/// - Throws: `HubFault` if the hub cannot be told; the credentials then stay.
package func sayGoodbye(_ link: PQHubLink, _ location: StoreLocation) throws {
  guard fileExists(location.hub) else { return }
  do {
    _ = try link.open()
    try link.goodbye()
  } catch HubFault.refused {
    // The hub does not know this machine any more.
  }
  link.close()
  forgetCredentials(location)
}

/// Removes what a store needs to connect to its hub.
package func forgetCredentials(_ location: StoreLocation) { removeFile(location.hub) }
