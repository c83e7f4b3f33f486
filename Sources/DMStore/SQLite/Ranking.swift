internal import CSQLite
internal import DMModel
internal import DMSystem

/// An FTS5 function that ranks a row.
///
/// The function computes bm25 without the length of the text and without the rarity of the words (sqlite.org/fts5.html,
/// section 7).
///
/// The `rank` of FTS5 spends most of its time on looking up the length of each text. The lengths matter little, because
/// messages are short. The rarity of a word also depends on messages that the user cannot see, so it must not affect
/// the order of the hits.
enum Ranking {
  /// The FTS5 API of a connection; nil if SQLite was built without FTS5.
  static func api(of database: OpaquePointer) -> UnsafeMutablePointer<fts5_api>? {
    var api: UnsafeMutablePointer<fts5_api>?
    var statement: OpaquePointer?
    sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, nil)
    let type = UnsafeRawPointer(("fts5_api_ptr" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
    withUnsafeMutablePointer(to: &api) {
      sqlite3_bind_pointer(statement, 1, $0, type, nil)
      sqlite3_step(statement)
    }
    return sqlite3_finalize(statement) == SQLITE_OK ? api : nil
  }

  static func register(on database: OpaquePointer) throws(DMError) {
    guard let api = api(of: database), api.pointee.xCreateFunction?(api, "frequency", nil, rank, nil) == SQLITE_OK
    else {
      throw DMError(sqlite: sqlite3_errcode(database), detail: "no full-text search")
    }
  }

  private static let rank: fts5_extension_function = { api, row, context, _, _ in
    guard let api = api?.pointee, let row else { return }
    var score = 0.0
    for phrase in 0..<(api.xPhraseCount?(row) ?? 0) {
      // xInst is not used, because it sorts the positions of all phrases, which takes time.
      var iterator = Fts5PhraseIter()
      var (column, offset): (Int32, Int32) = (-1, 0)
      var count = 0.0
      _ = api.xPhraseFirst?(row, phrase, &iterator, &column, &offset)
      while column >= 0 {
        count += 1
        api.xPhraseNext?(row, &iterator, &column, &offset)
      }
      score += count * 2.2 / (count + 1.2)
    }
    sqlite3_result_double(context, -score)
  }
}
