internal import DMKit

/// Names for cursors, for an agent that uses only some conversations.
///
/// A stream cursor contains the number of the store's last change, and a page cursor that of a row: both would show how
/// much happens in other conversations.
final class CursorTable {
  /// At least this many of the newest names are kept; older ones are refused.
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

  /// The cursor that has this name, made with `make`.
  ///
  /// - Throws: `bad_cursor`, which shows only the name, if this connection did not give it, or has dropped it.
  func cursor<T>(_ name: String, _ make: (String) throws(DMError) -> T) throws(DMError) -> T {
    if let text = texts[name] {
      // Fails for a cursor of the other kind, stream or page.
      do { return try make(text) } catch {}
    }
    throw DMError(
      .badCursor, "'\(Outgoing.cut(name, to: 64))' is no such cursor of this connection; call again without it",
      subject: name)
  }
}
