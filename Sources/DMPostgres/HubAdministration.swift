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

/// A machine of a person on a hub, or a person who has no machine.
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

/// A machine of the user, in the list that the user can request from the hub.
package struct HubMachine: Equatable, Sendable {
  package let id: Identifier
  /// The name of the machine.
  package let label: String?
  /// Whether this is the machine that requested the list.
  package let isThis: Bool
  package let isConnected: Bool
  package let joinedAt: Timestamp
  package let seenAt: Timestamp?
}

extension HubMachine: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "machine")
      json.member("id", id)
      json.member("label", label)
      json.member("is_this", isThis)
      json.member("is_connected", isConnected)
      json.member("joined_at", joinedAt)
      json.member("seen_at", seenAt)
    }
  }
}

/// A limit that a hub applies to each person: on an act, on the bytes sent in an hour, or on the bytes stored.
package struct HubLimit: Equatable, Sendable {
  /// The name of an operation in the protocol; `perMinute` is how many such operations a person may push in a minute.
  package var act: String?
  package var perMinute: Int?
  package var bytesPerHour: Int?
  /// The bytes of files that a person may upload in an hour.
  package var fileBytesPerHour: Int?
  /// The bytes of messages, own states and files that the hub stores for a person.
  package var bytesPerPerson: Int?

  package static func act(_ act: String, perMinute: Int) -> HubLimit { HubLimit(act: act, perMinute: perMinute) }
  package static func bytesPerHour(_ bytes: Int) -> HubLimit { HubLimit(bytesPerHour: bytes) }
  package static func fileBytesPerHour(_ bytes: Int) -> HubLimit { HubLimit(fileBytesPerHour: bytes) }
  package static func bytesPerPerson(_ bytes: Int) -> HubLimit { HubLimit(bytesPerPerson: bytes) }

  /// The names of the operations that can be limited.
  package static let acts = Outbox.Act.allCases.map(\.word)
}

extension HubLimit: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "hub_limit")
      json.member("act", act)
      json.member("per_minute", perMinute)
      json.member("bytes_per_hour", bytesPerHour)
      json.member("file_bytes_per_hour", fileBytesPerHour)
      json.member("bytes_per_person", bytesPerPerson)
    }
  }
}

/// The result of erasing a person.
package struct HubErasure: Equatable, Sendable {
  package let handle: String
  package let messages: Int
  package let groups: Int
}

extension HubErasure: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "hub_erasure")
      json.member("handle", handle)
      json.member("message_count", messages)
      json.member("group_count", groups)
    }
  }
}

/// A difference between a database and a correct installation.
package struct HubFinding: Equatable, Sendable {
  /// True if the difference is intended, or if only a superuser can remove it.
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
