package import DMStore
package import DMWire

/// What the hub reads of an operation besides its act, its conversation, its message and its nonce.
package struct HubArguments: Equatable, Sendable {
  /// The lifetime of a message in microseconds.
  package var lifetime: Int64?
  /// The messages that were read.
  package var ranges: [SeqRange] = []
  /// The last message that was delivered.
  package var seq: Int?
  /// The users of a new conversation, or who are added or removed.
  package var handles: [Handle] = []
  /// Whether those who are added see what was said before.
  package var hasHistory = false
  /// The lifetime of new messages in microseconds; nil inside for none.
  package var expireAfter: Int64??
  package var showsPresence: Bool?
  /// Whether a nonce that was used before names what was sent with it, whatever that says.
  package var isLax = false
  /// The only members that may be in the group for it to be carried out; nil if that does not matter.
  package var audience: [Handle]?

  package init() {}

  package var json: String {
    var json = JSONWriter()
    json.object { write(to: &$0) }
    return String(decoding: json.bytes, as: UTF8.self)
  }

  /// Writes the members, without braces.
  package func write(to json: inout JSONWriter) {
    if let lifetime { json.member("ttl", Int(lifetime)) }
    if !ranges.isEmpty { json.member("ranges", ranges: ranges) }
    json.member("seq", seq)
    if !handles.isEmpty { json.member("handles", handles: handles) }
    if let audience { json.member("audience", handles: audience) }
    if hasHistory { json.member("history", true) }
    if let expireAfter {
      json.key("after")
      if let expireAfter { json.value(Int(expireAfter)) } else { json.null() }
    }
    if let showsPresence { json.member("shows_presence", showsPresence) }
    if isLax { json.member("lax", true) }
  }

  /// Reads what `json` has written.
  ///
  /// - Throws: `store_damaged`.
  package init(json text: String) throws {
    guard case .success(let object) = Result(catching: { try JSONReader.object(Array(text.utf8)[...]) }) else {
      throw DMError(.storeDamaged, "the outbox holds an operation that cannot be read")
    }
    func number(_ name: String) -> Int? { if case .integer(let number)? = object[name] { number } else { nil } }
    func flag(_ name: String) -> Bool? { if case .bool(let flag)? = object[name] { flag } else { nil } }
    lifetime = number("ttl").map(Int64.init)
    ranges = HubEntry.Meta(json: Array(text.utf8)).ranges
    seq = number("seq")
    func handles(_ name: String) -> [Handle]? {
      guard case .array(let values)? = object[name] else { return nil }
      return values.compactMap { if case .string(let text) = $0 { Handle(stored: text) } else { nil } }
    }
    self.handles = handles("handles") ?? []
    audience = handles("audience")
    hasHistory = flag("history") ?? false
    if let after = object["after"] { expireAfter = .some(after == .null ? nil : number("after").map(Int64.init)) }
    showsPresence = flag("shows_presence")
    isLax = flag("lax") ?? false
  }
}

extension Outbox.Act {
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
    }
  }
}
