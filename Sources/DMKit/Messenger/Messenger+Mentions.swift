extension Messenger {
  /// The participants of a conversation whom a text mentions, in the order of the text.
  ///
  /// An `@` begins a mention where no letter or digit stands before it; of the handles that follow it the longest
  /// counts that no letter or digit follows. Letters of scripts without spaces divide words like spaces do.
  func mentions(in text: String, of conversation: Int64, _ store: Store) throws -> [Int64] {
    let at = UInt8(ascii: "@")
    guard text.utf8.contains(at) else { return [] }
    let scalars = Array(text.unicodeScalars)
    var found: [Int64] = []
    for place in scalars.indices where scalars[place] == "@" {
      if place > 0, isWordPart(scalars[place - 1]) { continue }
      if let user = try mentioned(after: place, scalars, conversation, store), !found.contains(user) {
        found.append(user)
      }
    }
    return found
  }

  private func mentioned(
    after place: Int, _ scalars: [Unicode.Scalar], _ conversation: Int64, _ store: Store
  ) throws -> Int64? {
    var names: [String] = []
    var name = ""
    for scalar in scalars[(place + 1)...] {
      name.unicodeScalars.append(scalar)
      // No handle has such characters or is longer.
      if name.utf8.count > Handle.limit || scalar.properties.isWhitespace || isHidden(scalar) { break }
      names.append(name)
    }
    for (index, name) in names.enumerated().reversed() {
      let next = place + 2 + index
      if next < scalars.count, isWordPart(scalars[next - 1]), isWordPart(scalars[next]) { continue }
      if let user = try store.userKey(name), try store.isParticipant(user, of: conversation) { return user }
    }
    return nil
  }

  /// Whether a character belongs to a word that goes on beside it.
  private func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
    (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "_")
      && !SearchText.standsAlone(scalar)
  }
}
