/// A position in the stream of events.
///
/// A cursor is opaque, and valid for one store.
///
/// The position is `(rev, seq)`: every change up to `rev` was delivered, and the messages up to `seq` of change
/// `rev + 1`. A receipt can change the status of a million messages, and a stream may stop between any two of them.
public struct Cursor: Hashable, Comparable, Sendable, CustomStringConvertible {
  package struct Position: Hashable, Comparable {
    package var rev: Rev
    package var seq = 0

    package init(rev: Rev, seq: Int = 0) {
      self.rev = rev
      self.seq = seq
    }

    package static let start = Position(rev: .zero)

    package static func < (a: Position, b: Position) -> Bool { (a.rev, a.seq) < (b.rev, b.seq) }
  }

  package let store: UInt64
  package let position: Position

  package init(store: Identifier, _ position: Position) {
    self.store = store.low
    self.position = position
  }

  /// Compares positions only: both cursors must be of the same store.
  public static func < (a: Cursor, b: Cursor) -> Bool { a.position < b.position }

  /// The text of the cursor, at most 52 bytes, which `init(_:)` reads.
  public var description: String {
    var text = ""
    withText { text = String(decoding: $0, as: UTF8.self) }
    return text
  }

  /// Calls `body` with the text of the cursor, at most 52 bytes.
  package func withText(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 52) { buffer in
      var offset = buffer.count
      func put(_ byte: UInt8) {
        offset -= 1
        buffer[offset] = byte
      }
      func put(_ number: UInt64) {
        var rest = number
        repeat {
          put(hexDigit(rest))
          rest >>= 4
        } while rest > 0
      }
      // The text is written from its end.
      if position.seq > 0 {
        put(UInt64(position.seq))
        put(UInt8(ascii: "-"))
      }
      put(UInt64(position.rev.number))
      put(UInt8(ascii: "-"))
      put(store)
      put(UInt8(ascii: "c"))
      body(UnsafeBufferPointer(rebasing: buffer[offset...]))
    }
  }

  /// Reads the text of a cursor, of any store.
  ///
  /// - Throws: `bad_cursor`.
  public init(_ text: String) throws(DMError) {
    let words = text.utf8.dropFirst().split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
      .map { $0.first == UInt8(ascii: "+") ? nil : UInt64(Substring($0), radix: 16) }
    guard text.utf8.first == UInt8(ascii: "c"), words.count == 2 || words.count == 3, let owner = words[0],
      let rev = words[1].flatMap(Int64.init(exactly:)), words.count == 2 || words[2] != nil,
      let seq = Int(exactly: words.count == 3 ? words[2] ?? 0 : 0)
    else {
      throw DMError(
        .badCursor, "'\(text)' is not a cursor of a stream", subject: text, remedy: .takeCursor)
    }
    store = owner
    position = Position(rev: Rev(number: rev), seq: seq)
  }

  /// The position in the change log of a store.
  ///
  /// - Throws: `bad_cursor` if the cursor is of another store.
  package func position(in store: Identifier) throws(DMError) -> Position {
    guard self.store == store.low else {
      throw DMError(
        .badCursor, "the cursor '\(self)' is another store's", subject: description, remedy: .startAnew)
    }
    return position
  }
}
