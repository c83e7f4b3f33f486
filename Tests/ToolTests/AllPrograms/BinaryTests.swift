import Foundation
import Testing

@testable import TestSupport

@Suite struct BinaryTests {
  @Test(arguments: ToolFixture.programs)
  func `no program reaches Foundation, whose tables alone are larger than it`(program: String) throws {
    let libraries = try ToolFixture().done("ldd", [ToolFixture.executable(program)]).stdout
    #expect(libraries.contains("libsqlite3"))
    #expect(!libraries.contains("Foundation"), "\(libraries)")
  }

  private static let released = ToolFixture.programs.filter {
    FileManager.default.fileExists(atPath: "\(repository)/bin/\($0)")
  }

  @Test(.enabled(if: !released.isEmpty, "there is no bin/; 'make build' makes one"), arguments: released)
  func `a released program is under 16 MB and needs no Swift`(program: String) throws {
    let path = "\(repository)/bin/\(program)"
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    #expect(try #require(size) < 16_000_000)
    #expect(try !ToolFixture().done("ldd", [path]).stdout.contains("libswift"))
  }
}
