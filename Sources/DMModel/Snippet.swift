/// The part of a message in which a search found something, on one line.
public struct Snippet: Equatable, Sendable {
  /// A part of the snippet that is entirely a hit, or contains none.
  public struct Part: Equatable, Sendable {
    /// The text of the part; never empty.
    public let text: String
    /// Whether this part matches the search.
    public let isHit: Bool

    package init(text: String, isHit: Bool) {
      self.text = text
      self.isHit = isHit
    }
  }

  /// The parts in the order of the text.
  public let parts: [Part]

  package init(parts: [Part]) { self.parts = parts }

  /// The text of the snippet, with each hit between double asterisks.
  package var marked: String { parts.map { $0.isHit ? "**\($0.text)**" : $0.text }.joined() }
}
