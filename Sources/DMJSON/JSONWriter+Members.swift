public import DMModel

// A member whose value is nil is left out. The nil check is inlined, because the records are in other targets.

extension JSONWriter {
  @inlinable
  package mutating func member(_ name: StaticString, _ text: String?) { if let text { add(name, text) } }

  @usableFromInline
  mutating func add(_ name: StaticString, _ text: String) {
    key(name)
    value(text)
  }

  @inlinable
  package mutating func member(_ name: StaticString, _ number: Int?) { if let number { add(name, number) } }

  @usableFromInline
  mutating func add(_ name: StaticString, _ number: Int) {
    key(name)
    value(number)
  }

  @inlinable
  package mutating func member(_ name: StaticString, _ time: Timestamp?) { if let time { add(name, time) } }

  @usableFromInline
  mutating func add(_ name: StaticString, _ time: Timestamp) {
    key(name)
    value(time)
  }

  @inlinable
  package mutating func member(_ name: StaticString, _ id: Identifier?) { if let id { add(name, id) } }

  @usableFromInline
  mutating func add(_ name: StaticString, _ id: Identifier) {
    key(name)
    value(id)
  }

  /// Writes an array of strings.
  package mutating func member(_ name: StaticString, texts: [String]) {
    key(name)
    array { json in for text in texts { json.value(text) } }
  }

  /// Writes a number with at most three decimals.
  package mutating func member(_ name: StaticString, _ number: Double?) {
    guard let number else { return }
    key(name)
    value(thousandths: Int((number * 1000).rounded()))
  }

  package mutating func member(_ name: StaticString, _ flag: Bool) {
    key(name)
    value(flag)
  }

  package mutating func member(_ name: StaticString, _ cursor: Cursor?) {
    guard let cursor else { return }
    key(name)
    cursor.withText { quoted($0) }
  }
}
