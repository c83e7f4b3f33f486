import FoundationEssentials
import Testing

/// A folder that goes away with it, and all that a test makes in it.
class TemporaryFolder {
  let path: String

  init() throws {
    path = "\(FileManager.default.temporaryDirectory.path)/dm-media-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Issue.record("cannot remove '\(path)': \(error)")
    }
  }
}
