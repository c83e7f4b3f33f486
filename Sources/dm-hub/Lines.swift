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
      "\(connections) connected", "\(conversations) conversations", "\(entries) entries", TextFormat.size(bytes),
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

/// The text of a small file.
func readText(_ path: String) throws -> String {
  guard let bytes = readFile(path, limit: 262_144), !bytes.isEmpty else {
    throw DMError(.unknownFile, "cannot read '\(path)'", subject: path)
  }
  return String(decoding: bytes, as: UTF8.self)
}
