/// A shell for which there are completions.
enum Shell: String, CaseIterable {
  case bash, zsh, fish
}

/// The completion script of a program: it calls the program with `--complete`, and gives the shell what is printed.
///
/// No script evaluates a candidate, because a title may be `$(reboot)`; the tests type such titles.
func completion(of command: Command, for shell: Shell) -> String {
  let name = command.name
  let function = "_" + name.map { $0 == "-" ? "_" : String($0) }.joined()
  let body =
    switch shell {
    case .bash: bash(name, function)
    case .zsh: zsh(name)
    case .fish: fish(name, function)
    }
  return (shell == .zsh ? "#compdef \(name)\n" : "")
    + "# \(shell.rawValue) completion for \(name); made by 'make generate'\n" + body
}

/// The program quotes the candidates, because bash inserts them as they are.
///
/// It gets the line, because bash takes words apart at colons, and `$2`, which is what bash replaces of the last word.
private func bash(_ name: String, _ function: String) -> String {
  """
  \(function)() {
    local manner=
    COMPREPLY=()
    {
      IFS= read -r manner && mapfile -t COMPREPLY
    } < <(command \(name) --complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
    case $manner in
      parts) compopt -o nospace ;;
      files) compopt -o default ;;
      folders) compopt -o dirnames ;;
    esac
  }
  complete -o nosort -F \(function) \(name)

  """
}

/// `_describe` quotes what it inserts.
private func zsh(_ name: String) -> String {
  """
  local -a lines
  lines=("${(@f)$(command \(name) --complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  local manner=$lines[1]
  shift lines
  case $manner in
    words) _describe -V \(name) lines ;;
    parts) _describe -V \(name) lines -S '' ;;
    files) compset -P '--*='; _files ;;
    folders) compset -P '--*='; _files -/ ;;
  esac

  """
}

/// Fish quotes what it inserts, and adds no space after a colon.
private func fish(_ name: String, _ function: String) -> String {
  """
  function _\(function)
      set -l words (commandline -opc)
      set -l word (commandline -ct)
      set -l lines (command \(name) --complete fish $words[2..-1] "$word" 2>/dev/null)
      switch "$lines[1]"
          case files
              set -l head (string match -r -- '^--[^=]*=' "$word")
              string join -- \\n "$head"(__fish_complete_path (string replace -- "$head" '' "$word"))
          case folders
              __fish_complete_directories "$word"
          case '*'
              string join -- \\n $lines[2..-1]
      end
  end
  complete -c \(name) -f -k -a '(_\(function))'

  """
}
