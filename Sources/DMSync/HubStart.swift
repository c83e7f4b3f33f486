package import DMKit

/// The beginning of a conversation for a machine that keeps only its last messages.
package struct HubStart: Equatable, Sendable {
  /// The number and the time of the first message that the machine keeps.
  package struct Floor: Equatable, Sendable {
    package let seq: Int
    package let at: Timestamp

    package init(seq: Int, at: Timestamp) {
      self.seq = seq
      self.at = at
    }
  }

  package let conversation: Identifier
  /// The entries before the floor that change the conversation itself, in the order of their revs; and for each member one
  /// receipt and one delivery, into which theirs are merged.
  package let entries: [HubEntry]
  /// The last rev before the floor, and its mark.
  package let rev: Int64
  package let mark: Identifier
  package let floor: Floor

  package init(conversation: Identifier, entries: [HubEntry], rev: Int64, mark: Identifier, floor: Floor) {
    self.conversation = conversation
    self.entries = entries
    self.rev = rev
    self.mark = mark
    self.floor = floor
  }
}
