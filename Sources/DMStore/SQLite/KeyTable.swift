/// A table of values by row key or by address, for lookups that happen once for each message.
///
/// It is faster than a dictionary, whose hash resists keys chosen by an attacker; users cannot choose these keys.
package struct KeyTable<Value> {
  private var keys: [Int64] = []
  private var values: [Value?] = []
  private var count = 0

  package init() {}

  /// Marks a free slot: no row has this key (sqlite.org/autoinc.html: keys start at 1), and nothing has this address.
  private static var free: Int64 { .min }

  package subscript(number: Int64) -> Value? {
    get { keys.isEmpty ? nil : values[slot(of: number)] }
    set {
      // At most half of the slots are used, so that a search is short.
      if 2 * (count + 1) > keys.count { grow() }
      let slot = slot(of: number)
      if keys[slot] == Self.free { count += 1 }
      keys[slot] = number
      values[slot] = newValue
    }
  }

  /// The stored values, in no order.
  var all: some Sequence<Value> { values.lazy.compactMap(\.self) }

  /// The slot of a key, or the free slot for it.
  private func slot(of number: Int64) -> Int {
    // Fibonacci hashing: adjacent keys, which are common, get distant slots.
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
