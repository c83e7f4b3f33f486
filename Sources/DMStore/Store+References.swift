package import DMModel

extension Store {
  /// A message as one can name it: its conversation's id and its number.
  package func reference(to message: MessageKey) throws -> String {
    var statement = try connection.prepare(
      "SELECT c.uuid, m.seq FROM message m JOIN conversation c ON c.id = m.conversation WHERE m.id = ?")
    statement.bind(message)
    return try statement.step() ? "\(statement.identifier(0)):\(statement.int(1))" : "row \(message)"
  }

  /// An attachment as one can name it: its id.
  package func reference(toAttachment key: Int64) throws -> String {
    var statement = try connection.prepare("SELECT uuid FROM attachment WHERE id = ?")
    statement.bind(key)
    return try statement.step() ? statement.identifier(0).description : "row \(key)"
  }
}
