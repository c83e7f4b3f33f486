/// Something that is not as it has to be.
///
/// It never holds a message's text.
public struct Finding: Equatable, Sendable {
  /// What was looked at.
  ///
  /// Expect more cases in later versions.
  public enum Check: String, CaseIterable, Sendable {
    case identity
    case files
    /// Tables, indexes and triggers.
    case schema
    case integrity
    case foreignKeys = "foreign_keys"
    case values
    case search
    case counts
    case ranges
    case digests
    /// The contents of what messages carry.
    case attachments
  }

  public let check: Check
  /// A path, a table, a conversation's id, an attachment's, or a message as `ID:SEQ`.
  public let subject: String?
  public let message: String
}

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

extension DMError {
  /// Whether it comes of what stands in the files.
  var isDamage: Bool { code == .storeDamaged || code == .inputOutput || code == .storeForeign || code == .internal }
}
