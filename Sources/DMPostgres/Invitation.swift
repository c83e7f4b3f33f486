internal import DMJSON
internal import DMModel
internal import DMSystem

/// An invitation to a hub: the hub's address, the name of a login, and its one-time password.
///
/// The text form is `dm1:`, followed by a JSON object that is encoded in base64url (RFC 4648, section 5) without
/// padding.
package struct Invitation: Equatable, Sendable {
  package let host: String
  package let port: String
  package let database: String
  package let user: String
  package let password: String
  /// The certificate, in PEM, of the authority that signed the hub's certificate; nil if the members' systems trust
  /// that authority.
  package var authority: String?
  package var hostAddress: String?

  init(
    host: String, port: String, database: String, user: String, password: String, authority: String? = nil,
    hostAddress: String? = nil
  ) {
    self.host = host
    self.port = port
    self.database = database
    self.user = user
    self.password = password
    self.authority = authority
    self.hostAddress = hostAddress
  }

  private static let prefix = "dm1:"

  package var token: String {
    var json = JSONWriter()
    json.object { json in
      json.member("host", host)
      json.member("port", port)
      json.member("dbname", database)
      json.member("user", user)
      json.member("password", password)
      json.member("ca", authority)
      json.member("hostaddr", hostAddress)
    }
    let digits = json.bytes.withUnsafeBytes(base64).prefix { $0 != "=" }
    return Self.prefix + String(digits).replacing(text: "+", with: "-").replacing(text: "/", with: "_")
  }

  /// - Parameter token: the text form, or the JSON record of an invitation, which contains the text form.
  /// - Throws: `bad_field` for a text that is not an invitation.
  package init(token: String) throws {
    if token.hasPrefix("{"),
      case .success(let record) = Result(catching: { try JSONReader.object(Array(token.utf8)[...]) }),
      let token = record.line("token"), !token.hasPrefix("{")
    {
      self = try Invitation(token: token)
      return
    }
    let text = String(token.dropFirst(Self.prefix.count))
    var digits = text.replacing(text: "-", with: "+").replacing(text: "_", with: "/")
    digits += String(repeating: "=", count: (4 - digits.count % 4) % 4)
    guard token.hasPrefix(Self.prefix), let json = bytes(base64: digits),
      case .success(let object) = Result(catching: { try JSONReader.object(json[...]) }),
      let host = object.line("host"), let port = object.line("port"), let database = object.line("dbname"),
      let user = object.line("user"), let password = object.line("password")
    else {
      throw DMError(.badField, "the token is not complete; it begins with '\(Self.prefix)' and has no spaces")
    }
    var authority: String?
    if case .string(let text)? = object["ca"] { authority = text }
    self.init(
      host: host, port: port, database: database, user: user, password: password, authority: authority,
      hostAddress: object.line("hostaddr"))
  }
}

extension JSONObject {
  /// The string with this name; nil if it is absent or has several lines.
  fileprivate func line(_ name: String) -> String? {
    guard case .string(let text)? = self[name], !text.contains(where: \.isNewline) else { return nil }
    return text
  }
}

/// Reads a certificate in PEM from a file; returns an empty text for the path `system`, which stands for the
/// authorities that the members' systems trust.
///
/// - Throws: `unknown_file`, `bad_field`.
package func readCertificate(_ path: String) throws -> String {
  if path == "system" { return "" }
  guard let bytes = readFile(path, limit: 262_144), !bytes.isEmpty else {
    throw DMError(.unknownFile, "cannot read '\(path)'", subject: path)
  }
  let text = String(decoding: bytes, as: UTF8.self)
  guard isCertificate(text) else {
    throw DMError(.badField, "'\(path)' holds no certificate in PEM; give that of the authority", subject: path)
  }
  return text
}

/// Whether a text contains a certificate in PEM (RFC 7468, section 5).
///
/// Checks only the BEGIN and END lines, the base64 between them, and the length and first byte of the decoded bytes.
func isCertificate(_ text: String) -> Bool {
  guard let begin = text[...].range(of: "-----BEGIN CERTIFICATE-----"),
    let end = text[begin.upperBound...].range(of: "-----END CERTIFICATE-----")
  else { return false }
  let digits = text[begin.upperBound..<end.lowerBound].filter { !$0.isWhitespace }
  // A certificate is a DER SEQUENCE, whose tag is 0x30, of some hundred bytes.
  return bytes(base64: digits).map { $0.count > 64 && $0.first == 0x30 } ?? false
}
