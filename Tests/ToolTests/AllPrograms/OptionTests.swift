import Foundation
import Testing

@testable import TestSupport

/// Compares the options in the sources with those in the help.
@Suite struct OptionTests {
  /// The options that a program declares, as they are typed: `static let limit = Option("limit", …`.
  private func declared(by program: String) throws -> [String] {
    let folder = "\(repository)/Sources/\(program)"
    let declaration = try Regex(#"static let \w+ = (?:Flag|Option)\(\s*(?:"([^"]+)"|nil, short: "(.)")"#)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
    return try files.flatMap { file in
      let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
      return text.matches(of: declaration).map { match in
        match.output[1].substring.map { "--\($0)" } ?? "-\(match.output[2].substring ?? "")"
      }
    }
  }

  @Test(arguments: ToolFixture.programs)
  func `the help of a program lists every option that it declares`(program: String) throws {
    let help = try ToolFixture().done(program, ["--help"]).stdout
    let words = Set(help.split { " ,\n".contains($0) }.map(String.init))
    let declared = try declared(by: program)
    for option in declared { #expect(words.contains(option), "\(option) is declared, but is not in the help") }
    #expect(!declared.isEmpty)
  }
}
