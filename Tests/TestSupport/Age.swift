import FoundationEssentials

@testable import DMModel

/// Sets the time of the last change of a file to whole seconds before now.
///
/// - Returns: the time that was set.
@discardableResult
func setAge(of path: String, seconds: Int) throws -> Timestamp {
  let time = Int64(Date().timeIntervalSince1970) - Int64(seconds)
  let date = Date(timeIntervalSince1970: Double(time))
  try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
  return Timestamp(microseconds: time * 1_000_000)
}
