package import DMJSON
internal import DMKit
package import DMModel
internal import DMStore

// The records that dm-hub prints.

/// The invitation that the administrator gives to a new member.
package struct HubInvitation: Equatable, Sendable {
  package let handle: Handle
  package let login: String
  package let token: String

  package init(handle: Handle, login: String, token: String) {
    self.handle = handle
    self.login = login
    self.token = token
  }
}

extension HubInvitation: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "invitation")
      json.member("handle", handle.description)
      json.member("login", login)
      json.member("token", token)
    }
  }
}

/// A person of a hub, or one of their machines.
package struct HubLogin: Equatable, Sendable {
  package let handle: String
  package let login: String?
  package let label: String?
  package let invitedUntil: Timestamp?
  package let joinedAt: Timestamp?
  package let seenAt: Timestamp?
  package let isDisabled: Bool

  package init(
    handle: String, login: String?, label: String?, invitedUntil: Timestamp?, joinedAt: Timestamp?, seenAt: Timestamp?,
    isDisabled: Bool
  ) {
    self.handle = handle
    self.login = login
    self.label = label
    self.invitedUntil = invitedUntil
    self.joinedAt = joinedAt
    self.seenAt = seenAt
    self.isDisabled = isDisabled
  }
}

/// The size of a hub, and what slows it down.
package struct HubServer: Equatable, Sendable {
  package let version: Int
  package let persons: Int
  package let logins: Int
  package let connections: Int
  /// The maximum number of connections of the server, for all its users together.
  package let connectionLimit: Int
  package let conversations: Int
  package let entries: Int
  package let bytes: Int
  /// The age in seconds of the oldest open transaction that has written; such a transaction delays all members.
  package let oldestWriteSeconds: Int?
  package let preparedTransactions: Int
  package let serverVersion: Int

  package init(
    version: Int, persons: Int, logins: Int, connections: Int, connectionLimit: Int, conversations: Int, entries: Int,
    bytes: Int,
    oldestWriteSeconds: Int?, preparedTransactions: Int, serverVersion: Int
  ) {
    self.version = version
    self.persons = persons
    self.logins = logins
    self.connections = connections
    self.connectionLimit = connectionLimit
    self.conversations = conversations
    self.entries = entries
    self.bytes = bytes
    self.oldestWriteSeconds = oldestWriteSeconds
    self.preparedTransactions = preparedTransactions
    self.serverVersion = serverVersion
  }
}

extension HubLogin: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "login")
      json.member("handle", handle)
      json.member("login", login)
      json.member("label", label)
      json.member("invited_until", invitedUntil)
      json.member("joined_at", joinedAt)
      json.member("seen_at", seenAt)
      json.member("is_disabled", isDisabled)
    }
  }
}

extension HubServer: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "hub_server")
      json.member("version", version)
      json.member("server_version", serverVersion)
      json.member("person_count", persons)
      json.member("login_count", logins)
      json.member("connection_count", connections)
      json.member("connection_limit", connectionLimit)
      json.member("conversation_count", conversations)
      json.member("entry_count", entries)
      json.member("size_bytes", bytes)
      json.member("oldest_write_seconds", oldestWriteSeconds)
      json.member("prepared_transaction_count", preparedTransactions)
    }
  }
}

/// A limit of what a person may do on a hub: an act in a minute, or bytes in an hour.
package struct HubLimit: Equatable, Sendable {
  /// The name of the operation in the protocol.
  package let act: String?
  package let perMinute: Int?
  package let bytesPerHour: Int?

  package init(act: String?, perMinute: Int?, bytesPerHour: Int?) {
    self.act = act
    self.perMinute = perMinute
    self.bytesPerHour = bytesPerHour
  }

  /// The acts that can be limited.
  package static let acts = Outbox.Act.allCases.map(\.word)
}

extension HubLimit: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "hub_limit")
      json.member("act", act)
      json.member("per_minute", perMinute)
      json.member("bytes_per_hour", bytesPerHour)
    }
  }
}

/// A difference between a database and what an installation makes.
package struct HubFinding: Equatable, Sendable {
  /// Whether only a superuser can fix it.
  package let isNote: Bool
  package let text: String

  package init(isNote: Bool, text: String) {
    self.isNote = isNote
    self.text = text
  }
}

extension HubFinding: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "hub_finding")
      json.member("is_note", isNote)
      json.member("message", text)
    }
  }
}
