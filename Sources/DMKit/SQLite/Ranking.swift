internal import CSQLite
internal import Glibc

/// A function for FTS5 that says how well a row answers: bm25 without regard to how long the texts are.
///
/// `rank` looks up the length of each row, which is most of its time; this is for rows that are too many for that
/// (sqlite.org/fts5.html, section 7).
enum Ranking {
  static func register(on database: OpaquePointer) throws(DMError) {
    var api: UnsafeMutablePointer<fts5_api>?
    var statement: OpaquePointer?
    sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, nil)
    let type = UnsafeRawPointer(("fts5_api_ptr" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
    withUnsafeMutablePointer(to: &api) {
      sqlite3_bind_pointer(statement, 1, $0, type, nil)
      sqlite3_step(statement)
    }
    let code = sqlite3_finalize(statement)
    guard code == SQLITE_OK, let api, api.pointee.xCreateFunction?(api, "frequency", nil, rank, nil) == SQLITE_OK else {
      throw DMError(sqlite: code, detail: "no full-text search")
    }
  }

  /// What each phrase of a query weighs, the rarer the more.
  private final class Weights {
    var weights: [Double] = []
    var counts: [Double] = []
  }

  private static let rank: fts5_extension_function = { api, row, context, _, _ in
    guard let api = api?.pointee, let row else { return }
    let weights: Weights
    if let kept = api.xGetAuxdata?(row, 0) {
      weights = Unmanaged<Weights>.fromOpaque(kept).takeUnretainedValue()
    } else {
      weights = Ranking.weights(api, row)
      _ = api.xSetAuxdata?(row, Unmanaged.passRetained(weights).toOpaque()) { kept in
        if let kept { Unmanaged<Weights>.fromOpaque(kept).release() }
      }
    }
    var count: Int32 = 0
    _ = api.xInstCount?(row, &count)
    if weights.weights.count == 1 {
      let count = Double(count)
      return sqlite3_result_double(context, -weights.weights[0] * count * 2.2 / (count + 1.2))
    }
    for index in weights.counts.indices { weights.counts[index] = 0 }
    for index in 0..<count {
      var (phrase, column, offset): (Int32, Int32, Int32) = (0, 0, 0)
      if api.xInst?(row, index, &phrase, &column, &offset) == SQLITE_OK { weights.counts[Int(phrase)] += 1 }
    }
    var score = 0.0
    for (weight, count) in zip(weights.weights, weights.counts) { score += weight * count * 2.2 / (count + 1.2) }
    sqlite3_result_double(context, -score)
  }

  private static func weights(_ api: Fts5ExtensionApi, _ row: OpaquePointer) -> Weights {
    let result = Weights()
    var rows: Int64 = 0
    _ = api.xRowCount?(row, &rows)
    for phrase in 0..<(api.xPhraseCount?(row) ?? 0) {
      var hits = 0.0
      _ = withUnsafeMutablePointer(to: &hits) {
        api.xQueryPhrase?(row, phrase, $0) { _, _, hits in
          hits?.assumingMemoryBound(to: Double.self).pointee += 1
          return SQLITE_OK
        }
      }
      // As bm25 has it, where what stands in more than half of all is worth next to nothing.
      result.weights.append(max(log((Double(rows) - hits + 0.5) / (hits + 0.5)), 1e-6))
      result.counts.append(0)
    }
    return result
  }
}
