internal import DMKit

/// Names for cursors, for an agent that may use only some conversations.
///
/// A stream cursor contains the number of the store's last change, and a page cursor contains the number of a row: both
/// would show how much happens in other conversations.
final class CursorTable {
  /// At least this many of the newest names are kept; older names are refused.
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

  /// The cursor that has this name; `make` makes it from the text of the cursor.
  ///
  /// - Throws: `bad_cursor` if this connection has not given the name, or has dropped it; the error shows only the
  ///   name.
  func cursor<T>(_ name: String, _ make: (String) throws(DMError) -> T) throws(DMError) -> T {
    if let text = texts[name] {
      // Fails if the cursor is for pages and a cursor of the stream is expected, or the reverse.
      do { return try make(text) } catch {}
    }
    throw DMError(
      .badCursor, "'\(Outgoing.cut(name, to: 64))' is no such cursor of this connection; call again without it",
      subject: name)
  }
}
