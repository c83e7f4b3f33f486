internal import DMModel
internal import DMStore

/// Gathers what is found.
///
/// It is printed when the transaction is over: a reader that stands still must not keep the log from being reused.
final class Findings {
  private(set) var list: [Finding] = []
  private var counts: [Finding.Check: Int] = [:]

  /// So many of a kind are told, so that a store that is wholly lost does not fill the memory.
  static let limit = 100_000

  var isEmpty: Bool { list.isEmpty }

  func add(_ check: Finding.Check, _ subject: String?, _ message: String) {
    let count = counts[check, default: 0] + 1
    counts[check] = count
    if count <= Self.limit { list.append(Finding(check: check, subject: subject, message: message)) }
  }

  /// Says how many were left out.
  func close() {
    for check in Finding.Check.allCases {
      guard let count = counts[check], count > Self.limit else { continue }
      list.append(Finding(check: check, subject: nil, message: "\(count - Self.limit) more like these"))
    }
  }

  /// Runs a part of the check; what cannot be read is a finding, and the other parts go on.
  func attempt(_ check: Finding.Check, _ subject: String? = nil, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as DMError {
      guard error.isDamage else { throw error }
      add(check, subject, "cannot be read to its end: \(error.message)")
    }
  }
}
