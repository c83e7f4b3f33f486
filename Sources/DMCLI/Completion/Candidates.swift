internal import DMKit
internal import DMSystem

/// A word that may complete the word that the user has typed.
struct Candidate {
  let value: String
  /// A short description, for the shells that show it.
  var meaning = ""
}

/// A shell for which there are completions.
enum Shell: String, CaseIterable {
  case bash, zsh, fish
}

/// How a shell uses the candidates.
///
/// The raw value is the first line that `--complete` prints.
enum Manner: String {
  /// Each candidate is a whole word; the shell adds a space.
  case words
  /// A candidate is the start of a word, such as `bob:` or one item of a list; the shell adds no space.
  case parts
  /// The shell itself completes names of files or of folders.
  case files, folders
}

/// The output of `--complete`: a line with the `Manner`, and a line for each candidate, for zsh and fish with the
/// description of the candidate.
///
/// A failure gives no candidates and no error message, because the user is still typing.
///
/// - Parameter program: a function that takes the words after the program's name, and returns the command that they
///   select and the words after that command's name.
func candidates(
  for shell: Shell, _ words: ArraySlice<String>, _ program: ([String]) -> (command: Command, words: [String])
) -> String {
  let first = words[words.startIndex]
  let line = shell == .bash ? ShellLine(first) : nil
  var typed = line.map { Array($0.words.dropFirst()) } ?? Array(words)
  // Fish passes the word at the cursor with its quotes.
  if shell == .fish { typed[typed.count - 1] = ShellLine(typed[typed.count - 1]).words[0] }
  guard !typed.isEmpty else { return "" }
  let (command, meant) = program(typed)
  let completion = Completion(meant, of: command)
  let found = completion.candidates()
  var text = completion.manner.rawValue + "\n"
  for candidate in found {
    switch shell {
    case .bash:
      guard candidate.value.utf8.starts(with: completion.last.utf8), words.count == 2,
        let insertion = line?.insertion(of: candidate.value, replacing: words[words.startIndex + 1])
      else { continue }
      text += insertion + "\n"
    case .zsh:
      let value = escaped(candidate.value, ":\\")
      text += candidate.meaning.isEmpty ? "\(value)\n" : "\(value):\(escaped(candidate.meaning, "\\"))\n"
    case .fish: text += "\(candidate.value)\t\(candidate.meaning)\n"
    }
  }
  return text
}

private func escaped(_ text: String, _ signs: String) -> String {
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    if signs.unicodeScalars.contains(scalar) { result.append("\\") }
    result.append(scalar)
  }
  return String(result)
}

/// The completion of the last word of a command line.
final class Completion {
  private let command: Command
  private let arguments: Arguments
  /// The last word, which is the word to complete.
  let last: String
  private(set) var manner = Manner.words
  /// The part of the last word before the value, such as `--as=`.
  private let head: String
  private let completed: [Completed]
  private let listsOptions: Bool
  private let store: StoreCandidates

  init(_ words: [String], of command: Command) {
    self.command = command
    last = words.last ?? ""
    let before = words.dropLast().map(Completion.withHome)
    arguments = Arguments(unfinished: before, for: command)
    store = StoreCandidates(Invocation(command, arguments))
    let isOption = last.utf8.first == UInt8(ascii: "-") && !before.contains("--")
    if let option = arguments.unfinished {
      (head, completed, listsOptions) = ("", option.completed, false)
    } else if isOption, let equals = last.utf8.firstIndex(of: UInt8(ascii: "=")) {
      let name = String(last[...equals])
      let option = command.allOptions.first { "\($0.spelling)=" == name }
      (head, completed, listsOptions) = (name, option?.completed ?? [], false)
    } else {
      (head, completed, listsOptions) = ("", isOption ? [] : Completion.operand(of: command, arguments), isOption)
    }
  }

  /// Expands `~/` at the start of a word, because shells expand it only in commands that they run, not in commands that
  /// they complete.
  private static func withHome(_ word: String) -> String {
    do {
      guard word.utf8.starts(with: "~/".utf8), let home = try environment("HOME") else { return word }
      return home + word.dropFirst()
    } catch {
      return word
    }
  }

  private static func operand(of command: Command, _ arguments: Arguments) -> [Completed] {
    if !command.subcommands.isEmpty, arguments.action == nil { return arguments.operands.isEmpty ? [.actions] : [] }
    return Completed.all(ofOperand: arguments.operands.count, in: arguments.placeholders)
  }

  func candidates() -> [Candidate] {
    if listsOptions { return options() }
    var seen: Set<String> = []
    return completed.flatMap { candidates(of: $0) }.filter { seen.insert($0.value).inserted }.map {
      Candidate(value: head + $0.value, meaning: $0.meaning)
    }
  }

  /// The options that can be typed with the action: its own, those of the program and those of all programs.
  ///
  /// A long and a short name are two candidates.
  private func options() -> [Candidate] {
    ((command.options + (arguments.action?.options ?? [])).map(\.declaration) + command.offered).flatMap { option in
      [option.long.map { "--\($0)" }, option.short.map { "-\($0)" }].compactMap(\.self).map {
        Candidate(value: $0, meaning: option.help)
      }
    }
  }

  private func candidates(of kind: Completed) -> [Candidate] {
    let typed = String(Substring(last.utf8.dropFirst(head.utf8.count)))
    switch kind {
    case .words(let words): return words.map { Candidate(value: $0) }
    case .list(let words): return list(words, typed)
    case .actions: return command.subcommands.map { Candidate(value: $0.name, meaning: $0.summary) }
    case .conversations: return store.conversations(typed)
    case .people: return store.people(typed)
    case .consumers: return store.consumers()
    case .numbers: return store.messages(typed)
    case .messages:
      let messages = store.messages(typed)
      if !messages.isEmpty { return messages }
      let conversations = store.conversations(typed)
      if !conversations.isEmpty { manner = .parts }
      return conversations.map { Candidate(value: "\($0.value):", meaning: $0.meaning) }
    case .emoji:
      // The message may also precede the emoji, as in `bob:57 👍`.
      if !typed.isEmpty, typed.utf8.first != UInt8(ascii: ":") { return candidates(of: .messages) }
      return shortCodes.flatMap { row in row.names.map { Candidate(value: ":\($0):", meaning: row.emoji) } }
    case .files: manner = .files
    case .folders: manner = .folders
    }
    return []
  }

  /// The typed list, which has commas between its words, continued with each word that it does not contain yet.
  private func list(_ words: [String], _ typed: String) -> [Candidate] {
    manner = .parts
    let there = typed.split(separator: ",", omittingEmptySubsequences: false).dropLast()
    let head = there.map { "\($0)," }.joined()
    return words.filter { !there.contains(Substring($0)) }.map { Candidate(value: head + $0) }
  }
}
