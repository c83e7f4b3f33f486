internal import DMJSON
internal import DMModel

/// The lines of JSON in an answer of a model.
struct AnswerLines {
  let objects: [JSONObject]

  /// Reads an answer strictly: each line is an object, but lines of three backticks around them are allowed.
  init(_ bytes: [UInt8]) throws(UnusableAnswer) {
    var objects: [JSONObject] = []
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      if Self.isFence(line) || line.isBlank { continue }
      do {
        objects.append(try JSONReader.object(line))
      } catch {
        throw UnusableAnswer("line \(index + 1) is not a JSON object")
      }
    }
    self.objects = objects
  }

  /// Whether a line has three backticks, and after them at most the name of a language.
  private static func isFence(_ line: ArraySlice<UInt8>) -> Bool {
    line.starts(with: "```".utf8)
      && line.dropFirst(3).allSatisfy { 0x61...0x7A ~= $0 | 0x20 || $0 == 13 || $0 == 32 }
  }
}

extension Sequence<UInt8> {
  /// Whether there is nothing but spaces and line ends.
  var isBlank: Bool { allSatisfy { $0 == 32 || 9...13 ~= $0 } }
}

extension JSONObject {
  /// A text that must be there.
  func required(_ name: String) throws(UnusableAnswer) -> String {
    guard let text = text(name), !text.isEmpty else { throw UnusableAnswer("an object lacks '\(name)'") }
    return text
  }

  /// A text that may be there; null counts as absent.
  func optional(_ name: String) throws(UnusableAnswer) -> String? {
    switch self[name] {
    case nil, .null: return nil
    case .string(let text): return text.isEmpty ? nil : text
    default: throw UnusableAnswer("'\(name)' of an object is not a text")
    }
  }

  /// The value of a text that is one of a list of words.
  func word<Word: RawRepresentable<String>>(_ text: String, _ name: String) throws(UnusableAnswer) -> Word {
    guard let word = Word(rawValue: text) else {
      throw UnusableAnswer("'\(name)' of an object is not one of its words")
    }
    return word
  }

  /// A list of texts, at least one.
  func list(_ name: String) throws(UnusableAnswer) -> [String] {
    guard case .array(let values)? = self[name], !values.isEmpty else {
      throw UnusableAnswer("'\(name)' of an object is not a list with an element")
    }
    var texts: [String] = []
    for value in values {
      guard case .string(let text) = value else {
        throw UnusableAnswer("'\(name)' of an object has an element that is not a text")
      }
      texts.append(text)
    }
    return texts
  }
}
