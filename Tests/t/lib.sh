# What the scripts share. Each runs in a store and a folder of its own; the programs are found by PATH.
# Made for prove(1); a plain 'sh 0300-send.t' prints the same.

set -u
unset DM_USER XDG_DATA_HOME VISUAL EDITOR
export LC_ALL=C.UTF-8 TZ=UTC

count=0
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/dm-t-XXXXXX") || exit 1
export DM_STORE="$work/store"
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
