import Foundation
import JSONSupport
import Synchronization
import Testing

/// Rules for each JSON line that a program prints.
enum Contract {
  private static let schemas = Mutex<[String: SchemaValidator]>([:])

  /// Whether a call prints JSON lines into a file or a pipe.
  static func isJSON(_ program: String, _ arguments: [String]) -> Bool {
    // dm-preview prints the lines that it reads, also those that are no JSON.
    if program == "dm-preview", !arguments.contains("--schema") { return false }
    // The output is what a model would be asked.
    if program == "dm-digest", arguments.contains("--dry-run") { return false }
    // The output is what passes through dm-typing.
    if program == "dm-typing", !arguments.contains("--watch") { return false }
    // dm-chat prints text, and dm-mcp prints JSON-RPC, which has its own tests.
    if ["dm-chat", "dm-mcp"].contains(program) { return false }
    // The output is the content of an attachment.
    if zip(arguments, arguments.dropFirst()).contains(where: { ["-o", "--output"].contains($0) && $1 == "-" }) {
      return false
    }
    // The output is a database.
    if program == "dm-doctor", arguments.contains("backup"), arguments.contains("-") { return false }
    // The output is the export.
    if program == "dm-export", arguments.last == "-", !arguments.contains("json") { return false }
    // The schemas have no null, which stands for each field that a record lacks.
    if arguments.contains("--all-fields") { return false }
    var others = ["--help", "-h", "--version", "--schema", "--count", "--complete", "--plain"]
    // In dm-attach, --text is the text of the message.
    if program != "dm-attach" { others.append("--text") }
    let programs = ToolFixture.programs + ToolFixture.hubPrograms
    return programs.contains(program) && !arguments.contains { others.contains($0) }
  }

  static func schema(of program: String) throws -> SchemaValidator {
    if let schema = schemas.withLock({ $0[program] }) { return schema }
    let outcome = try ToolFixture().run(program, ["--schema"])
    try #require(outcome.status == .exit(0), "\(outcome.stderr)")
    let schema = SchemaValidator(try outcome.record)
    schemas.withLock { $0[program] = schema }
    return schema
  }

  static func check(_ bytes: [UInt8], of program: String, at location: SourceLocation) throws {
    if bytes.isEmpty { return }
    let schema = try schema(of: program)
    #expect(bytes.last == 0x0A, "\(program) ends within a line", sourceLocation: location)
    // Each different line is checked once, because readers in a loop print the same lines repeatedly.
    var seen: Set<String> = []
    for line in lines(of: bytes) where seen.insert(line.text).inserted {
      for fault in try faults(in: line.bytes, schema) {
        Issue.record("\(program): \(fault)", sourceLocation: location)
      }
    }
  }

  /// Splits output into lines with memchr(3), because the tests are not optimized, and some output has megabytes.
  static func lines(of bytes: [UInt8]) -> [(text: String, bytes: [UInt8])] {
    bytes.withUnsafeBufferPointer { buffer in
      var found: [(text: String, bytes: [UInt8])] = []
      var start = 0
      while start < buffer.count {
        let end = nextOffset(of: 0x0A, in: buffer, from: start) ?? buffer.count
        let line = UnsafeBufferPointer(rebasing: buffer[start..<end])
        found.append((String(decoding: line, as: UTF8.self), Array(line)))
        start = end + 1
      }
      return found
    }
  }

  static func faults(in line: [UInt8], _ schema: SchemaValidator) throws -> [String] {
    var found = hiddenBytes(in: line).map { "\($0) stands raw" }
    if !String(decoding: line, as: UTF8.self).hasPrefix("{\"type\":\"") {
      found.append("the line does not begin with its type")
    }
    do {
      found += schema.faults(in: try JSON(line))
    } catch {
      found.append("the line is no JSON: \(error)")
    }
    return found
  }
}
