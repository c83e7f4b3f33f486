import Foundation
import Testing

@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// Compares the lines "Reads:" and "Writes:" of each file with its SQL.
@Suite struct TablesOfFilesTests {
  static let sources = URL(filePath: "\(repository)/Sources/DMStore")

  static func files() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }.sorted()
  }

  /// The tables that the string literals of a file name after the given words of SQL, such as FROM.
  private func tables(after words: String, in text: String, among tables: Set<String>) throws -> [String] {
    let literal = try Regex("\"\"\"(?:.|\n)*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*\"")
    let name = try Regex("\\b(?:\(words))\\s+(\\w+)", as: (Substring, Substring).self)
    let found = text.matches(of: literal).flatMap { text[$0.range].matches(of: name).map { String($0.output.1) } }
    return Set(found).intersection(tables).sorted()
  }

  /// The tables that a migration creates.
  private func tables(of migration: [UInt8]) throws -> [String] {
    let table = try Regex("CREATE TABLE (\\w+)", as: (Substring, Substring).self)
    return String(decoding: migration, as: UTF8.self).matches(of: table).map { String($0.output.1) }
  }

  @Test(arguments: try files())
  func `each source file of the store lists at its top the tables that its SQL reads and writes`(
    file: String
  ) throws {
    let store = try TemporaryStore(users: ["alice"])
    let allTables = Set(
      try store.texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    )
    .union(try Migration.linked.flatMap(tables))
    let text = try String(contentsOf: Self.sources.appending(path: file), encoding: .utf8)
    let read = text.replacing("DELETE FROM", with: "DELETE")
    let lines = [
      ("// Reads: ", try tables(after: "FROM|JOIN", in: read, among: allTables)),
      ("// Writes: ", try tables(after: "INTO|UPDATE|DELETE FROM", in: text, among: allTables)),
    ]
    let expected = lines.filter { !$0.1.isEmpty }.map { $0.0 + $0.1.joined(separator: ", ") + "." }
    let said = text.split(separator: "\n").filter { $0.hasPrefix("// Reads: ") || $0.hasPrefix("// Writes: ") }
    #expect(said.map(String.init) == expected)
  }
}
