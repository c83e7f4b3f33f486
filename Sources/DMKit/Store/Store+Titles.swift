extension Store {
  /// What a user calls a conversation: their own name for it, else the title of a group, else the handle of the other user,
  /// which is their own in notes; nil for a group without a title.
  func title(of conversation: Int64, as user: Int64) throws -> String? {
    var statement = try connection.prepare(
      """
      SELECT coalesce(o.name, iif(p.left_seq IS NULL, c.title, f.title)), iif(c.direct_low = ?2, c.direct_high, c.direct_low)
      FROM conversation c JOIN participant p ON p.conversation = c.id AND p.user = ?2
      LEFT JOIN own_name o ON o.user = ?2 AND o.conversation = c.id
      LEFT JOIN former f ON f.user = ?2 AND f.conversation = c.id WHERE c.id = ?1
      """)
    statement.bind(conversation)
    statement.bind(user)
    guard try statement.step() else { return nil }
    return try statement.optionalText(0) ?? statement.optionalInt64(1).map { try handle($0).description }
  }
}
