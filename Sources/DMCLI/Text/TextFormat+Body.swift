internal import DMKit

/// The texts of messages, with links and mentions.
extension TextFormat {
  /// The text of a message: addresses are links, and mentions of the reader stand out.
  static func body(of message: Message, _ people: People) -> String {
    let text = visible(message.text ?? "", indent: margin)
    return Mark.body(highlighted(linked(text), message, people))
  }

  /// A text in which the mentions of the reader stand out.
  static func highlighted(_ text: String, _ message: Message, _ people: People) -> String {
    guard message.mentions.contains(people.me) else { return text }
    let mention = "@" + visible(people.me.description)
    var (result, rest) = ("", text[...])
    while let found = rest.range(of: mention) {
      let around = [rest[..<found.lowerBound].unicodeScalars.last, rest[found.upperBound...].unicodeScalars.first]
      let isWhole = !around.compactMap(\.self).contains(where: isWordPart)
      result += rest[..<found.lowerBound] + (isWhole ? Mark.mention(mention) : mention)
      rest = rest[found.upperBound...]
    }
    return result + rest
  }

  /// A text in which the addresses of web pages are links.
  ///
  /// A link shows its whole address, so no text can lead elsewhere than it says.
  static func linked(_ text: String) -> String {
    var (result, end) = ("", text.startIndex)
    for range in addresses(in: text) {
      result += text[end..<range.lowerBound]
      result += Mark.link(String(text[range]), to: escaped(text[range]))
      end = range.upperBound
    }
    return end == text.startIndex ? text : result + text[end...]
  }

  /// The addresses of web pages in a text that `visible` has escaped, in their order.
  package static func addresses(in text: String) -> [Range<String.Index>] {
    // Most texts have no colon, for which one look at each byte is enough.
    let hasColon = text.utf8.withContiguousStorageIfAvailable { $0.contains(UInt8(ascii: ":")) }
    guard hasColon ?? true, text.contains(text: "://") else { return [] }
    var (found, rest) = ([Range<String.Index>](), text[...])
    while let start = nextAddress(in: rest) {
      let address = address(rest[start...])
      found.append(address.startIndex..<address.endIndex)
      rest = rest[address.endIndex...]
    }
    return found
  }

  /// An address whose characters beyond ASCII are percent-encoded.
  package static func escaped(_ address: Substring) -> String {
    address.utf8.map { byte in
      byte < 0x80 ? String(Unicode.Scalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
    }.joined()
  }

  /// The start of the next address that begins a word; nil if there is none.
  private static func nextAddress(in text: Substring) -> Substring.Index? {
    var rest = text
    while let found = rest.range(of: "://") {
      for scheme in ["https", "http"]
      where text[..<found.lowerBound].utf8.reversed().starts(with: scheme.utf8.reversed()) {
        let start = text.utf8.index(found.lowerBound, offsetBy: -scheme.utf8.count)
        let hasHost = text[found.upperBound...].unicodeScalars.first.map { isWordPart($0) || $0 == "[" } ?? false
        if hasHost, text[..<start].unicodeScalars.last.map(isWordPart) != true { return start }
      }
      rest = rest[found.upperBound...]
    }
    return nil
  }

  /// An address at the beginning of a text: up to white space, an escape of `visible`, or a bracket or quotation mark that
  /// ends it, and without the punctuation of the sentence around it.
  ///
  /// Compares scalars, because a `>` with a combining mark or a joiner is another Character.
  private static func address(_ text: Substring) -> Substring {
    var depth = 0
    var address = text.unicodeScalars.prefix { scalar in
      if scalar == "(" { depth += 1 }
      if scalar == ")" { depth -= 1 }
      return depth >= 0 && !scalar.properties.isWhitespace && !"\\<>\"'`".unicodeScalars.contains(scalar)
    }
    while let last = address.last, ".,;:!?*_~".unicodeScalars.contains(last) { address.removeLast() }
    return Substring(address)
  }
}
