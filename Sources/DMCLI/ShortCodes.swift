package import DMKit

/// Whether a word has the form `:thumbsup:`.
package func isShortCode(_ word: String) -> Bool {
  word.utf8.count > 2 && word.utf8.first == UInt8(ascii: ":") && word.utf8.last == UInt8(ascii: ":")
}

/// The emoji of a short code.
///
/// - Throws: `bad_field` for a code that is not in the table.
package func emoji(of word: String) throws(DMError) -> String {
  let name = String(Substring(word.utf8.dropFirst().dropLast()))
  if let row = shortCodes.first(where: { $0.names.contains(name) }) { return row.emoji }
  let near = nearest(to: name, among: shortCodes.flatMap(\.names))
  let hint = near.map { "did you mean ':\($0):'?" } ?? "write the emoji itself, such as 👍"
  throw DMError(.badField, "'\(word)' is not a short code here; \(hint)", subject: "emoji")
}

/// The short codes of common reactions, as GitHub names them (github.com/github/gemoji).
package let shortCodes: [(emoji: String, names: [String])] = [
  ("👍", ["+1", "thumbsup"]), ("👎", ["-1", "thumbsdown"]), ("❤️", ["heart"]), ("💔", ["broken_heart"]),
  ("😂", ["joy"]), ("🤣", ["rofl"]), ("😄", ["smile"]), ("😁", ["grin"]), ("😆", ["laughing"]), ("😉", ["wink"]),
  ("🙂", ["slightly_smiling_face"]), ("😅", ["sweat_smile"]), ("😍", ["heart_eyes"]), ("😎", ["sunglasses"]),
  ("🥳", ["partying_face"]), ("🫡", ["saluting_face"]), ("🤗", ["hugs"]), ("🤔", ["thinking"]),
  ("😮", ["open_mouth"]), ("😱", ["scream"]), ("😢", ["cry"]), ("😭", ["sob"]), ("😠", ["angry"]),
  ("🤦", ["facepalm"]), ("🤷", ["shrug"]), ("👏", ["clap"]), ("🙏", ["pray"]), ("👌", ["ok_hand"]),
  ("👋", ["wave"]), ("🙌", ["raised_hands"]), ("💪", ["muscle"]), ("👀", ["eyes"]), ("🎉", ["tada"]),
  ("🚀", ["rocket"]), ("🔥", ["fire"]), ("💯", ["100"]), ("✨", ["sparkles"]), ("⭐", ["star"]), ("💡", ["bulb"]),
  ("🐛", ["bug"]), ("✅", ["white_check_mark"]), ("❌", ["x"]), ("⚠️", ["warning"]), ("❓", ["question"]),
  ("❗", ["exclamation"]), ("☕", ["coffee"]), ("🍻", ["beers"]), ("🍰", ["cake"]),
]
