/// Values by the keys of rows, or by addresses, for what is looked up once a message.
///
/// Cheaper than a dictionary, whose hash withstands keys that somebody chose: nobody chooses these.
package struct KeyTable<Value> {
  private var keys: [Int64] = []
  private var values: [Value?] = []
  private var count = 0

  package init() {}

  /// No row has it (sqlite.org/autoinc.html: a key is chosen from 1 on), and no program has this address.
  private static var free: Int64 { .min }

  package subscript(number: Int64) -> Value? {
    get { keys.isEmpty ? nil : values[slot(of: number)] }
    set {
      // At most half of the slots are taken, so that a search is short.
      if 2 * (count + 1) > keys.count { grow() }
      let slot = slot(of: number)
      if keys[slot] == Self.free { count += 1 }
      keys[slot] = number
      values[slot] = newValue
    }
  }

  /// The values that are there, in no order.
  var all: some Sequence<Value> { values.lazy.compactMap(\.self) }

  /// The slot that a key has, or would get.
  private func slot(of number: Int64) -> Int {
    // Fibonacci hashing: neighbours, as keys often are, lie far apart.
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
