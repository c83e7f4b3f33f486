internal import DMModel
internal import DMSystem

/// How a machine reaches a hub, and with which login: a file that only its owner can read.
///
/// Lines of a name, `=` and a value, as libpq names its parameters.
struct Credentials: Equatable {
  var host: String
  var port: String
  var database: String
  var user: String
  var password: String
  /// The address to connect to instead of that of the host, whose name the certificate has.
  var hostAddress: String?
  /// The one-time password of an invitation that is not used up yet.
  var invitation: String?
  /// The file with the certificate authority of the hub; nil for those of the system.
  var authority: String?

  private static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"
  private static let sizeLimit = 65_536

  init(host: String, port: String, database: String, user: String, password: String) {
    self.host = host
    self.port = port
    self.database = database
    self.user = user
    self.password = password
  }

  /// The credentials of somebody who has not signed up yet: the password is that of the invitation.
  init(_ invitation: Invitation) {
    self.init(
      host: invitation.host, port: invitation.port, database: invitation.database, user: invitation.user,
      password: invitation.password)
    hostAddress = invitation.hostAddress
  }

  /// Whether the hub is on this machine, so that nobody else can read the connection.
  var isLocal: Bool {
    hostAddress == nil && (host.hasPrefix("/") || ["127.0.0.1", "::1", "localhost"].contains(host))
  }

  /// The parameters of a connection.
  ///
  /// The hub has to show a certificate for its name, and to prove that it knows the password's verifier over the same
  /// connection. Files of the user's other connections are not looked at.
  var settings: [(name: String, value: String)] {
    var settings = [
      ("host", host), ("port", port), ("dbname", database), ("user", user), ("password", password),
      ("application_name", "dm"), ("connect_timeout", "10"), ("keepalives_idle", "30"), ("keepalives_interval", "10"),
      ("keepalives_count", "3"), ("tcp_user_timeout", "30000"), ("gssencmode", "disable"), ("passfile", "/dev/null"),
      ("sslcert", "/dev/null/none"), ("sslkey", "/dev/null/none"), ("sslcrl", "/dev/null/none"),
      ("sslmode", isLocal ? "prefer" : "verify-full"), ("channel_binding", isLocal ? "prefer" : "require"),
      ("sslrootcert", isLocal ? "/dev/null/none" : authority ?? Self.systemAuthorities),
    ]
    if let hostAddress { settings.append(("hostaddr", hostAddress)) }
    return settings
  }

  // MARK: The file

  /// - Throws: `no_hub` if there is no such file, `hub_refused` if others may read it, or it cannot be understood.
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
    let authority = folder(of: path) + "/hub.crt"
    if fileExists(authority) { self.authority = authority }
  }

  /// Writes the file, so that it is whole after any crash.
  ///
  /// - Throws: `cannot_create`, `io_error`.
  func write(to path: String) throws {
    var lines = ["host=\(host)", "port=\(port)", "dbname=\(database)", "user=\(user)", "password=\(password)"]
    if let hostAddress { lines.append("hostaddr=\(hostAddress)") }
    if let invitation { lines.append("invitation=\(invitation)") }
    try replaceFile(path, with: Array(lines.joined(separator: "\n").utf8) + [UInt8(ascii: "\n")])
  }

  /// A password that nobody can guess: 32 random bytes in hexadecimal.
  static func randomPassword() -> String {
    let digits = Array("0123456789abcdef")
    return String((0..<64).map { _ in digits[Int.random(in: 0..<16)] })
  }
}
