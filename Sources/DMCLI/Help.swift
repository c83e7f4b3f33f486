/// The text of `--help`: usage, options and examples.
func help(of command: Command) -> String {
  var text = "\(command.name) - \(command.summary)\n\nUsage:\n"
  for synopsis in command.synopsis { text += "  \(command.name) \(synopsis)\n" }
  if !command.subcommands.isEmpty {
    text += "\nActions:\n"
    for sub in command.subcommands {
      text += row("\(sub.name)\(sub.operands.isEmpty ? "" : " " + sub.operands)", sub.summary)
      for option in sub.options.map(\.declaration) {
        text += row("    " + left(of: option).drop(while: { $0 == " " }), option.help)
      }
    }
  }
  if !command.options.isEmpty {
    text += "\nOptions:\n"
    for option in command.options.map(\.declaration) { text += row(left(of: option), option.help) }
  }
  text += "\nCommon options, explained in dm(7):\n"
  for option in command.common { text += row(left(of: option), option.help) }
  text += "\nExamples:\n"
  for example in command.examples { text += "  # \(example.meaning)\n  \(example.call)\n" }
  return text
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
  if left.count >= width { return "  \(left)\n  \(String(repeating: " ", count: width))\(right)\n" }
  return "  \(left)\(String(repeating: " ", count: width - left.count))\(right)\n"
}
