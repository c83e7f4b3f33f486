import Foundation
import Synchronization
import Testing

/// What every line has to hold that a program prints as JSON.
enum Contract {
  private static let schemas = Mutex<[String: SchemaValidator]>([:])

  /// Whether a call prints JSON lines into a file or a pipe.
  static func isJSON(_ program: String, _ arguments: [String]) -> Bool {
    let others = ["--text", "--help", "-h", "--version", "--schema", "--count", "--generate-completion"]
    return ToolFixture.programs.contains(program) && !arguments.contains { others.contains($0) }
  }

  static func schema(of program: String) throws -> SchemaValidator {
    if let known = schemas.withLock({ $0[program] }) { return known }
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
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast() {
      for fault in try faults(in: line, schema) {
        Issue.record("\(program): \(fault)", sourceLocation: location)
      }
    }
  }

  static func faults(in line: ArraySlice<UInt8>, _ schema: SchemaValidator) throws -> [String] {
    var found = hiddenBytes(in: line).map { "\($0) stands raw" }
    if !line.starts(with: Array("{\"type\":\"".utf8)) { found.append("the line does not begin with its type") }
    do {
      found += schema.faults(in: try JSON(line))
    } catch {
      found.append("the line is no JSON: \(error)")
    }
    return found
  }
}
