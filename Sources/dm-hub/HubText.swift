internal import DMCLI
internal import DMKit
internal import DMPostgres
internal import DMSync

// The records of `dm-hub` as text for people.

extension HubLogin {
  var line: String {
    var parts = [handle]
    if isDisabled { parts.append("revoked") }
    if let login { parts.append(login) }
    if let label { parts.append("on \(visible(label))") }
    if let seenAt { parts.append("seen \(TextFormat.dateAndTime(seenAt))") }
    if joinedAt == nil, let invitedUntil { parts.append("invited until \(TextFormat.dateAndTime(invitedUntil))") }
    return parts.joined(separator: "  ")
  }
}

extension HubLimit {
  var line: String {
    if let bytesPerHour { return "each person sends at most \(TextFormat.size(bytesPerHour)) in an hour" }
    if let fileBytesPerHour {
      return "each person uploads at most \(TextFormat.size(fileBytesPerHour)) of files in an hour"
    }
    if let bytesPerPerson {
      return "the hub keeps at most \(TextFormat.size(bytesPerPerson)) of each person's messages and files"
    }
    return "each person does '\(act ?? "")' at most \(perMinute ?? 0) times in a minute"
  }
}

extension HubErasure {
  var line: String {
    "forgot \(handle): erased \(counted(messages, "message")); they have left \(counted(groups, "group"))"
  }
}

extension HubServer {
  var line: String {
    var parts = [
      "version \(version) on PostgreSQL \(serverVersion / 10_000)",
      "\(counted(size.persons, "person", "people")) with \(counted(size.logins, "machine")), \(size.loginsToday) of them seen today",
      "\(load.connections) connected; \(load.allConnections) of \(load.connectionLimit) connections taken",
      counted(size.conversations, "conversation"), counted(size.entries, "entry", "entries"),
      TextFormat.size(size.bytes),
    ]
    if size.reports > 0 { parts.append(counted(size.reports, "report")) }
    if load.standbys > 0 {
      let delay = load.standbySeconds.map { ", \(counted($0, "second")) behind" } ?? ""
      parts.append(counted(load.standbys, "standby", "standbys") + delay)
    }
    if let movedTo { parts.append("moved to \(movedTo)") }
    return ([parts.joined(separator: "; ")] + problems.map { "problem: \($0)" }).joined(separator: "\n")
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
