extension Attachment {
  /// The maximum number of bytes of a name, the same as in most file systems.
  package static let nameLimit = 255

  /// Makes any name safe to use as a file name.
  ///
  /// Keeps only the last component of a path. Removes control, direction and tag characters, leading dashes, dots and
  /// spaces, and trailing spaces. Shortens the part before the extension until the name has at most 255 bytes. The
  /// result is `file` if nothing is left.
  package static func safeName(_ name: String) -> String {
    let last = name.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
    var scalars = String.UnicodeScalarView(
      last.unicodeScalars.filter { !isHidden($0) && !isTag($0) })
    while let first = scalars.first, "-. ".unicodeScalars.contains(first) { scalars.removeFirst() }
    while scalars.last == " " { scalars.removeLast() }
    guard !scalars.isEmpty else { return "file" }
    let text = String(scalars)
    if text.utf8.count <= nameLimit { return text }
    let ending = fileExtension(of: text).map { ".\($0)" } ?? ""
    return beginning(of: text, bytes: nameLimit - ending.utf8.count) + ending
  }

  /// The part of a name after its last dot; nil if this part is not 1 to 16 ASCII letters and digits, or if the name
  /// begins with that dot.
  package static func fileExtension(of name: String) -> String? {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.utf8.startIndex else { return nil }
    let ending = name.utf8[name.utf8.index(after: dot)...]
    guard (1...16).contains(ending.count), ending.allSatisfy(isAlphanumeric) else { return nil }
    return String(Substring(ending))
  }

  /// The name with its extension replaced, or with the extension added if the name had none, in at most 255 bytes.
  package static func name(_ name: String, withExtension ending: String) -> String {
    self.name(name, endingIn: ".\(ending)")
  }

  /// The name with a dash and a number before its extension, in at most 255 bytes.
  package static func name(_ name: String, numbered number: Int) -> String {
    self.name(name, endingIn: "-\(number)" + (fileExtension(of: name).map { ".\($0)" } ?? ""))
  }

  private static func name(_ name: String, endingIn ending: String) -> String {
    let old = fileExtension(of: name).map { $0.utf8.count + 1 } ?? 0
    return beginning(of: name, bytes: min(name.utf8.count - old, nameLimit - ending.utf8.count)) + ending
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }
}
