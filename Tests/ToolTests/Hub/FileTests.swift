import Foundation
import Glibc
import JSONSupport
import Testing

@testable import TestSupport

/// Helpers for tests that send files over a hub.
protocol FileTests {}

extension FileTests {
  func linked() throws -> (hub: HubFixture, alice: ToolFixture, bob: ToolFixture) {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    return (hub, alice, bob)
  }

  /// Creates a file of pseudorandom bytes.
  func file(_ size: Int, _ name: String, in fixture: ToolFixture) throws -> String {
    let path = "\(fixture.directory)/\(name)"
    var random = SplitMix64(seed: UInt64(size))
    var bytes: [UInt8] = []
    while bytes.count < size { withUnsafeBytes(of: random.next()) { bytes += $0 } }
    try Data(bytes.prefix(size)).write(to: URL(fileURLWithPath: path))
    return path
  }

  func attach(_ files: [String], to conversation: String, _ fixture: ToolFixture) throws -> JSON {
    let line = try fixture.done("dm-attach", ["--as-file", "--to", conversation] + files).output
    return try fixture.done("dm-send", ["--json"], stdin: .bytes(line)).record
  }

  /// Saves the attachments of a message in a new folder.
  func get(_ message: String, _ fixture: ToolFixture) throws -> (folder: String, outcome: Outcome) {
    let folder = "\(fixture.directory)/\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return (folder, try fixture.run("dm-attach", ["--get", message, "-o", folder]))
  }

  func contents(of fixture: ToolFixture) throws -> Int {
    try fixture.done("dm-doctor", ["stats"]).record["contents_count"]?.int ?? -1
  }
}
