import Foundation
import Testing

@testable import TestSupport

@Suite struct BinaryTests {
  @Test(arguments: ToolFixture.programs)
  func `no program links Foundation`(program: String) throws {
    let libraries = try ToolFixture().done("ldd", [ToolFixture.executable(program)]).stdout
    #expect(libraries.contains("libsqlite3"))
    #expect(!libraries.contains("Foundation"), "\(libraries)")
  }

  private static let released = "\(repository)/bin/dm"
  private static let isReleased = FileManager.default.fileExists(atPath: released)

  /// The libraries of Swift and C++ are linked statically, because each shared library makes every start slower.
  @Test(.enabled(if: isReleased, "there is no bin/; 'make build' makes one"))
  func `released programs link only the libraries of C and SQLite`() throws {
    let libraries = try ToolFixture().done("objdump", ["-p", Self.released]).stdout.split(separator: "\n")
      .filter { $0.contains("NEEDED") }.compactMap { $0.split(separator: " ").last.map(String.init) }
    let few = ["libsqlite3.", "libc.", "libm.", "ld-linux"]
    #expect(libraries.allSatisfy { few.contains(where: $0.hasPrefix) }, "\(libraries)")
  }
}
