internal import DMCLI
internal import DMHub
internal import DMKit
internal import DMSystem

extension HubLogin {
  var line: String {
    var parts = [handle]
    if isDisabled { parts.append("revoked") }
    if let login { parts.append(login) }
    if let label { parts.append("on \(visible(label))") }
    if let seenAt { parts.append("seen \(TextFormat.moment(seenAt))") }
    if joinedAt == nil, let invitedUntil { parts.append("invited until \(TextFormat.moment(invitedUntil))") }
    return parts.joined(separator: "  ")
  }
}

extension HubServer {
  var line: String {
    var parts = [
      "version \(version) on PostgreSQL \(serverVersion / 10_000)", "\(persons) people with \(logins) machines",
      "\(connections) connected of \(connectionLimit)", "\(conversations) conversations", "\(entries) entries",
      TextFormat.size(bytes),
    ]
    if let oldestWriteSeconds, oldestWriteSeconds > 10 {
      parts.append("a transaction is open for \(oldestWriteSeconds) seconds; dm-hub unstick ends it")
    }
    if preparedTransactions > 0 {
      parts.append("\(preparedTransactions) prepared transactions hold up all members; end them with psql(1)")
    }
    return parts.joined(separator: "; ")
  }
}

extension HubFinding {
  var line: String { (isNote ? "note: " : "") + visible(text) }
}

extension HubVersions {
  var line: String {
    before == now ? "the hub is of version \(now)\n" : "the hub is of version \(now) now; it was of \(before)\n"
  }
}

/// The text of a file with a certificate.
func readCertificate(_ path: String) throws -> String {
  guard let bytes = readFile(path, limit: 262_144), !bytes.isEmpty else {
    throw DMError(.unknownFile, "cannot read '\(path)'", subject: path)
  }
  let text = String(decoding: bytes, as: UTF8.self)
  guard isCertificate(text) else {
    throw DMError(.badField, "'\(path)' holds no certificate in PEM; give that of the authority", subject: path)
  }
  return text
}
