package import DMJSON
package import DMStore

/// The arguments of an operation, which the hub reads.
///
/// The act, the conversation, the id of the message and the nonce are stored separately.
package struct HubArguments: Equatable, Sendable {
  /// The lifetime of a message in microseconds.
  package var lifetime: Int64?
  /// The numbers of the messages that were read.
  package var ranges: [SeqRange] = []
  /// The number of the last message that was delivered.
  package var seq: Int?
  /// The users of a new conversation, or the users to add or to remove.
  package var handles: [Handle] = []
  /// Whether the added users see earlier messages.
  package var hasHistory = false
  /// The lifetime of new messages in microseconds: nil if it does not change, `.some(nil)` for messages that never expire.
  package var expireAfter: Int64??
  package var showsPresence: Bool?
  /// Whether the hub accepts the operation even if its nonce was used before for another content; the hub then answers
  /// with the entry of the first operation.
  package var isLax = false
  /// Why a message is reported; nil if no reason was given.
  package var reason: String?
  /// The hub refuses the operation if the group has a member who is not in this list; nil for no check.
  package var audience: [Handle]?
  /// The ids of the files of a message.
  package var files: [Identifier] = []
  /// Whether to pin the message, or to unpin it; nil for other operations.
  package var isPinned: Bool?

  package init() {}

  package var json: String {
    var json = JSONWriter()
    json.object { write(to: &$0) }
    return String(decoding: json.bytes, as: UTF8.self)
  }

  /// Writes the JSON members, without braces.
  package func write(to json: inout JSONWriter) {
    if let lifetime { json.member("ttl", Int(lifetime)) }
    if !ranges.isEmpty { json.member("ranges", ranges: ranges) }
    json.member("seq", seq)
    if !handles.isEmpty { json.member("handles", handles: handles) }
    if let audience { json.member("audience", handles: audience) }
    if !files.isEmpty {
      json.key("files")
      json.array { json in for file in files { json.value(file) } }
    }
    if hasHistory { json.member("history", true) }
    if let expireAfter {
      json.key("after")
      if let expireAfter { json.value(Int(expireAfter)) } else { json.null() }
    }
    if let showsPresence { json.member("shows_presence", showsPresence) }
    if isLax { json.member("lax", true) }
    json.member("reason", reason)
    if let isPinned { json.member("pinned", isPinned) }
  }

  /// Parses the output of `json`.
  ///
  /// - Throws: `store_damaged`.
  package init(json text: String) throws {
    guard case .success(let object) = Result(catching: { try JSONReader.object(Array(text.utf8)[...]) }) else {
      throw DMError(.storeDamaged, "the outbox holds an operation that cannot be read")
    }
    lifetime = object.integer("ttl").map(Int64.init)
    ranges = HubEntry.Meta(json: Array(text.utf8)).ranges
    seq = object.integer("seq")
    func handles(_ name: String) -> [Handle]? {
      guard case .array(let values)? = object[name] else { return nil }
      return values.compactMap { if case .string(let text) = $0 { Handle(stored: text) } else { nil } }
    }
    self.handles = handles("handles") ?? []
    audience = handles("audience")
    if case .array(let values)? = object["files"] {
      files = values.compactMap { if case .string(let text) = $0 { Identifier(text) } else { nil } }
    }
    hasHistory = object.flag("history") ?? false
    if let after = object["after"] {
      expireAfter = .some(after == .null ? nil : object.integer("after").map(Int64.init))
    }
    showsPresence = object.flag("shows_presence")
    isLax = object.flag("lax") ?? false
    reason = object.text("reason")
    isPinned = object.flag("pinned")
  }
}

extension Outbox.Act {
  /// Whether the operation is about a message, which must have a number before the operation is pushed.
  package var isOnMessage: Bool { [.edit, .delete, .react, .report, .pin].contains(self) }

  /// The name of the operation in the protocol.
  package var word: String {
    switch self {
    case .say: "say"
    case .edit: "edit"
    case .delete: "delete"
    case .react: "react"
    case .read: "read"
    case .delivered: "delivered"
    case .begin: "begin"
    case .group: "group"
    case .add: "add"
    case .remove: "remove"
    case .leave: "leave"
    case .title: "title"
    case .avatar: "avatar"
    case .expire: "expire"
    case .profile: "profile"
    case .report: "report"
    case .pin: "pin"
    }
  }
}
