package import DMModel

extension Outbox {
  /// An operation in the outbox.
  package struct Row {
    package let key: OutboxKey
    package let act: Act
    package let state: State
    package let conversation: ConversationKey?
    package let target: Identifier?
    package let nonce: Identifier
    package let arguments: String
    package let payload: [UInt8]?
    package let createdAt: Timestamp
    package let attempts: Int
    package let triedAt: Timestamp?
    package var notBefore: Timestamp?
    package let rev: Int64?
    /// The code of the reason why the hub refused the operation; nil if it did not.
    package let fault: String?
    /// Whether the operation is pushed again because the hub was restored.
    package let isRepeated: Bool
  }
}

extension Outbox.Row {
  /// Whether the operation is postponed because the user is over their quota; `Outbox.postponedUntil` has the same condition.
  package var isPostponed: Bool { state == .queued && notBefore.map { $0 > .now && $0 < .forever } == true }
}
