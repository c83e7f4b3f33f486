package import DMKit
package import DMModel
internal import DMStore
internal import DMSync
internal import DMSystem

/// The new address of a hub that was moved.
struct HubMove: Equatable {
  let hub: Identifier?
  let address: HubAddress
  /// The certificate, in PEM, of the authority that signed the new server's certificate; nil if the authority stays the
  /// same.
  let authority: String?

  init(hub: Identifier? = nil, address: HubAddress, authority: String?) {
    self.hub = hub
    self.address = address
    self.authority = authority
  }

  /// Asks a hub for its new address; nil if the hub was not moved.
  ///
  /// - Throws: `HubFault`, which is `damaged` if the hub was moved, but does not return a valid address.
  init?(of hub: Identifier, _ connection: PQConnection) throws {
    let rows = try connection.rows("SELECT address, authority FROM dm1.moved()") {
      ($0.optionalText(0), $0.optionalText(1))
    }
    guard let (text, authority) = rows.first else { return nil }
    guard let text, case .success(let address) = Result(catching: { try HubAddress(text) }) else {
      throw HubFault.damaged("the hub was moved, but has not returned a valid address")
    }
    self.init(hub: hub, address: address, authority: authority.flatMap { $0.isEmpty || isCertificate($0) ? $0 : nil })
  }
}

/// Moves a store to the new address of its hub.
///
/// The credentials for the new address are in a second file, which replaces the first one after the hub has answered at
/// the new address. Until then, each attempt tries the new address and then the old one, because the administrator may
/// cancel the move.
package struct Relocation {
  private let location: StoreLocation

  package init(_ location: StoreLocation) { self.location = location }

  private var hasBegun: Bool { fileExists(location.movingHub) }

  /// Connects to the hub at its new address or, if that fails, at its old address.
  ///
  /// - Throws: `HubFault`, which is `lost` if the hub was moved and cannot be reached at its new address yet.
  func opened(_ connect: (PQConnection.Settings) throws -> PQGreeting) throws -> PQGreeting {
    let attempt = hasBegun ? arrived(connect) : nil
    if case .success(let there)? = attempt { return there }
    let old = Result { try connect(Credentials(file: location.hub).settings()) }
    guard case .success(let here) = old else { return try notYetOpen(attempt ?? old, hasBegun) }
    guard let move = here.move else {
      // The administrator has cancelled the move.
      try locked { cancel() }
      return here
    }
    let isNew = try locked { try begin(move) }
    return try notYetOpen(isNew ? arrived(connect) : attempt ?? old, true)
  }

  /// The result of an attempt to connect; while the hub moves, each `HubFault` is thrown as `lost`, because the new
  /// server may not be set up yet.
  private func notYetOpen(_ attempt: Result<PQGreeting, any Error>, _ isMoving: Bool) throws -> PQGreeting {
    do {
      return try attempt.get()
    } catch let fault as HubFault where isMoving {
      let there = try Credentials(file: location.movingHub)
      throw HubFault.lost("it moves to '\(there.host):\(there.port)', and is not open there yet: \(fault.text)")
    }
  }

  /// Connects to the new address, and replaces the store's credentials with those for the new address.
  private func arrived(_ connect: (PQConnection.Settings) throws -> PQGreeting) -> Result<PQGreeting, any Error> {
    Result { try locked { try arrive(connect, movesLeft: 3) } }
  }

  /// - Parameter movesLeft: how many further moves to follow.
  private func arrive(
    _ connect: (PQConnection.Settings) throws -> PQGreeting, movesLeft: Int
  ) throws -> PQGreeting {
    var credentials = try Credentials(file: location.movingHub)
    let there = try connect(credentials.settings())
    if let hub = credentials.hub, hub != there.hello.hub { throw HubFault.lost("another hub is there") }
    if let next = there.move {
      // Until the hub is installed on the new server, the copy there reports a move to its own address.
      guard movesLeft > 0, try begin(next) else { throw HubFault.lost("the hub is not set up there") }
      return try arrive(connect, movesLeft: movesLeft - 1)
    }
    credentials.hub = nil
    try credentials.replaceThose(of: location, from: location.movingHub)
    return there
  }

  /// Runs `body` under a lock, so that no other process changes the new address meanwhile.
  private func locked<Value>(_ body: () throws -> Value) throws -> Value {
    let lock = try FileLock(
      path: location.movingLock, milliseconds: 30_000,
      busy: DMError(.busy, "another process moves the store '\(location.directory)'", subject: location.directory))
    let result = Result { try body() }
    _ = consume lock
    return try result.get()
  }

  /// Records the new address.
  ///
  /// - Returns: whether the new address or its certificate differs from those that were recorded before.
  private func begin(_ move: HubMove) throws -> Bool {
    let before = recorded
    var credentials = try Credentials(file: location.hub)
    credentials.host = move.address.host
    credentials.port = move.address.portOrDefault
    credentials.hostAddress = nil
    credentials.hub = move.hub
    try credentials.set(certificate: move.authority, of: location, in: location.movingAuthority)
    try credentials.write(to: location.movingHub)
    return before != recorded
  }

  /// The contents of the file with the new address, and of the certificate file that it names.
  private var recorded: [[UInt8]?] {
    [
      readFile(location.movingHub, limit: Credentials.sizeLimit),
      Credentials.authority(in: location.movingHub).flatMap { readFile($0, limit: 1 << 20) },
    ]
  }

  /// Deletes the recorded new address, so that the store stays at the old one.
  func cancel() {
    guard hasBegun else { return }
    let there = Credentials.authority(in: location.movingHub)
    removeFile(location.movingHub)
    if let there, there != Credentials.authority(in: location.hub) { removeFile(there) }
  }

  /// Records a new address of the hub that the user has given, because the hub no longer answers at the old one.
  ///
  /// The next attempt to connect tries this address first.
  ///
  /// - Throws: `no_hub` for a store without a hub.
  package func move(_ messenger: Messenger, to address: HubAddress, authority: String?) throws {
    let move = HubMove(hub: try messenger.existingStore()?.hub.row()?.id, address: address, authority: authority)
    _ = try locked { try begin(move) }
  }

  /// - Throws: `hub_unreachable` if the store's credentials have another address.
  package func check(isAt address: HubAddress) throws {
    let credentials = try Credentials(file: location.hub)
    if (credentials.host, credentials.port) == (address.host, address.portOrDefault) { return }
    throw DMError(
      .hubUnreachable,
      "the hub is not at '\(address)': the store stays at '\(credentials.host)', where the hub answers",
      subject: "\(address)")
  }
}
