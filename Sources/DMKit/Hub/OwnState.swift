internal import DMJSON

/// A user's own decisions about a conversation, or about other users, in the form that the user's machines exchange.
///
/// Equal values are always written as equal bytes.
package struct OwnState: Equatable, Sendable {
  package var isPinned = false
  package var isArchived = false
  package var mutedUntil: Timestamp?
  package var draft: ExactString?
  /// The user's own name for the conversation.
  package var name: ExactString?
  /// Whether the user has deleted the conversation from their lists; a new message brings it back.
  package var isDeleted = false
  /// The messages that the user deleted for themselves.
  package var hidden: [SeqRange] = []
  /// The messages that the user has read without a receipt.
  package var read: [SeqRange] = []
  /// The messages that the user has marked as unread after a receipt.
  package var unread: [SeqRange] = []
  /// The number of the last message on the machine that wrote the state.
  ///
  /// Another machine takes the state only after it has that message, or after the hub has lost it.
  package var lastSeq = 0
  /// The users that this user blocks.
  package var blocked: Set<Handle> = []
  package var sendsReadReceipts = true

  package init() {}

  /// Whether two states are equal apart from `lastSeq`.
  package func isSame(as other: Self) -> Bool {
    var copy = self
    copy.lastSeq = other.lastSeq
    return copy == other
  }

  /// This state without blocks and without marks of messages.
  ///
  /// A merge whose base is the result keeps the blocks and the marks of both merged states.
  package func withoutMarks() -> Self {
    var state = self
    (state.hidden, state.read, state.unread, state.blocked) = ([], [], [], [])
    return state
  }

  /// Merges two states: the result has the changes of both.
  ///
  /// If both changed the same field, this state wins.
  ///
  /// - Parameter bases: the states from which the other state may have been made. A field of this state that differs
  ///   from any of them counts as changed.
  package func merged(with other: Self, since bases: [Self]) -> Self {
    func decide<Value: Equatable>(_ field: KeyPath<Self, Value>) -> Value {
      bases.allSatisfy { $0[keyPath: field] == self[keyPath: field] } ? other[keyPath: field] : self[keyPath: field]
    }
    func unite(_ field: KeyPath<Self, [SeqRange]>) -> [SeqRange] {
      let mine = self[keyPath: field]
      var result = other[keyPath: field]
      for base in bases {
        let before = base[keyPath: field]
        let added = difference(of: mine, minus: before)
        result = difference(of: result, minus: difference(of: before, minus: mine))
        result = coalesced((result + added).sorted { $0.lowerBound < $1.lowerBound })
      }
      return result
    }
    var result = Self()
    (result.isPinned, result.isArchived, result.isDeleted) = (
      decide(\.isPinned), decide(\.isArchived), decide(\.isDeleted)
    )
    (result.mutedUntil, result.draft, result.name) = (decide(\.mutedUntil), decide(\.draft), decide(\.name))
    (result.hidden, result.read, result.unread) = (unite(\.hidden), unite(\.read), unite(\.unread))
    result.lastSeq = max(lastSeq, other.lastSeq)
    result.blocked = bases.reduce(other.blocked) { result, base in
      result.subtracting(base.blocked.subtracting(blocked)).union(blocked.subtracting(base.blocked))
    }
    result.sendsReadReceipts = decide(\.sendsReadReceipts)
    return result
  }

  // MARK: Bytes

  private static let version = 1

  /// The first bytes of each state that this version of dm can read.
  package static let prefix = Array("{\"v\":\(version)".utf8)

  /// The maximum size in bytes of a state that a hub stores.
  package static let byteLimit = 524_288

  /// The state as a JSON object, without the fields that have default values.
  package var bytes: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.member("v", Self.version)
      if isPinned { json.member("pinned", true) }
      if isArchived { json.member("archived", true) }
      json.member("muted_until", mutedUntil.map { Int($0.microseconds) })
      json.member("draft", draft?.text)
      json.member("name", name?.text)
      if isDeleted { json.member("deleted", true) }
      if !hidden.isEmpty { json.member("hidden", ranges: hidden) }
      if !read.isEmpty { json.member("read", ranges: read) }
      if !unread.isEmpty { json.member("unread", ranges: unread) }
      if lastSeq > 0 { json.member("last_seq", lastSeq) }
      if !blocked.isEmpty {
        json.key("blocked")
        json.array { json in for handle in blocked.sorted() { json.value(handle.description) } }
      }
      if !sendsReadReceipts { json.member("receipts", false) }
    }
    return json.bytes
  }

  /// Reads a JSON object; nil for bytes that this version cannot read.
  ///
  /// Fields that are not valid keep their default values, because a later version, or an attacker with the user's
  /// login, may have written them.
  package init?(bytes: [UInt8]) {
    guard case .success(let object) = Result(catching: { try JSONReader.object(bytes[...]) }),
      object["v"] == .integer(Self.version)
    else { return nil }
    isPinned = object.flag("pinned") ?? false
    isArchived = object.flag("archived") ?? false
    mutedUntil = object.integer("muted_until").map { Timestamp(microseconds: Int64($0)).clamped }
    draft = object.text("draft").map { ExactString(beginning(of: $0, bytes: Outgoing.textLimit)) }
    name = object.text("name").flatMap { name in
      HubPayload.isFit { try checkTitle(name, as: "name") } ? ExactString(name) : nil
    }
    isDeleted = object.flag("deleted") ?? false
    (hidden, read, unread) = (object.ranges("hidden"), object.ranges("read"), object.ranges("unread"))
    lastSeq = min(max(0, object.integer("last_seq") ?? 0), HubEntry.seqLimit)
    if case .array(let values)? = object["blocked"] {
      blocked = Set(
        values.compactMap { if case .string(let text) = $0 { HubPayload.handle(text) } else { nil } })
    }
    sendsReadReceipts = object.flag("receipts") ?? true
  }
}
