/// A revision of the Model Context Protocol, by its date.
enum Revision: String, CaseIterable, Comparable {
  case november2024 = "2024-11-05"
  case march2025 = "2025-03-26"
  case june2025 = "2025-06-18"
  case november2025 = "2025-11-25"

  static let latest = Revision.november2025

  static func < (a: Revision, b: Revision) -> Bool { a.rawValue < b.rawValue }

  /// Whether a line may be an array of requests; only the revision of March 2025 has such batches.
  var hasBatches: Bool { self == .march2025 }

  /// Whether wrong arguments of a tool cause a result, which the model sees, instead of a protocol error.
  var showsWrongArguments: Bool { self >= .november2025 }
}
