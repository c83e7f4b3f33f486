/// A shell for which there are completions.
enum Shell: String, CaseIterable {
  case bash, zsh, fish
}

/// The completion script of a program, with its options, their values, and its actions.
func completion(of command: Command, for shell: Shell) -> String {
  switch shell {
  case .bash: bash(command)
  case .zsh: zsh(command)
  case .fish: fish(command)
  }
}

private func spellings(_ option: Declaration) -> [String] {
  (option.short.map { ["-\($0)"] } ?? []) + (option.long.map { ["--\($0)"] } ?? [])
}

private func bash(_ command: Command) -> String {
  let function = "_" + command.name.map { $0 == "-" ? "_" : String($0) }.joined()
  let options = command.allOptions.flatMap(spellings).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
  var cases = ""
  for option in command.allOptions where option.value != nil {
    let reply: String
    switch option.values {
    case .any: reply = "COMPREPLY=()"
    case .folders: reply = "COMPREPLY=($(compgen -d -- \"$word\"))"
    case .words(let words): reply = "COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$word\"))"
    }
    cases += "    \(spellings(option).joined(separator: "|"))) \(reply); return ;;\n"
  }
  let actions = command.subcommands.map(\.name).joined(separator: " ")
  return """
    # bash completion for \(command.name); made by 'make generate'
    \(function)() {
      local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
      case $before in
    \(cases)  esac
      case $word in
        -*) COMPREPLY=($(compgen -W '\(options.joined(separator: " "))' -- "$word")) ;;
        *) COMPREPLY=($(compgen -W '\(actions)' -- "$word")) ;;
      esac
    }
    complete -o default -F \(function) \(command.name)

    """
}

private func zsh(_ command: Command) -> String {
  func quoted(_ text: String) -> String {
    text.map { c in c == "'" ? "'\\''" : "[]:\\".contains(c) ? "\\\(c)" : String(c) }.joined()
  }
  var lines: [String] = []
  var seen: Set<String> = []
  for option in command.allOptions where seen.insert(option.name).inserted {
    let names = spellings(option)
    var value = ""
    if let placeholder = option.value {
      switch option.values {
      case .any: value = ":\(placeholder):"
      case .folders: value = ":\(placeholder):_directories"
      case .words(let words): value = ":\(placeholder):(\(words.joined(separator: " ")))"
      }
    }
    let spelled =
      names.count > 1 ? "'(\(names.joined(separator: " ")))'{\(names.joined(separator: ","))}'" : "'\(names[0])"
    lines.append("  \(spelled)[\(quoted(option.help))]\(value)'")
  }
  if !command.subcommands.isEmpty {
    let actions = command.subcommands.map { "\($0.name)\\:\"\(quoted($0.summary))\"" }.joined(separator: " ")
    lines.append("  '1:action:((\(actions)))'")
  }
  lines.append("  '*:operand:_files'")
  return """
    #compdef \(command.name)
    # zsh completion for \(command.name); made by 'make generate'
    _arguments -s -S \\
    \(lines.joined(separator: " \\\n"))

    """
}

private func fish(_ command: Command) -> String {
  func quoted(_ text: String) -> String { text.map { "'\\".contains($0) ? "\\\($0)" : String($0) }.joined() }
  var text = "# fish completion for \(command.name); made by 'make generate'\n"
  var seen: Set<String> = []
  for option in command.allOptions where seen.insert(option.name).inserted {
    text += "complete -c \(command.name)"
    if let short = option.short { text += " -s \(short)" }
    if let long = option.long { text += " -l \(long)" }
    if option.value != nil {
      switch option.values {
      case .any: text += " -x"
      case .folders: text += " -x -a '(__fish_complete_directories)'"
      case .words(let words): text += " -x -a '\(words.joined(separator: " "))'"
      }
    }
    text += " -d '\(quoted(option.help))'\n"
  }
  for sub in command.subcommands {
    text += "complete -c \(command.name) -n __fish_use_subcommand -x -a \(sub.name) -d '\(quoted(sub.summary))'\n"
  }
  return text
}
