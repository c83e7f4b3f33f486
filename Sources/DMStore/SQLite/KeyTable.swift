/// A table from row keys or addresses to values, for look-ups that happen once for each message.
///
/// The table is faster than a dictionary. The hash function of a dictionary resists attackers who choose the keys, but
/// users cannot choose row keys or addresses.
package struct KeyTable<Value> {
  private var keys: [Int64] = []
  private var values: [Value?] = []
  private var count = 0

  package init() {}

  /// The key that marks a free slot.
  ///
  /// No row has this key, because row keys start at 1 (sqlite.org/autoinc.html), and nothing has this address.
  private static var free: Int64 { .min }

  package subscript(number: Int64) -> Value? {
    get { keys.isEmpty ? nil : values[slot(of: number)] }
    set {
      // At most half of the slots are used, so that a look-up tries few slots.
      if 2 * (count + 1) > keys.count { grow() }
      let slot = slot(of: number)
      if keys[slot] == Self.free { count += 1 }
      keys[slot] = number
      values[slot] = newValue
    }
  }

  /// The stored values, in an arbitrary order.
  package var all: [Value] { values.compactMap(\.self) }

  /// The slot of a key.
  ///
  /// If the table does not contain the key, returns a free slot for it.
  private func slot(of number: Int64) -> Int {
    // Fibonacci hashing: keys that follow each other, which are common, get slots that are far apart.
    let mask = keys.count - 1
    var slot = Int(truncatingIfNeeded: (UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
    while keys[slot] != number, keys[slot] != Self.free { slot = (slot + 1) & mask }
    return slot
  }

  private mutating func grow() {
    let (oldKeys, oldValues) = (keys, values)
    let size = max(16, 2 * oldKeys.count)
    keys = Array(repeating: Self.free, count: size)
    values = Array(repeating: nil, count: size)
    for (key, value) in zip(oldKeys, oldValues) where key != Self.free {
      let slot = slot(of: key)
      (keys[slot], values[slot]) = (key, value)
    }
  }
}
