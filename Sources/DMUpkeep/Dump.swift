internal import DMJSON
internal import DMKit
internal import DMModel
internal import DMStore
internal import DMSystem

/// A store as lines: a header, one line for each row, the chunks of attachments, and a last line with the numbers of
/// rows and chunks.
///
/// A dump leaves out the row of the store's id, the times of tool uses, and two things that are made from the rows again:
/// the search index and the digests of tables.
package final class Dump {
  package let rowCount: Int
  /// The folder of the temporary file, if the store's folder cannot be written to.
  package var spareFolder: String? { spool.spareFolder }
  private let spool: Spool
  private let folder: ContentFolder
  private let contents: [NamedContent]
  /// A shared lock on the contents, held while the lines are printed.
  ///
  /// A slow reader of the lines therefore only delays the removal of contents by a purge. Copying all contents to the
  /// temporary file instead might fill the disk.
  private let share: FileLock?

  fileprivate init(
    _ spool: Spool, rowCount: Int, _ contents: [NamedContent], in folder: ContentFolder, _ share: consuming FileLock?
  ) {
    self.spool = spool
    self.rowCount = rowCount
    self.contents = contents
    self.folder = folder
    self.share = share
  }

  /// Calls `body` with whole lines, in order.
  ///
  /// - Throws: `store_damaged` after the last line, if a content was damaged or missing.
  package func forEach(_ body: ([UInt8]) throws -> Void) throws {
    while let lines = try spool.next() { try body(lines) }
    var json = JSONWriter()
    var count = 0
    var fault: DMError?
    for content in contents where !content.isElsewhere(than: folder) {
      var number = 0
      do {
        try folder.chunks(of: content.hash) { chunk in
          json.removeAll()
          json.line(DumpContent(hash: content.hash, number: number, bytes: chunk))
          try body(json.bytes)
          number += 1
        }
      } catch let error as DMError where folder.isDamage(error, of: content.hash) {
        // The last line is printed all the same: `dm-doctor restore --damaged` restores such a dump.
        fault = fault ?? error
      }
      count += number
    }
    json.removeAll()
    json.line(DumpEnd(rows: rowCount, contents: count))
    try body(json.bytes)
    if let fault { throw fault }
  }
}

/// A table whose rows are dumped and restored.
struct DumpedTable {
  let name: String
  let columns: [String]
  /// The columns by which the rows are ordered.
  let key: [String]
}

extension Upkeep {
  /// Reads the store in one transaction; the lines are available after that transaction.
  ///
  /// - Parameter spare: a folder for the temporary copy of the lines, if the store's folder cannot be written to.
  package func dump(orElse spare: String? = nil) throws -> Dump {
    let store = try store(refusesForeignParts: false)
    let lastUsedAt = try lastUse(of: .dump)
    let spool = try Spool(in: location.directory, orElse: spare)
    let share = try location.contents.share()
    var count = 0
    var contents: [NamedContent] = []
    try store.read {
      try spool.append(header(store, lastUsedAt))
      for table in try store.dumpedTables() {
        count += try store.dump(table, into: spool) { rows in
          try progress("\(count + rows) rows read")
        }
      }
      contents = try store.connection.namedContents()
    }
    try spool.rewind()
    try note(.dump)
    return Dump(spool, rowCount: count, contents, in: location.contents, share)
  }

  private func header(_ store: Store, _ lastUsedAt: Timestamp?) throws -> [UInt8] {
    var json = JSONWriter()
    json.line(
      DumpHeader(
        schema: Int(try store.version()), storeID: try store.uuid(), createdAt: .now, lastUsedAt: lastUsedAt))
    return json.bytes
  }
}

extension Store {
  static let undumped: Set<String> = ["search_end", "store", "table_digest", "upkeep"]

  /// The tables to dump, ordered by name; the list is read from the database, so that tables of later schemas are
  /// dumped too.
  func dumpedTables() throws -> [DumpedTable] {
    var names: [String] = []
    do {
      var list = try connection.prepare(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name")
      while try list.step() { names.append(list.text(0)) }
    }
    return try names.filter { !$0.hasPrefix("sqlite_") && !Self.undumped.contains($0) }.map { name in
      var columns = try connection.prepare(
        "SELECT name, pk FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid")
      columns.bind(name)
      var all: [String] = []
      var key: [(position: Int, name: String)] = []
      while try columns.step() {
        all.append(columns.text(0))
        if columns.int(1) > 0 { key.append((columns.int(1), columns.text(0))) }
      }
      key.sort { $0.position < $1.position }
      return DumpedTable(name: name, columns: all, key: key.isEmpty ? ["rowid"] : key.map(\.name))
    }
  }

  /// - Returns: the number of rows.
  fileprivate func dump(_ table: DumpedTable, into spool: Spool, _ progress: (Int) throws -> Void) throws -> Int {
    var rows = try connection.prepare(
      text: "SELECT \(list(table.columns)) FROM \(quoted(table.name)) ORDER BY \(list(table.key))")
    var json = JSONWriter()
    var count = 0
    while try rows.step() {
      count += 1
      if count % 1000 == 0 { try progress(count) }
      json.line(DumpRow(table: table, values: table.columns.indices.map { rows.value(Int32($0)) }))
      try spool.append(json.bytes)
      json.removeAll()
    }
    return count
  }
}

// MARK: Values

extension JSONWriter {
  /// Writes a value so that `SQLiteValue.init(dumped:)` reads the same value back; NULL is an absent member.
  ///
  /// Blobs, real numbers, texts that a JSON string cannot hold, and integers of at least 2^53 or at most -2^53, which many
  /// JSON readers round, become an object whose only member is named after the type.
  mutating func member(_ column: String, _ value: SQLiteValue) {
    func object(_ json: inout JSONWriter, _ kind: StaticString, _ text: String) {
      json.key(name: column)
      json.object { $0.member(kind, text) }
    }
    switch value {
    case .null: return
    case .integer(let number) where number.magnitude < 1 << 53:
      key(name: column)
      self.value(Int(number))
    case .integer(let number): object(&self, "integer", String(number))
    case .real(let number): object(&self, "real", number.description)
    case .blob(let bytes): object(&self, "blob", hexadecimal(bytes))
    case .text(let bytes):
      guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
        return object(&self, "text", hexadecimal(bytes))
      }
      key(name: column)
      self.value(text)
    }
  }
}

extension SQLiteValue {
  /// Reads a member of a dumped row; nil if `value` is not a value of a dump.
  init?(dumped value: JSONValue) {
    switch value {
    case .integer(let number): self = .integer(Int64(number))
    case .string(let text): self = .text(Array(text.utf8))
    case .object(let object):
      guard object.members.count == 1, case .string(let text) = object.members[0].value else { return nil }
      switch object.members[0].name {
      case "integer":
        guard let number = Int64(text) else { return nil }
        self = .integer(number)
      case "real":
        guard let number = Double(text) else { return nil }
        self = .real(number)
      case "blob":
        guard let bytes = bytes(hexadecimal: text) else { return nil }
        self = .blob(bytes)
      case "text":
        guard let bytes = bytes(hexadecimal: text) else { return nil }
        self = .text(bytes)
      default: return nil
      }
    default: return nil
    }
  }
}
