import Foundation
import Testing

@testable import TestSupport

/// The sync processes that programs have started for a store; they are killed when the test ends.
final class Carriers {
  private let f: ToolFixture
  init(_ f: ToolFixture) { self.f = f }

  var processes: [Int32] { named("--linger") }

  private func named(_ option: String) -> [Int32] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.compactMap { Int32($0) }.filter { process in
      let words = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
      let text = String(decoding: words, as: UTF8.self)
      return text.contains("dm-sync") && text.contains(option) && text.contains(f.store)
    }
  }

  /// The sync processes that transfer files.
  var fileProcesses: [Int32] { named("--files") }

  deinit { for process in processes + fileProcesses { kill(process, SIGKILL) } }

  /// Kills these processes, and waits until their locks are free.
  func end() throws {
    // A process that was just started may not have its arguments yet.
    try Torture.wait(until: "no carrier has the lock") {
      for process in processes + fileProcesses { kill(process, SIGKILL) }
      return try f.run("flock", ["-n", f.store + "/sync.lock", "true"]).status == .exit(0)
    }
  }
}

/// A new machine on which programs start dm-sync.
func carried(_ hub: HubFixture, _ handle: String) throws -> (machine: ToolFixture, carriers: Carriers) {
  let machine = try hub.machine(handle)
  machine.set("DM_SYNC", nil)
  return (machine, Carriers(machine))
}
