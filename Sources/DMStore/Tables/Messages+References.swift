package import DMModel

// Reads: conversation, message.

extension Messages {
  /// The words that identify a message in a finding: the id of its conversation and its number.
  package func reference(to message: MessageKey) throws -> String {
    var statement = try store.connection.prepare(
      "SELECT c.uuid, m.seq FROM message m JOIN conversation c ON c.id = m.conversation WHERE m.id = ?")
    statement.bind(message)
    return try statement.step() ? "\(statement.identifier(0)):\(statement.int(1))" : "row \(message)"
  }
}
