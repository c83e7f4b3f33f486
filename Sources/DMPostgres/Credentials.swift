internal import DMModel
internal import DMStore
internal import DMSystem

/// The address of a hub and a machine's login to it, stored in a file that only the file's owner can read.
///
/// Each line of the file has the form `NAME=VALUE`. Most names are those of libpq's parameters.
struct Credentials: Equatable {
  var host: String
  var port: String
  var database: String
  var user: String
  var password: String
  /// The IP address to connect to; the server's certificate must still be for the name in `host`.
  var hostAddress: String?
  /// The id that the hub at this address must have; nil for any id.
  var hub: Identifier?
  /// The one-time password of an invitation; nil after the invitation was used.
  var invitation: String?
  /// The file with the certificate of the authority that signed the hub's certificate; nil to trust the system's
  /// authorities.
  var authority: String?

  /// The files of certificate authorities on Debian, Fedora, SUSE and BSD systems.
  private static let systemAuthorities = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
  ]
  static let sizeLimit = 65_536

  init(host: String, port: String, database: String, user: String, password: String) {
    self.host = host
    self.port = port
    self.database = database
    self.user = user
    self.password = password
  }

  /// Makes the credentials for the sign-up, with the password of the invitation.
  init(_ invitation: Invitation) {
    self.init(
      host: invitation.host, port: invitation.port, database: invitation.database, user: invitation.user,
      password: invitation.password)
    hostAddress = invitation.hostAddress
  }

  /// Whether all hosts of the hub are this machine, so that the connection does not cross a network.
  private var isLocal: Bool {
    hostAddress == nil && hosts.allSatisfy { Self.isSocket($0) || ["127.0.0.1", "::1", "localhost"].contains($0) }
  }

  private var hosts: [String] { host.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }

  /// Whether a host is a Unix socket, given by the path of its folder or by an abstract name.
  private static func isSocket(_ host: String) -> Bool { host.hasPrefix("/") || host.hasPrefix("@") }

  /// The parameters of a connection to the hub.
  ///
  /// A hub on another machine, or one whose authority is set, must present a certificate for its name. On the same
  /// connection, it must prove that it has the verifier of the password. The password itself is never sent, because
  /// another user of this machine could listen at the hub's address while the hub is stopped. The parameters also keep
  /// libpq from reading its usual files in the home folder.
  ///
  /// - Throws: `hub_refused` if another user may have created the socket, and libpq is so old that it could send them
  ///   the password.
  func settings() throws -> PQConnection.Settings {
    let areSockets = hosts.allSatisfy(Self.isSocket)
    let isTrusted = areSockets || isLocal && authority == nil
    let canRequireAuth = try PQConnection.libraryVersion() >= 160_000
    if !canRequireAuth { try hosts.filter(Self.isSocket).forEach(refuseOpenFolder) }
    let isBound = !isTrusted || !canRequireAuth && !areSockets
    var settings = [
      ("host", host), ("port", port), ("dbname", database), ("user", user), ("password", password),
      ("application_name", "dm"), ("connect_timeout", "10"), ("keepalives_idle", "30"), ("keepalives_interval", "10"),
      ("keepalives_count", "3"), ("tcp_user_timeout", "30000"), ("gssencmode", "disable"), ("passfile", "/dev/null"),
      ("sslcert", "/dev/null/none"), ("sslkey", "/dev/null/none"), ("sslcrl", "/dev/null/none"),
      ("sslmode", isTrusted ? isBound ? "require" : "prefer" : "verify-full"),
      ("channel_binding", isBound ? "require" : "prefer"),
      ("sslrootcert", isTrusted ? "/dev/null/none" : try authority ?? Self.defaultAuthority(canRequireAuth)),
    ]
    if canRequireAuth { settings.append(("require_auth", "scram-sha-256")) }
    if let hostAddress { settings.append(("hostaddr", hostAddress)) }
    return settings
  }

  private static func defaultAuthority(_ acceptsSystem: Bool) throws -> String {
    if let file = try environment("SSL_CERT_FILE"), !file.isEmpty { return file }
    // With the value `system`, libpq 16 or newer takes the path from OpenSSL.
    return systemAuthorities.first(where: fileExists) ?? (acceptsSystem ? "system" : systemAuthorities[0])
  }

  /// - Throws: `hub_refused` for a folder in which another user can create a socket.
  private func refuseOpenFolder(_ folder: String) throws {
    guard folder.hasPrefix("@") || FileStatus(folder).map({ !$0.isOfSystem || $0.permissions & 0o002 != 0 }) ?? false
    else { return }
    throw DMError(
      .hubRefused,
      "another user can put a socket into '\(folder)' that asks for the password of the hub; install libpq 16 or newer, or "
        + "use an address with TLS", subject: folder)
  }

  // MARK: The file

  /// - Throws: `no_hub` if there is no such file, `hub_refused` if other users may read it or it is not valid.
  init(file path: String) throws {
    guard let status = FileStatus(itself: path) else {
      throw DMError(.noHub, "there are no credentials in '\(path)'", subject: path, remedy: .joinHub)
    }
    guard status.permissions & 0o077 == 0 else {
      throw DMError(
        .hubRefused, "others may read the credentials in '\(path)'; protect them with chmod 600", subject: path)
    }
    let text = String(decoding: readFile(path, limit: Self.sizeLimit) ?? [], as: UTF8.self)
    var values: [Substring: String] = [:]
    for line in text.split(separator: "\n") {
      guard let equals = line.firstIndex(of: "=") else { continue }
      values[line[..<equals]] = String(line[line.index(after: equals)...])
    }
    guard let host = values["host"], let port = values["port"], let database = values["dbname"],
      let user = values["user"], let password = values["password"]
    else {
      throw DMError(
        .hubRefused, "the credentials in '\(path)' cannot be understood", subject: path, remedy: .joinHub)
    }
    self.init(host: host, port: port, database: database, user: user, password: password)
    hostAddress = values["hostaddr"]
    invitation = values["invitation"]
    hub = values["hub"].flatMap { Identifier($0) }
    if let name = values["ca"] {
      authority = name.isEmpty ? nil : "\(folder(of: path))/\(name)"
    } else if fileExists(path + ".crt") {
      // Older versions of this program did not write the line `ca`.
      authority = path + ".crt"
    }
  }

  /// Writes the file atomically: after a crash, the file has either its old or its new content.
  ///
  /// - Throws: `cannot_create`, `io_error`.
  func write(to path: String) throws {
    var lines = ["host=\(host)", "port=\(port)", "dbname=\(database)", "user=\(user)", "password=\(password)"]
    if let hostAddress { lines.append("hostaddr=\(hostAddress)") }
    if let invitation { lines.append("invitation=\(invitation)") }
    if let hub { lines.append("hub=\(hub)") }
    lines.append("ca=\(authority.map(fileName(of:)) ?? "")")
    try replaceFile(path, with: Array(lines.joined(separator: "\n").utf8) + [UInt8(ascii: "\n")])
  }

  /// Replaces the credentials of a store with these; deletes `file`, from which these were read, and the store's former
  /// certificate if it is no longer used.
  ///
  /// The file of the new certificate is not renamed, so that after a crash the store has either the old credentials or
  /// the new ones, and the certificate that they name.
  ///
  /// - Throws: `cannot_create`, `io_error`.
  func replaceThose(of location: StoreLocation, from file: String) throws {
    let before = Self.authority(in: location.hub)
    try write(to: location.hub)
    removeFile(file)
    if let before, before != authority { removeFile(before) }
  }

  /// The path of the certificate that the credentials in `file` name; nil if they name none, or if the file has no
  /// valid credentials.
  static func authority(in file: String) -> String? {
    guard case .success(let credentials) = Result(catching: { try Credentials(file: file) }) else { return nil }
    return credentials.authority
  }

  /// Writes the certificate of an authority to a file that the store does not use yet, and makes `authority` that file.
  ///
  /// - Parameters:
  ///   - certificate: the certificate in PEM; empty to trust the system's authorities, nil to keep the store's
  ///     certificate.
  ///   - file: the file to write; if the store already uses this file, the usual file for the store's certificate is
  ///     written instead.
  mutating func set(certificate: String?, of location: StoreLocation, in file: String) throws {
    let used = Self.authority(in: location.hub)
    guard let certificate else { return authority = used }
    authority = certificate.isEmpty ? nil : used == file ? location.hubAuthority : file
    if let authority { try replaceFile(authority, with: Array(certificate.utf8)) }
  }

  /// A password that nobody can guess: 32 random bytes in hexadecimal.
  static func randomPassword() -> String {
    let digits = Array("0123456789abcdef")
    return String((0..<64).map { _ in digits[Int.random(in: 0..<16)] })
  }
}
