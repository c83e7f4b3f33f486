# What the scripts share. Each runs in a store and a folder of its own; the programs are found by PATH.
# Made for prove(1); a plain 'sh 0300-send.t' prints the same.

set -u
unset DM_USER DM_PIPE XDG_DATA_HOME VISUAL EDITOR NO_COLOR CLICOLOR_FORCE DM_THEME COLUMNS
export LC_ALL=C.UTF-8 TZ=UTC

count=0
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/dm-t-XXXXXX") || exit 1
# The configuration file of the person who runs the tests must not count.
export DM_STORE="$work/store" XDG_CONFIG_HOME="$work/config"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# ok NAME COMMAND...: the command succeeds.
ok() {
  name=$1
  shift
  if "$@" >"$work/.out" 2>"$work/.err"; then _pass "$name"; else _fail "$name" "status $?: $(cat "$work/.err")"; fi
}

# is GOT WANTED NAME
is() {
  if [ "$1" = "$2" ]; then _pass "$3"; else _fail "$3" "got:    $1" "wanted: $2"; fi
}

# like GOT PATTERN NAME, with a pattern of case.
like() {
  # shellcheck disable=SC2254
  case $1 in $2) _pass "$3" ;; *) _fail "$3" "got:  $1" "like: $2" ;; esac
}

# exits STATUS NAME COMMAND...: its status; what it printed is in $out and $err.
exits() {
  wanted=$1 name=$2
  shift 2
  "$@" >"$work/.out" 2>"$work/.err"
  status=$?
  out=$(cat "$work/.out")
  err=$(cat "$work/.err")
  if [ $status -eq "$wanted" ]; then _pass "$name"; else _fail "$name" "exit $status, wanted $wanted: $err"; fi
}

# follow COMMAND...: it runs beside the script, 90 s at the most; 'line' reads what it prints.
follow() {
  rm -f "$work/lines"
  mkfifo "$work/lines"
  timeout 90 "$@" >"$work/lines" 2>"$work/follow.err" 3<&- &
  follower=$!
  exec 3<"$work/lines"
}

# line [FILTER]: the follower's next line, by jq; waits for it.
line() {
  IFS= read -r line <&3 && printf '%s\n' "$line" | jq -rc "${1:-.}"
}

# leave [SIGNAL]: ends the follower and whatever it runs.
leave() {
  kill -"${1:-TERM}" -"$follower"
  wait "$follower" 2>/dev/null
  exec 3<&-
}

# tree PID: that process and all that it has started.
tree() {
  echo "$1"
  for _child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do tree "$_child"; done
}

# first PATTERN COMMAND...: the first line that has it, of a command that follows; waits for it, and ends the command.
first() {
  pattern=$1
  shift
  rm -f "$work/first"
  mkfifo "$work/first"
  timeout 60 "$@" >"$work/first" 3<&- &
  grep -m 1 -e "$pattern" "$work/first"
  set -- $? "$!"
  kill -- "-$2" 2>/dev/null
  wait "$2" 2>/dev/null
  return "$1"
}

# seen PATTERN: sets 'shown' to what the terminal shows, when that fits a pattern of case; fails after half a minute. The
# terminal is that of tmux with the socket 'server', which leaves out spaces at the ends of lines.
seen() {
  tries=0
  while shown=$(tmux -L "$server" capture-pane "-p${attributes-e}"); do
    # shellcheck disable=SC2254
    case $shown in $1) return ;; esac
    tries=$((tries + 1))
    [ $tries -lt 2000 ] || break
    # A look costs more than what a program does to draw.
    sleep 0.01
  done
  _fail "the terminal shows $1" "shown: $shown"
}

done_testing() {
  echo "1..$count"
  [ $failed -eq 0 ]
}

_pass() {
  count=$((count + 1))
  echo "ok $count - $1"
}

_fail() {
  count=$((count + 1))
  failed=$((failed + 1))
  echo "not ok $count - $1"
  shift
  for line; do printf '%s\n' "$line" | sed 's/^/#   /'; done
}

# The people of most scripts.
people() {
  for user in alice bob carol; do dm-user --as alice add "$user" >/dev/null || exit 1; done
}
