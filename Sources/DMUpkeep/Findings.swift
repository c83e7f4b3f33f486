internal import DMModel
internal import DMStore

/// Collects findings.
///
/// The findings are printed after the transaction, because a slow reader of the output must not keep the WAL from being
/// reset.
final class Findings {
  private(set) var list: [Finding] = []
  private var counts: [Finding.Check: Int] = [:]

  /// The maximum number of findings that are kept of one check, so that a store with damage everywhere does not fill
  /// the memory.
  static let limit = 100_000

  var isEmpty: Bool { list.isEmpty }

  func add(_ check: Finding.Check, _ subject: String?, _ message: String, _ remedy: Remedy? = nil) {
    let count = counts[check, default: 0] + 1
    counts[check] = count
    if count <= Self.limit { list.append(Finding(check: check, subject: subject, message: message, remedy: remedy)) }
  }

  /// Adds the numbers of findings that were left out.
  func close() {
    for check in Finding.Check.allCases {
      guard let count = counts[check], count > Self.limit else { continue }
      list.append(Finding(check: check, subject: nil, message: "\(count - Self.limit) more like these"))
    }
  }

  /// Runs one part of the check; rows that cannot be read become a finding, so that the other parts still run.
  func attempt(_ check: Finding.Check, _ subject: String? = nil, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as DMError {
      guard error.isDamage else { throw error }
      add(check, subject, "cannot be read to its end: \(error.message)", error.remedy)
    }
  }
}
