internal import DMJSON
internal import DMModel
internal import DMStore
internal import DMSystem

/// Reads the lines of a dump and counts them.
struct DumpLines: ~Copyable {
  private let descriptor: Int32
  private var splitter = LineSplitter()
  private(set) var number = 0
  private var chunk = [UInt8](repeating: 0, count: 64 * 1024)
  private let progress: (String) throws -> Void

  init(descriptor: Int32, _ progress: @escaping (String) throws -> Void) {
    self.descriptor = descriptor
    self.progress = progress
  }

  /// The next line; nil at the end.
  mutating func next() throws -> JSONObject? {
    while true {
      if let line = splitter.next() {
        number += 1
        switch line {
        case .tooLong: throw fault(.lineTooLong, "it is over 1 MiB")
        case .whole(let bytes):
          do throws(DMError) {
            return try JSONReader.object(bytes)
          } catch {
            throw fault(error.code, error.message)
          }
        }
      }
      guard waitUntilReadable(descriptor, milliseconds: 200) else {
        try progress("waiting for line \(number + 1)")
        continue
      }
      let count = try chunk.withUnsafeMutableBytes { try readSome(descriptor, into: $0, "the dump") }
      if count == 0 {
        guard splitter.isUnfinished else { return nil }
        number += 1
        throw fault(.unfinishedLine, "it has no line feed and may be half of one; make the dump anew")
      }
      chunk.withUnsafeBytes { splitter.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }

  func fault(_ code: DMError.Code, _ what: String) -> DMError { DMError(code, "line \(number): \(what)") }
}

extension Store {
  /// Inserts the rows of a dump into an empty store.
  ///
  /// - Parameter takesDamaged: whether to leave out a content that does not match its hash. If false, such a content is an
  ///   error.
  /// - Throws: `store_damaged` for such a content; an error about one line names the line.
  func fill(from lines: inout DumpLines, takesDamaged: Bool, _ progress: (String) throws -> Void) throws {
    guard let header = try lines.next(), header["type"] == .string("dump") else {
      throw lines.fault(.malformedLine, "not the first line of a dump; name a dump or a backup")
    }
    let schema = try checkedSchema(header, lines)
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    var tables = Dictionary(uniqueKeysWithValues: try dumpedTables().map { ($0.name, $0) })
    var assembly: ContentAssembly?
    var (count, contents) = (0, 0)
    while let line = try lines.next() {
      if line["type"] == .string("content") {
        let current = try assembly ?? ContentAssembly(in: location.contents, takesDamaged: takesDamaged)
        assembly = current
        try add(line, to: current, lines)
        contents += 1
        try progress("\(contents) pieces of contents written")
        continue
      }
      if line["type"] == .string("dump_end") {
        try checkCounts(line, lines, rows: count, contents: contents)
        try assembly?.end()
        guard try lines.next() == nil else { throw lines.fault(.malformedLine, "more after the end of the dump") }
        try refuseStrays()
        try writeDigests(since: schema)
        return try searchIndex.rebuild()
      }
      if case .string(let name)? = line["table"], !isLinked, Migration.linkedTables.contains(name) {
        try hub.makeTables()
        tables = Dictionary(uniqueKeysWithValues: try dumpedTables().map { ($0.name, $0) })
      }
      try insert(line, tables, lines)
      count += 1
      if count % 1000 == 0 { try progress("\(count) rows written") }
    }
    throw DMError(
      .unfinishedLine,
      "the dump ends after line \(lines.number) without its last line, so more is missing; make it anew")
  }

  /// - Throws: `bad_field` if the counts in the last line are not those of the lines before it.
  private func checkCounts(_ line: JSONObject, _ lines: borrowing DumpLines, rows: Int, contents: Int) throws {
    // Dumps that were made before dm had attachments do not count contents.
    guard line["rows"] == .integer(rows), line["contents"] ?? .integer(0) == .integer(contents) else {
      throw lines.fault(
        .badField,
        "it does not count \(rows) rows and \(contents) pieces of contents: lines are missing; make the dump anew")
    }
  }

  private func refuseStrays() throws {
    var check = try connection.prepare("PRAGMA main.foreign_key_check")
    if try check.step() {
      throw DMError(
        .badField, "a row of '\(check.text(0))' refers to one of '\(check.text(2))' that the dump lacks; make it anew")
    }
  }

  private func checkedSchema(_ header: JSONObject, _ lines: borrowing DumpLines) throws -> Int {
    guard case .integer(let schema)? = header["schema"], schema > 0 else {
      throw lines.fault(.missingField, "it has no 'schema'")
    }
    guard schema <= Migration.version else {
      throw DMError(
        .storeTooNew, "the dump has schema \(schema) and this program knows \(Migration.version); update dm")
    }
    return schema
  }

  private func add(_ line: JSONObject, to assembly: ContentAssembly, _ lines: borrowing DumpLines) throws {
    guard case .string(let name)? = line["sha256"], let hash = ContentHash(name),
      case .integer(let number)? = line["number"],
      case .string(let text)? = line["bytes"], let bytes = bytes(base64: text)
    else { throw lines.fault(.malformedLine, "not a piece of a content") }
    try bytes.withUnsafeBytes { try assembly.add(hash, number, $0) }
  }

  private func insert(_ line: JSONObject, _ tables: [String: DumpedTable], _ lines: borrowing DumpLines) throws {
    guard line["type"] == .string("row"), case .string(let name)? = line["table"],
      case .object(let row)? = line["values"]
    else { throw lines.fault(.malformedLine, "not a row of a dump") }
    guard let table = tables[name] else { throw lines.fault(.badField, "there is no table '\(name)'") }
    for member in row.members where !table.columns.contains(member.name) {
      throw lines.fault(.badField, "the table '\(name)' has no column '\(member.name)'")
    }
    guard !row.members.isEmpty else { throw lines.fault(.badField, "the row is empty") }
    let placeholders = Array(repeating: "?", count: row.members.count).joined(separator: ", ")
    var insert = try connection.prepare(
      text: "INSERT INTO main.\(quoted(name)) (\(list(row.members.map(\.name)))) VALUES (\(placeholders))")
    for member in row.members {
      guard let value = SQLiteValue(dumped: member.value) else {
        throw lines.fault(.badField, "'\(member.name)' is not a value of a dump")
      }
      insert.bind(value)
    }
    guard try insert.insertIfFit() else { throw lines.fault(.badField, "the row does not fit the table '\(name)'") }
  }
}
