package import DMKit
package import DMModel
internal import DMStore
internal import DMSync
internal import DMSystem

/// Where a hub was moved to.
struct HubMove: Equatable {
  let hub: Identifier?
  let address: HubAddress
  /// The certificate of the authority that signed the certificate there, in PEM; nil for the same as before.
  let authority: String?

  init(hub: Identifier? = nil, address: HubAddress, authority: String?) {
    self.hub = hub
    self.address = address
    self.authority = authority
  }

  /// Asks a hub where it was moved to; nil if it was not moved.
  ///
  /// - Throws: `HubFault`; `damaged` if the hub was moved, but does not return a valid address.
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
/// A second file has the credentials for the new address; it replaces the first after the hub has answered there. Until
/// then the old address is asked, too, because the administrator may call the members back.
package struct Relocation {
  private let location: StoreLocation

  package init(_ location: StoreLocation) { self.location = location }

  private var hasBegun: Bool { fileExists(location.movingHub) }

  /// Connects to the hub at its new address, or else at its old one.
  ///
  /// - Throws: `HubFault`; `lost` for a hub that was moved and is not yet open at its new address.
  func opened(_ connect: (PQConnection.Settings) throws -> PQGreeting) throws -> PQGreeting {
    let attempt = hasBegun ? arrived(connect) : nil
    if case .success(let there)? = attempt { return there }
    let old = Result { try connect(Credentials(file: location.hub).settings()) }
    guard case .success(let here) = old else { return try notYetOpen(attempt ?? old, hasBegun) }
    guard let move = here.move else {
      // The administrator has called the members back.
      try locked { cancel() }
      return here
    }
    let isNew = try locked { try begin(move) }
    return try notYetOpen(isNew ? arrived(connect) : attempt ?? old, true)
  }

  /// The result of an attempt; while the hub moves, any fault counts as `lost`, because the new server may not be set up yet.
  private func notYetOpen(_ attempt: Result<PQGreeting, any Error>, _ isMoving: Bool) throws -> PQGreeting {
    do {
      return try attempt.get()
    } catch let fault as HubFault where isMoving {
      let there = try Credentials(file: location.movingHub)
      throw HubFault.lost("it moves to '\(there.host):\(there.port)', and is not open there yet: \(fault.text)")
    }
  }

  /// Connects to the new address, and makes its credentials those of the store.
  private func arrived(_ connect: (PQConnection.Settings) throws -> PQGreeting) -> Result<PQGreeting, any Error> {
    Result { try locked { try arrive(connect, movesLeft: 3) } }
  }

  /// - Parameter movesLeft: how often the hub may have moved on.
  private func arrive(
    _ connect: (PQConnection.Settings) throws -> PQGreeting, movesLeft: Int
  ) throws -> PQGreeting {
    var credentials = try Credentials(file: location.movingHub)
    let there = try connect(credentials.settings())
    if let hub = credentials.hub, hub != there.hello.hub { throw HubFault.lost("another hub is there") }
    if let next = there.move {
      // A hub that was copied and not yet installed says that it moves to where it is.
      guard movesLeft > 0, try begin(next) else { throw HubFault.lost("the hub is not set up there") }
      return try arrive(connect, movesLeft: movesLeft - 1)
    }
    credentials.hub = nil
    try credentials.replaceThose(of: location, from: location.movingHub)
    return there
  }

  /// Keeps other processes from changing the new address meanwhile.
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
  /// - Returns: whether it differs from the address that was recorded before.
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

  /// The file with the new address, and the certificate that it names.
  private var recorded: [[UInt8]?] {
    [
      readFile(location.movingHub, limit: Credentials.sizeLimit),
      Credentials.authority(in: location.movingHub).flatMap { readFile($0, limit: 1 << 20) },
    ]
  }

  /// Deletes the new address, so that the store stays at the old one.
  func cancel() {
    guard hasBegun else { return }
    let there = Credentials.authority(in: location.movingHub)
    removeFile(location.movingHub)
    if let there, there != Credentials.authority(in: location.hub) { removeFile(there) }
  }

  /// Gives the store an address of its hub that its user knows, because the old one does not answer any more.
  ///
  /// The next connection tries it first.
  ///
  /// - Throws: `no_hub` for a store without a hub.
  package func move(_ messenger: Messenger, to address: HubAddress, authority: String?) throws {
    let move = HubMove(hub: try messenger.existingStore()?.hub.row()?.id, address: address, authority: authority)
    _ = try locked { try begin(move) }
  }

  /// - Throws: `hub_unreachable` if the store is not at this address.
  package func check(isAt address: HubAddress) throws {
    let credentials = try Credentials(file: location.hub)
    if (credentials.host, credentials.port) == (address.host, address.portOrDefault) { return }
    throw DMError(
      .hubUnreachable,
      "the hub is not at '\(address)': the store stays at '\(credentials.host)', where the hub answers",
      subject: "\(address)")
  }
}
