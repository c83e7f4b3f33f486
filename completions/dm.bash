# bash completion for the programs of dm; bash loads it under the name of each.
#
# The program quotes the candidates, because bash inserts them as they are. It gets the line, because bash takes words apart
# at colons, and $2, which is what bash replaces of the last word.
_dm() {
  local manner=
  COMPREPLY=()
  {
    IFS= read -r manner && mapfile -t COMPREPLY
  } < <(command "${1##*/}" --complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
  case $manner in
    parts) compopt -o nospace ;;
    files) compopt -o default ;;
    folders) compopt -o dirnames ;;
  esac
}
complete -o nosort -F _dm dm dm-attach dm-chat dm-conversation dm-doctor dm-edit dm-hub dm-import dm-list dm-mcp dm-read \
  dm-search dm-send dm-sync dm-tail dm-typing dm-user
