import FoundationEssentials
import Testing

/// A folder for the files of a test; the folder is removed with this object.
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
