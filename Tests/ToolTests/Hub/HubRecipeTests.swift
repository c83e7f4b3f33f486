import Foundation
import Testing

@testable import TestSupport

/// The recipes of dm-hub(8), which Tests/recipes runs on servers of their own, while two people write to each other.
struct HubRecipeTests {
  private static let folder = "\(repository)/Tests/recipes"

  static let scripts: [String] = {
    let files = (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []).sorted()
    return files.filter { $0.hasSuffix(".sh") && $0 != "lib.sh" }
  }()

  @Test(arguments: scripts)
  func `a recipe of dm-hub(8) works as written, and each message is in both stores once`(script: String) throws {
    let f = try ToolFixture()
    f.set("WORK", f.directory)
    f.set("PORT", "\(try PostgresServer.freePort())")
    f.set("OTHER_PORT", "\(try PostgresServer.freePort())")
    let outcome = try f.run("sh", ["\(Self.folder)/\(script)"], seconds: 600)
    #expect(outcome.status == .exit(0), "\(outcome.stdout)\(outcome.stderr)")
  }

  @Test func `the tests run each block of commands in the recipes of dm-hub(8)`() throws {
    let page = try String(contentsOfFile: "\(repository)/man/dm-hub.8", encoding: .utf8)
    let section = page.components(separatedBy: "\n.Sh RECIPES\n")[1].components(separatedBy: "\n.Sh ")[0]
    let run = try Self.scripts.map { try String(contentsOfFile: "\(Self.folder)/\($0)", encoding: .utf8) }.joined()
    let recipes = section.components(separatedBy: "\n.Ss ").dropFirst()
    #expect(recipes.count >= 10)
    for recipe in recipes {
      let title = recipe.prefix { $0 != "\n" }
      let blocks = recipe.components(separatedBy: ".Bd -literal").count - 1
      for number in 1...max(1, blocks) { #expect(run.contains("'\(title)' \(number)\n"), "\(title), block \(number)") }
    }
  }
}
