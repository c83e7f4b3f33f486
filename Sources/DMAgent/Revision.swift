/// A revision of the Model Context Protocol, by its date.
enum Revision: String, CaseIterable, Comparable {
  case november2024 = "2024-11-05"
  case march2025 = "2025-03-26"
  case june2025 = "2025-06-18"
  case november2025 = "2025-11-25"
  case july2026 = "2026-07-28"

  /// The latest revision that the handshake can choose.
  static let latestOfHandshake = Revision.november2025

  /// The revisions that a request may name, by their dates.
  static let stateless = allCases.filter(\.isStateless).map(\.rawValue)

  static func < (a: Revision, b: Revision) -> Bool { a.rawValue < b.rawValue }

  /// Whether each request names its revision, and there is no handshake (see "Versioning and Compatibility").
  var isStateless: Bool { self >= .july2026 }

  /// Whether a line may be an array of requests; only the revision of March 2025 has such batches.
  var hasBatches: Bool { self == .march2025 }

  /// Whether wrong arguments of a tool cause a result, which the model sees, instead of a protocol error.
  var showsWrongArguments: Bool { self >= .november2025 }
}
