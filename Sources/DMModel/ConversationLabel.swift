/// The conversation of a message, as it is named for the user who reads the message.
public struct ConversationLabel: Equatable, Sendable {
  /// The name that the user gave it, else the title of a group, else the handle of the other participant.
  ///
  /// Nil for a group that has neither.
  public let title: String?
  /// Whether it is a group, not a direct conversation.
  public let isGroup: Bool
  /// A reference to this conversation that the user can write: `bob`, `+ops`, or its UUID if the title is missing or
  /// not unique.
  public let reference: String

  /// Makes a label, as for a preview or a test of a view.
  public init(title: String?, isGroup: Bool, reference: String) {
    (self.title, self.isGroup, self.reference) = (title, isGroup, reference)
  }
}
