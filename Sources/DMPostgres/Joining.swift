package import DMKit
internal import DMModel
internal import DMStore
internal import DMSync
internal import DMSystem

/// Links a store to the hub that an invitation names.
///
/// After a crash, the next call of `join` skips the steps that are done, and does the other steps.
package struct Joining {
  private let messenger: Messenger
  private let location: StoreLocation

  /// - Throws: `cannot_create` for a store that already has conversations; the invitation stays valid then.
  package init(_ messenger: Messenger) throws {
    self.messenger = messenger
    location = messenger.location
    try messenger.checkMayLink()
  }

  /// Whether a join was begun and is not finished.
  package var hasBegun: Bool { fileExists(location.joiningHub) }

  /// Joins with an invitation; if it is nil, continues the join that was begun.
  ///
  /// Does nothing if this store has already joined with the invitation.
  ///
  /// - Throws: `no_hub` if the invitation is nil and no join was begun; `HubFault`; or an error of the store.
  package func join(_ invitation: Invitation?) throws {
    if let invitation, !hasBegun, try isOf(invitation, location.hub) { return }
    if let invitation, try !isOf(invitation, location.joiningHub) { try begin(invitation) }
    var credentials = try Credentials(file: location.joiningHub)
    if !accepts(credentials) { try signUp(credentials) }
    let link = Self.link(with: credentials)
    let hello = try link.open()
    try link.joined()
    try messenger.link(to: hello)
    // The second call ends a connection that another program was still opening, with the invitation's password, during
    // the first call.
    try link.joined()
    link.close()
    credentials.invitation = nil
    // The credentials are replaced last: if the store is linked already, an invitation to another hub must not break
    // that link.
    try credentials.replaceThose(of: location, from: location.joiningHub)
    Relocation(location).cancel()
  }

  /// Whether the credentials in a file were made from this invitation.
  private func isOf(_ invitation: Invitation, _ path: String) throws -> Bool {
    guard fileExists(path) else { return false }
    let credentials = try Credentials(file: path)
    return credentials.user == invitation.user && credentials.host == invitation.host
  }

  /// Records the login's new password before the hub gets it, so that a crash cannot lose the password.
  private func begin(_ invitation: Invitation) throws {
    try messenger.createStore()
    var credentials = Credentials(invitation)
    credentials.password = Credentials.randomPassword()
    credentials.invitation = invitation.password
    try credentials.set(certificate: invitation.authority ?? "", of: location, in: location.joiningAuthority)
    try credentials.write(to: location.joiningHub)
  }

  /// Whether the hub already accepts the new password.
  private func accepts(_ credentials: Credentials) -> Bool {
    let attempt = Result { try PQHosts(credentials.settings()).first { $0 } }
    if case .success = attempt { return true }
    return false
  }

  /// Changes the login's password from the invitation's password to the new one.
  private func signUp(_ credentials: Credentials) throws {
    guard let invitation = credentials.invitation else { return }
    var once = credentials
    once.password = invitation
    let greeting = try PQHosts(once.settings()).first(
      { try PQGreeting($0, label: hostName()) }, isSuitable: { !$0.hello.isStandby })
    let connection = greeting.connection
    // This is checked before the password is changed, because that change uses up the invitation.
    try messenger.checkMayLink(to: greeting.hello)
    try connection.run([PQConnection.Statement("SELECT dm1.signing_up()")])
    let verifier = try connection.verifier(of: credentials.password, for: credentials.user)
    try connection.run([
      PQConnection.Statement("ALTER ROLE CURRENT_USER PASSWORD \(try connection.literal(verifier))")
    ])
  }

  private static func link(with credentials: Credentials) -> PQHubLink {
    PQHubLink(label: hostName()) { try credentials.settings() }
  }
}

/// Removes this machine's login from the hub, and deletes the login's credentials; does nothing if the store has none.
///
/// - Throws: `HubFault` if the hub does not answer; the store then keeps the credentials.
package func sayGoodbye(_ link: PQHubLink, _ location: StoreLocation) throws {
  guard fileExists(location.hub) else { return }
  do {
    _ = try link.open()
    try link.goodbye()
  } catch HubFault.refused {
    // The hub no longer has this login, so there is nothing to remove.
  }
  link.close()
  forgetCredentials(location)
}

/// Deletes a store's credentials, including those for a new address of the hub.
package func forgetCredentials(_ location: StoreLocation) {
  removeFile(location.hub)
  Relocation(location).cancel()
}
