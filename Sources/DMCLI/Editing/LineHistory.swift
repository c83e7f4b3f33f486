internal import DMModel
internal import DMSystem

/// A file of bounded size with lines that a user has entered; only its owner can access the file.
package struct LineHistory {
  private let path: String
  /// How many lines are returned.
  private static let most = 200
  /// The size in bytes from which old lines are dropped, and the maximum size of a line.
  private static let (limit, longest) = (64 * 1024, 1024)

  /// - Parameter path: the path of the file, which need not exist.
  package init(path: String) { self.path = path }

  /// The last lines, oldest first; none if the file cannot be read.
  package var lines: [String] {
    let bytes = readFile(path, limit: 2 * Self.limit) ?? []
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { String(validating: $0, as: UTF8.self) }
      .suffix(Self.most)
  }

  /// Adds a line; ignores a text of several lines, and a very long one.
  ///
  /// - Throws: `io_error`, `cannot_create`.
  package func add(_ line: String) throws {
    if line.utf8.count > Self.longest || line.contains(where: \.isNewline) { return }
    if fileSize(path) > Self.limit {
      let kept = lines.suffix(Self.most / 2).map { $0 + "\n" }.joined()
      try replaceFile(path, with: Array(kept.utf8), isDurable: false)
    }
    try OpenFile(path, for: .appending) { fileError(.inputOutput, "write", path, $0) }.write(Array("\(line)\n".utf8))
  }
}
