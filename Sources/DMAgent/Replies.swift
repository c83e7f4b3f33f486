/// Collects the answers to one line, and writes them when all are there; the answers to a batch are one array.
final class Replies {
  private let write: ([UInt8]) throws -> Void
  private let isBatch: Bool
  private var left: Int
  private var parts: [[UInt8]] = []

  /// - Parameters:
  ///   - count: the number of requests and notifications of a batch; nil for a line that is not a batch.
  ///   - write: writes a line.
  init(batchOf count: Int? = nil, _ write: @escaping ([UInt8]) throws -> Void) {
    self.write = write
    isBatch = count != nil
    left = count ?? 1
  }

  /// Ends one request or notification.
  ///
  /// - Parameter answer: nil for a notification, and for a request that was cancelled.
  func add(_ answer: [UInt8]?) throws {
    left -= 1
    if let answer { parts.append(answer) }
    guard left == 0, !parts.isEmpty else { return }
    let line = Array(parts.joined(separator: [UInt8(ascii: ",")]))
    try write((isBatch ? [UInt8(ascii: "[")] + line + [UInt8(ascii: "]")] : line) + [UInt8(ascii: "\n")])
  }
}
