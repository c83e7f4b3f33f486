/// The network that is simulated, for trying how programs behave on it.
package enum HubNetwork: Int64, CaseIterable, Sendable {
  case normal = 0
  case poor, veryPoor, offline

  /// As people write it.
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
