package import DMKit

/// The beginning from which a machine pulls a conversation of which it keeps only the last messages.
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
  /// The entries before the floor that change the conversation itself, in the order of their revs; and for each member
  /// one read receipt and one delivery receipt, each merged from all receipts of the member.
  package let entries: [HubEntry]
  /// The rev and the mark of the last entry before the floor.
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
