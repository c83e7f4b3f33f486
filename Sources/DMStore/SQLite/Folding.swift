internal import CSQLite
internal import DMModel

/// The SQL function `fold`.
///
/// The function folds case and accents in the words of a text, in the same way as the search index.
///
/// The function uses the tokenizer of the index, so that a query matches names in the same way as it matches messages.
final class Folding {
  private let tokenizer: fts5_tokenizer
  private let instance: OpaquePointer

  private init(_ tokenizer: fts5_tokenizer, _ instance: OpaquePointer) {
    (self.tokenizer, self.instance) = (tokenizer, instance)
  }

  deinit { tokenizer.xDelete?(instance) }

  static func register(on database: OpaquePointer) throws(DMError) {
    let code = sqlite3_create_function_v2(
      database, "fold", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
      Unmanaged.passRetained(try make(on: database)).toOpaque(),
      { context, _, values in
        guard let value = values?[0], let folding = sqlite3_user_data(context) else { return }
        Unmanaged<Folding>.fromOpaque(folding).takeUnretainedValue().fold(value, context)
      }, nil, nil, { folding in if let folding { Unmanaged<Folding>.fromOpaque(folding).release() } })
    guard code == SQLITE_OK else { throw DMError(sqlite: code, detail: "no search by name") }
  }

  private static func make(on database: OpaquePointer) throws(DMError) -> Folding {
    var data: UnsafeMutableRawPointer?
    var tokenizer = fts5_tokenizer()
    var instance: OpaquePointer?
    let api = Ranking.api(of: database)
    var code = api?.pointee.xFindTokenizer?(api, "unicode61", &data, &tokenizer) ?? SQLITE_ERROR
    if code == SQLITE_OK {
      // The tokenizer's arguments, which must equal the arguments after `tokenize` in the schema.
      let words: [StaticString] = ["remove_diacritics", "2"]
      var pointers: [UnsafePointer<CChar>?] = words.map {
        UnsafeRawPointer($0.utf8Start).assumingMemoryBound(to: CChar.self)
      }
      code = tokenizer.xCreate?(data, &pointers, 2, &instance) ?? SQLITE_ERROR
    }
    guard code == SQLITE_OK, let instance else { throw DMError(sqlite: code, detail: "no search by name") }
    return Folding(tokenizer, instance)
  }

  /// The folded text so far.
  ///
  /// The callback of the tokenizer appends to this text.
  private struct Folded {
    let text: UnsafePointer<CChar>
    var bytes: [CChar] = []
    /// The offset in `text` up to which the text was folded.
    var end = 0

    mutating func copy(upTo start: Int) {
      if end < start { bytes.append(contentsOf: UnsafeBufferPointer(start: text + end, count: start - end)) }
      end = max(end, start)
    }
  }

  private func fold(_ value: OpaquePointer, _ context: OpaquePointer?) {
    // The pointer must be read before the count (sqlite.org/c3ref/value_blob.html).
    guard let start = sqlite3_value_text(value) else { return sqlite3_result_null(context) }
    let count = sqlite3_value_bytes(value)
    let text = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
    var folded = Folded(text: text)
    _ = withUnsafeMutablePointer(to: &folded) { folded in
      tokenizer.xTokenize?(instance, folded, FTS5_TOKENIZE_DOCUMENT, text, count) {
        folded, _, token, count, start, end in
        guard let folded = folded?.assumingMemoryBound(to: Folded.self), let token else { return SQLITE_OK }
        // The text between two words is copied unchanged.
        folded.pointee.copy(upTo: Int(start))
        folded.pointee.bytes.append(contentsOf: UnsafeBufferPointer(start: token, count: Int(count)))
        folded.pointee.end = Int(end)
        return SQLITE_OK
      }
    }
    folded.copy(upTo: Int(count))
    dm_sqlite3_result_text(context, folded.bytes, Int32(folded.bytes.count))
  }
}
