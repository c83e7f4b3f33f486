package import DMModel

/// The reason why a wait ended.
package struct HubHint: Equatable, Sendable {
  /// The conversations that have changed.
  package var conversations: Set<Identifier> = []
  /// Whether an operation was queued on this machine.
  package var isRung = false
  /// Whether a signal, such as typing, may have changed on this machine.
  package var isSignalled = false
  /// Whether another machine of the user has changed an own state.
  package var hasOwnStates = false

  package init(conversations: Set<Identifier> = [], isRung: Bool = false, isSignalled: Bool = false) {
    self.conversations = conversations
    self.isRung = isRung
    self.isSignalled = isSignalled
  }
}
