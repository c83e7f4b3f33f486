internal import DMJSON
internal import DMModel

/// How long the answers to an agent are: a model reads them whole, and hosts refuse long ones.
enum Budget {
  /// The bytes of the messages, or of the other elements of a list, in one answer; a single element may exceed it.
  static let answer = 64 << 10
  /// To how many bytes each text is cut, tried in this order until the answer is short enough.
  static let texts = [answer, 16 << 10, 4 << 10, 1 << 10, 256]
  /// The maximum number of users and of emojis in a list that is a part of an element.
  static let names = 20

  /// The beginning of a text that has at most this many bytes as a string of JSON.
  static func cut(_ text: String, to limit: Int) -> String {
    var text = beginning(of: text, bytes: limit)
    while case let size = size(of: text), size > limit {
      text = beginning(of: text, bytes: min(text.utf8.count - 1, text.utf8.count * limit / size))
    }
    return text
  }

  private static func size(of text: String) -> Int {
    var json = JSONWriter()
    json.value(text)
    return json.bytes.count - 2
  }

  /// The range of the elements that fit together, beginning with the one at `anchor` and those beside it.
  static func fitting(_ sizes: [Int], around anchor: Int) -> Range<Int> {
    var (range, size) = (0..<sizes.count, sizes.reduce(0, +))
    while size > answer, range.count > 1 {
      if anchor - range.lowerBound > range.upperBound - 1 - anchor {
        size -= sizes[range.lowerBound]
        range = range.dropFirst()
      } else {
        size -= sizes[range.upperBound - 1]
        range = range.dropLast()
      }
    }
    return range
  }
}

extension JSONWriter {
  /// Writes elements as an array until the answer has enough of them.
  ///
  /// - Returns: how many were written.
  mutating func list<T>(_ name: StaticString, fitting elements: [T], _ write: (T, inout JSONWriter) -> Void) -> Int {
    var count = 0
    key(name)
    let end = bytes.count + Budget.answer
    array { json in
      for element in elements where json.bytes.count < end {
        write(element, &json)
        count += 1
      }
    }
    return count
  }

  /// Writes elements as an array until the answer has enough of them, and how many are left out.
  mutating func list<T>(_ name: StaticString, _ elements: [T], _ write: (T, inout JSONWriter) -> Void) {
    let count = list(name, fitting: elements, write)
    if count < elements.count { member("left_out", elements.count - count) }
  }
}
