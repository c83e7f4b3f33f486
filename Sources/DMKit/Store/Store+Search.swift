extension Store {
  /// Adds the words of a message to the search index.
  func index(_ text: String, of message: Int64) throws {
    var insert = try connection.prepare("INSERT INTO search (rowid, text) VALUES (?, ?)")
    insert.bind(message)
    insert.bind(SearchText.indexed(text))
    try insert.run()
  }

  /// Takes the words of a message out of the index again: the same text as was put in (sqlite.org/fts5.html, section 6.3).
  func unindex(_ text: String, of message: Int64) throws {
    var delete = try connection.prepare("INSERT INTO search (search, rowid, text) VALUES ('delete', ?, ?)")
    delete.bind(message)
    delete.bind(SearchText.indexed(text))
    try delete.run()
  }

  /// Makes the index anew from the messages.
  func reindex() throws {
    try connection.execute("INSERT INTO search (search) VALUES ('delete-all')")
    var texts = try connection.prepare("SELECT id, text FROM message WHERE text IS NOT NULL")
    while try texts.step() { try index(texts.text(1), of: texts.int64(0)) }
  }
}
