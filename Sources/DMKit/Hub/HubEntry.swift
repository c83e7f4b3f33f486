internal import DMJSON

/// An entry of the log of a conversation, as the hub returns it to one person.
///
/// No field is trusted: a hostile member may have chosen any value that the hub does not check.
package struct HubEntry: Equatable, Sendable {
  /// The kind of an entry; the hub stores its raw value.
  package enum Kind: Int64, CaseIterable, Sendable {
    case message = 0
    case created, joined, left, titled
    case edited = 16
    case deleted, reaction, read, delivered, settings, begun, pinned
  }

  package let conversation: Identifier
  package let rev: Int64
  /// The number of the message that the entry adds or refers to.
  package var seq: Int?
  package let at: Timestamp
  /// The number of the person who did what the entry says.
  package let actor: Int64
  package var machine: Identifier
  /// Nil for a kind that this program does not recognize.
  package let kind: Kind?
  /// The id of the message that the entry adds or refers to.
  package var id: Identifier?
  package var nonce: Identifier?
  package let mark: Identifier
  package var expiresAt: Timestamp?
  package var meta: Meta
  /// Nil if the message was deleted, has expired, or is not visible to the person who pulls the entry.
  package var payload: [UInt8]?

  /// The fields that the hub itself writes; the author writes `payload`.
  package struct Meta: Equatable, Sendable {
    package var members: [Int64] = []
    package var person: Int64?
    package var owner: Int64?
    package var ranges: [SeqRange] = []
    package var changesExpiry = false
    package var expireAfter: Int64?
    package var hasHistory = false
    /// Whether the entry pins its message; false if it unpins the message.
    package var isPinned = false

    package init() {}

    /// Parses a JSON object; a field that cannot be read keeps its default.
    package init(json: [UInt8]?) {
      guard let json, case .success(let object) = Result(catching: { try JSONReader.object(json[...]) }) else { return }
      if case .array(let values)? = object["members"] { members = values.compactMap(\.person) }
      person = object["person"]?.person
      owner = object["owner"]?.person
      ranges = object.ranges("ranges")
      changesExpiry = object["what"] == .string("expire")
      if case .integer(let lifetime)? = object["after"] { expireAfter = HubLimits.lifetime(Int64(lifetime)) }
      hasHistory = object["history"] == .bool(true)
      isPinned = object["pinned"] == .bool(true)
    }
  }

  package init(
    conversation: Identifier, rev: Int64, seq: Int?, at: Timestamp, actor: Int64, machine: Identifier, kind: Kind?,
    id: Identifier?, nonce: Identifier?, mark: Identifier, expiresAt: Timestamp?, meta: Meta, payload: [UInt8]?
  ) {
    self.conversation = conversation
    self.rev = rev
    self.seq = seq
    self.at = at
    self.actor = actor
    self.machine = machine
    self.kind = kind
    self.id = id
    self.nonce = nonce
    self.mark = mark
    self.expiresAt = expiresAt
    self.meta = meta
    self.payload = payload
  }
}

extension JSONObject {
  /// The ranges of numbers in an array with this name, ascending; elements that are not ranges are skipped.
  func ranges(_ name: String) -> [SeqRange] {
    guard case .array(let values)? = self[name] else { return [] }
    return coalesced(values.compactMap(\.seqs).sorted { $0.lowerBound < $1.lowerBound })
  }
}

extension JSONValue {
  fileprivate var person: Int64? {
    if case .integer(let number) = self, 1...HubEntry.numberLimit ~= number { Int64(number) } else { nil }
  }

  fileprivate var seqs: SeqRange? {
    guard case .array(let ends) = self, ends.count == 2, case .integer(let lower) = ends[0],
      case .integer(let upper) = ends[1], lower >= 1, lower <= upper, upper <= HubEntry.seqLimit
    else { return nil }
    return lower...upper
  }
}

extension HubEntry {
  /// The highest number of a person, and the highest rev, that a store accepts from the hub.
  package static let numberLimit = 1 << 53
  /// The highest number of a message that a store accepts from the hub.
  package static let seqLimit = 1 << 40
}
