/// What a message says about its conversation, in the words of the user who reads it.
public struct ConversationLabel: Equatable, Sendable {
  /// The name that the user gave it, else the title of a group, else the handle of the other participant.
  ///
  /// Nil for a group without a title and without such a name.
  public let title: String?
  public let isGroup: Bool
  /// A reference that means this conversation for the user: `bob`, `+ops`, or its UUID where a title is missing or not
  /// unique.
  public let reference: String

  package init(title: String?, isGroup: Bool, reference: String) {
    (self.title, self.isGroup, self.reference) = (title, isGroup, reference)
  }
}
