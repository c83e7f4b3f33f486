/// A network that is simulated, so that users can try how programs behave on it.
public enum HubNetwork: Int64, CaseIterable, Sendable {
  /// The real network.
  case normal = 0
  /// Calls take 0.5 to 1 second, and one in ten is lost.
  case poor
  /// Calls take 1.5 to 3 seconds, and one in four is lost.
  case veryPoor
  /// All calls are lost.
  case offline

  /// The word that people write for the network.
  package var word: String {
    switch self {
    case .normal: "normal"
    case .poor: "poor"
    case .veryPoor: "very-poor"
    case .offline: "offline"
    }
  }

  package init?(word: String) {
    guard let network = Self.allCases.first(where: { $0.word == word }) else { return nil }
    self = network
  }
}
