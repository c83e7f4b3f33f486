internal import DMKit

// Suggestions for error messages; this code runs only after an error.

/// Names, each with the words that other programs use for the same thing.
typealias Synonyms = [(name: String, words: [String])]

/// The name that a user probably meant: the name that has the word as a synonym, else the result of `nearest` for the
/// names, else the name that has a synonym like the word; nil if there is none of them.
func meant(_ word: String, among names: [String], _ synonyms: Synonyms) -> String? {
  if let name = synonym(of: word, among: names, synonyms) ?? nearest(to: word, among: names) { return name }
  // A short word is like too many others.
  let others = word.count < 4 ? [] : synonyms.flatMap(\.words).filter { $0.count >= 4 }
  return nearest(to: word, among: others).flatMap { synonym(of: $0, among: names, synonyms) }
}

private func synonym(of word: String, among names: [String], _ synonyms: Synonyms) -> String? {
  // A name may be followed by an option, such as `react --remove`.
  synonyms.first { $0.words.contains(word) && names.contains(String($0.name.prefix { $0 != " " })) }?.name
}

/// Names of options and actions that destroy something or disable a check; `nearest` never returns them.
private let destructive: Set<String> = [
  "accept-gap", "accept-loss", "delete", "drop", "for-everyone", "force", "forget", "leave", "purge", "remove",
  "revoke", "skip-failed",
]

/// Words that negate a name.
private let negations: Set<String> = [
  "no", "not", "dont", "don't", "never", "without", "hide", "drop", "strip", "omit", "absent", "invisible", "off",
]

/// Whether the words differ only by a prefix such as `un`, or only one of them negates.
///
/// In the second case, the other parts of the two words may differ.
private func isOpposite(_ one: String, _ other: String) -> Bool {
  if ["un", "in", "no"].contains(where: { $0 + one == other || $0 + other == one }) { return true }
  func isNegative(_ word: String) -> Bool {
    word.split(separator: "-").count { negations.contains(String($0)) } % 2 == 1
  }
  return isNegative(one) != isNegative(other)
}

/// The name that begins with the word, if there is exactly one; otherwise the name with the smallest edit distance.
///
/// The distance is at most a third of the word's length, or 1 for a short word. Negations of the word and names that
/// destroy something are never returned.
///
/// - Returns: nil if there is no such name.
package func nearest(to word: String, among all: [String]) -> String? {
  let names = all.filter { !destructive.contains($0) && !isOpposite(word, $0) }
  let longer = names.filter { $0.hasPrefix(word) }
  if let only = longer.first, longer.allSatisfy({ $0 == only }) { return only }
  return names.map { (name: $0, distance: editDistance($0, word)) }
    .filter { $0.distance <= max(1, word.count / 3) && $0.distance < word.count }
    .min { $0.distance < $1.distance }?.name
}

extension Command {
  private static let seeHelp = "; see --help"

  /// The end of an error about a letter that is not an option.
  func hint(for letter: Character) -> String {
    let hint = self.hint(for: String(letter))
    let letters = allOptions.compactMap(\.short).map { "-\($0)" }
    if hint != Self.seeHelp || !letter.isLetter || letters.isEmpty { return hint }
    return "; the letters are \(letters.joined(separator: ", "))\(hint)"
  }

  /// The end of an error about an option that the program does not have.
  func hint(for option: String) -> String {
    let options = allOptions.compactMap(\.long)
    // Synonyms come first: without this, `-m`, a synonym of TEXT, would suggest `--max-size`.
    if let name = synonym(of: option, among: options + operandNames, optionSynonyms) {
      return name.first?.isUppercase == true ? "; write \(name) without an option" : "; did you mean '--\(name)'?"
    }
    if let advice = advice(forOption: option) { return "; \(advice)" }
    return nearest(to: option, among: options).map { "; did you mean '--\($0)'?" } ?? Self.seeHelp
  }

  /// The names of all actions.
  var actionNames: String { subcommands.map(\.name).joined(separator: ", ") }

  /// The words in capitals in the usage, such as `TEXT`.
  var operandNames: [String] {
    (synopsis + subcommands.map(\.operands)).flatMap { line in
      line.utf8.split { !(0x41...0x5A).contains($0) }.map { String(Substring($0)) }
    }
  }
}

/// Words that other programs use for our options, some of them with a value, and for our operands (in capitals).
///
/// Options that destroy something are left out.
///
/// If several rows have the same word, the first row whose name is an option or operand of the program is used.
private let optionSynonyms: Synonyms = [
  ("TEXT", ["message", "body", "msg", "m"]),
  ("QUERY", ["query", "words", "e"]),
  ("EMOJI", ["emoji", "reaction"]),
  ("attach", ["file", "attachment", "image", "a"]),
  ("FILE", ["file", "input", "i"]),
  ("reply-to", ["answer", "in-reply-to", "thread", "r"]),
  ("title", ["name", "subject", "topic"]),
  ("display-name", ["name", "full-name", "real-name"]),
  ("match", ["name", "filter", "search", "grep"]),
  ("bio", ["about", "description"]),
  ("limit all", ["all", "full", "everything", "complete"]),
  ("limit", ["count", "max", "max-count", "number", "lines", "last", "l"]),
  ("newest", ["sort", "reverse", "r"]),
  ("since", ["after", "newer"]),
  ("before", ["until", "till", "older"]),
  ("from", ["sender", "author", "by"]),
  ("in", ["conversation", "chat", "channel", "room"]),
  ("to", ["cc", "recipient", "recipients", "conversation", "chat", "channel", "room"]),
  ("CONVERSATION", ["conversation", "chat", "channel", "room"]),
  ("as", ["user", "me", "u"]),
  ("expires-in", ["ttl", "expire", "expires", "expiry"]),
  ("nonce", ["key", "id", "dedupe", "idempotency-key"]),
  ("follow", ["watch", "live", "stream", "F"]),
  ("output", ["out", "save"]),
  ("store", ["dir", "directory", "database", "db"]),
  ("busy-timeout", ["timeout"]),
  ("json", ["format", "output-format"]),
  ("text", ["human", "pretty"]),
  ("color never", ["no-color", "no-colour", "nocolor", "no-colors", "monochrome"]),
  ("color", ["colour", "colors"]),
  ("quiet", ["silent", "s"]),
]

/// Words that other programs use for our actions; actions that destroy something are left out.
let actionSynonyms: Synonyms = [
  ("create", ["new", "make"]),
  ("add", ["new", "create", "register", "invite"]),
  ("title", ["rename"]),
  ("text", ["edit", "change", "correct"]),
  ("react", ["reaction", "like", "emoji"]),
  ("react --remove", ["unreact", "unlike"]),
  ("list", ["ls", "all", "inbox"]),
  ("send", ["msg", "message", "write", "say", "post", "tell"]),
  ("tail", ["log", "history", "cat", "print", "messages", "follow"]),
  ("chat", ["open", "talk", "ui", "tui", "window"]),
  ("search", ["find", "grep"]),
  ("conversation", ["group", "groups", "room", "channel", "conversations"]),
  ("user", ["users", "contact", "contacts", "people", "person", "me", "profile"]),
  ("edit", ["change", "correct"]),
  ("read", ["mark", "seen"]),
  ("attach", ["file", "upload", "download"]),
  ("show", ["view", "info", "get", "whoami"]),
  ("set", ["profile", "edit", "change"]),
  ("join", ["link", "login"]),
  ("check", ["verify", "fsck"]),
  ("stats", ["status", "info", "size"]),
  ("dump", ["export"]),
  ("restore", ["import", "load"]),
  ("repair", ["fix"]),
]

extension Arguments {
  /// The command line with one word replaced.
  package func retyped(_ word: String, as other: String) -> String { retyped(words.map { $0 == word ? other : $0 }) }

  /// The program's name and these words, quoted for a shell.
  func retyped(_ words: [String]) -> String {
    ([command.name] + words.map(quoted)).joined(separator: " ")
  }

  private func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...: true
      default: "%+,-./:=@_".utf8.contains(byte)
      }
    }
    if isPlain, !word.isEmpty { return word }
    let parts = word.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
    return "'" + parts.map { String(Substring($0)) }.joined(separator: "'\\''") + "'"
  }
}
