internal import DMModel
internal import DMStore

/// Checks that each pinned message is there.
enum PinAudit {
  /// The rows of pins without a message, with the columns of `message_pin p` and `conversation c`.
  ///
  /// A linked store may have left the message on the hub.
  private static func strays(_ store: Store) -> String {
    """
    FROM message_pin p JOIN conversation c ON c.id = p.conversation
    LEFT JOIN message m ON m.conversation = p.conversation AND m.seq = p.seq
    WHERE m.deleted_at IS NOT NULL OR m.system_kind IS NOT NULL OR p.seq > c.last_seq\(store.isLinked ? "" : " OR m.id IS NULL")
    """
  }

  static func check(_ store: Store, _ findings: Findings) throws {
    var rows = try store.connection.prepare(text: "SELECT c.uuid, p.seq \(strays(store))")
    while try rows.step() {
      findings.add(
        .counts, "\(rows.identifier(0)):\(rows.int(1))", "it is pinned, but there is no such message", .repairFinding)
    }
  }

  /// Removes the pins without a message.
  static func repair(_ store: Store) throws {
    try store.connection.execute(
      "DELETE FROM message_pin WHERE (conversation, seq) IN (SELECT p.conversation, p.seq \(strays(store)))")
  }
}
