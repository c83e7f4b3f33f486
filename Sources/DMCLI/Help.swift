/// The text of `--help`: usage, options and examples.
///
/// Only the help of `dm` explains the common options; the others name them.
func help(of command: Command) -> String {
  var text = "\(command.name) - \(command.summary)\n\nUsage:\n"
  for synopsis in command.synopsis { text += "  \(command.name)\(synopsis.isEmpty ? "" : " " + synopsis)\n" }
  if !command.subcommands.isEmpty { text += "\nActions:\n" + actions(of: command) }
  if !command.options.isEmpty {
    text += "\nOptions:\n"
    for option in command.options.map(\.declaration) { text += row(left(of: option), option.help) }
  }
  for topic in command.topics {
    text += "\n\(topic.title):\n"
    for line in topic.rows { text += row(line.left, line.right) }
  }
  if command.name == "dm" {
    text += "\nCommon options, explained in dm(7):\n"
    for option in command.offered { text += row(left(of: option), option.help) }
  } else {
    text += "\nCommon options, explained in dm(7) and 'dm --help':\n"
    text += wrapped(command.offered.map { option in option.short.map { "-\($0)" } ?? option.spelling }, indent: 2)
  }
  text += "\nExamples:\n"
  for example in command.examples { text += "  # \(example.meaning)\n  \(example.call)\n" }
  return text
}

/// A row for each action and for each of its options.
///
/// If an action has three or more options of an earlier action, they are only named.
private func actions(of command: Command) -> String {
  var text = ""
  for (index, sub) in command.subcommands.enumerated() {
    text += row("\(sub.name)\(sub.operands.isEmpty ? "" : " " + sub.operands)", sub.summary)
    var options = sub.options.map(\.declaration)
    let earlier = command.subcommands[..<index].first { shared(options, $0).count >= 3 }
    let named = earlier.map { shared(options, $0) } ?? []
    options.removeAll { option in named.contains { $0.name == option.name } }
    for option in options { text += row("    " + left(of: option).drop(while: { $0 == " " }), option.help) }
    if let earlier {
      text += row("    as with \(earlier.name):", "") + wrapped(named.map(\.spelling), indent: 28)
    }
  }
  return text
}

private func shared(_ options: [Declaration], _ sub: Command.Subcommand) -> [Declaration] {
  let others = sub.options.map(\.declaration)
  return options.filter { option in others.contains { $0.name == option.name && $0.help == option.help } }
}

/// Words with commas between them, in lines of at most 100 columns.
private func wrapped(_ words: [String], indent: Int) -> String {
  let margin = String(repeating: " ", count: indent)
  var lines = [margin]
  for (index, word) in words.enumerated() {
    let piece = word + (index + 1 < words.count ? "," : "")
    if lines[lines.count - 1].count + 1 + piece.count > 100 { lines.append(margin) }
    lines[lines.count - 1] += (lines[lines.count - 1] == margin ? "" : " ") + piece
  }
  return lines.map { $0 + "\n" }.joined()
}

private func left(of option: Declaration) -> String {
  let short = option.short.map { "-\($0)" }
  let long = option.long.map { "--\($0)" }
  let names: String
  switch (short, long) {
  case (let short?, let long?): names = "\(short), \(long)"
  case (let short?, nil): names = short
  default: names = "    \(long ?? "")"
  }
  return option.value.map { "\(names) \($0)" } ?? names
}

private func row(_ left: String, _ right: String) -> String {
  let width = 26
  if right.isEmpty { return "  \(left)\n" }
  if left.count >= width { return "  \(left)\n  \(String(repeating: " ", count: width))\(right)\n" }
  return "  \(left)\(String(repeating: " ", count: width - left.count))\(right)\n"
}
