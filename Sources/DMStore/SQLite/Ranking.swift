internal import CSQLite
internal import DMModel
internal import DMSystem

/// An FTS5 function that ranks a row: bm25 without the length of the text (sqlite.org/fts5.html, section 7).
///
/// `rank` looks up the length of each row, which takes most of its time, and messages are all short.
enum Ranking {
  /// The FTS5 API of a connection; nil if it has no FTS5.
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

  /// The weight of each phrase of a query; rarer phrases weigh more.
  private final class Weights {
    let weights: [Double]

    init(_ weights: [Double]) { self.weights = weights }
  }

  private static let rank: fts5_extension_function = { api, row, context, _, _ in
    guard let api = api?.pointee, let row else { return }
    let weights: Weights
    if let kept = api.xGetAuxdata?(row, 0) {
      weights = Unmanaged<Weights>.fromOpaque(kept).takeUnretainedValue()
    } else {
      weights = Weights(Ranking.weights(api, row))
      _ = api.xSetAuxdata?(row, Unmanaged.passRetained(weights).toOpaque()) { kept in
        if let kept { Unmanaged<Weights>.fromOpaque(kept).release() }
      }
    }
    var score = 0.0
    var phrase: Int32 = 0
    for weight in weights.weights {
      // Not xInst, which sorts the positions of all phrases.
      var iterator = Fts5PhraseIter()
      var (column, offset): (Int32, Int32) = (-1, 0)
      var count = 0.0
      _ = api.xPhraseFirst?(row, phrase, &iterator, &column, &offset)
      while column >= 0 {
        count += 1
        api.xPhraseNext?(row, &iterator, &column, &offset)
      }
      score += weight * count * 2.2 / (count + 1.2)
      phrase += 1
    }
    sqlite3_result_double(context, -score)
  }

  private static func weights(_ api: Fts5ExtensionApi, _ row: OpaquePointer) -> [Double] {
    var rows: Int64 = 0
    _ = api.xRowCount?(row, &rows)
    return (0..<(api.xPhraseCount?(row) ?? 0)).map { phrase in
      var hits = 0.0
      _ = withUnsafeMutablePointer(to: &hits) {
        api.xQueryPhrase?(row, phrase, $0) { _, _, hits in
          hits?.assumingMemoryBound(to: Double.self).pointee += 1
          return SQLITE_OK
        }
      }
      // As in bm25: a phrase that is in more than half of the rows weighs almost nothing.
      return max(logarithm(of: (Double(rows) - hits + 0.5) / (hits + 0.5)), 1e-6)
    }
  }
}
