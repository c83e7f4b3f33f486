internal import DMKit

/// Names for cursors, for an agent that uses only some conversations.
///
/// A cursor of a stream counts the changes of the whole store, and a cursor of a page has the number of a row, so that
/// their texts would show how much happens elsewhere.
final class CursorTable {
  /// The number of names that are kept; older ones are refused.
  private static let capacity = 10_000

  private var texts: [String: String] = [:]
  private var order: [String] = []
  private var count = 0

  /// A new name for a cursor.
  func name(_ text: String) -> String {
    count += 1
    let name = "k\(count)"
    texts[name] = text
    order.append(name)
    if order.count > 2 * Self.capacity {
      for old in order.prefix(Self.capacity) { texts[old] = nil }
      order.removeFirst(Self.capacity)
    }
    return name
  }

  /// The cursor of a kind that was named so.
  ///
  /// - Throws: `bad_cursor`, with the name alone, for one that this connection has not given, or no longer knows.
  func cursor<T>(_ name: String, _ make: (String) throws(DMError) -> T) throws(DMError) -> T {
    if let text = texts[name] {
      // A cursor of the other kind.
      do { return try make(text) } catch {}
    }
    throw DMError(
      .badCursor, "'\(Outgoing.cut(name, to: 64))' is no such cursor of this connection; call again without it",
      subject: name)
  }
}
