#!/bin/sh
# Paging at random through a long conversation: the window always has a part of what dm-tail prints.
# shellcheck disable=SC2154 # 'shown' is set by 'seen'.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/windows.sh"
# The screen is read without attributes, because /go shows its message in reverse.
attributes=
export HOME="$work" TERM=xterm-256color NO_COLOR=1 TZ=UTC

dm-user add alice --as alice -q
dm-user add bob --as alice -q
# Texts of one to six rows, a few each day.
awk 'BEGIN {
  srand(7)
  time = 1700000000
  for (n = 1; n <= 2500; n++) {
    time += 1 + int(rand() * rand() * 40000)
    words = ""
    for (w = int(rand() * rand() * 30); w >= 0; w--) words = words (w % 9 ? " word" w : " 你好")
    printf "{\"conversation\":\"+old\",\"sender\":\"%s\",\"text\":\"n%d%s\",\"created_at\":%d}\n", n % 7 ? "alice" : "bob", n, words, time
  }
}' | jq -c '.created_at |= todate' | dm-import --as alice -q
dm-read --as bob +old --all -q
script -qec 'stty rows 24 cols 40; PAGER=cat dm-tail --as bob +old -n all --peek' /dev/null </dev/null | tr -d '\r' >"$work/all"
total=$(wc -l <"$work/all")

height=10
window b 40 $((height + 2)) 'dm-chat --as bob +old'
seen '*n2500*-- +old --*'
like "$shown" '*n2500*-- +old --*' "the end of $total rows"

# part ROW: the rows that the window has if its first one is that.
part() { sed -n "$1,$(($1 + height - 1))p" "$work/all"; }

row=$((total - height + 1))
wrong=0
# step KEY ROW: presses a key, after which that row is the first one.
step() {
  keys b "$1"
  row=$2
  [ "$row" -ge 1 ] || row=1
  [ "$row" -le $((total - height + 1)) ] || row=$((total - height + 1))
  seen "$(part "$row")
-- +old*"
  case $shown in
    "$(part "$row")
-- +old"*) ;;
    *)
      wrong=$((wrong + 1))
      echo "after $1, row $row: $shown" | sed 's/^/# /'
      ;;
  esac
}

# Back to the beginning, which is more than is kept in memory, and on for as long.
while [ "$row" -gt 1 ]; do step PPage $((row - height + 1)); done
is $wrong 0 'back to the beginning, page by page'
wrong=0
while [ "$row" -lt $((total - height + 1)) ]; do step NPage $((row + height - 1)); done
is $wrong 0 'and on to the end'

# Jumps, and some pages from there.
wrong=0
for jump in $(awk 'BEGIN { srand(11); for (n = 0; n < 40; n++) print int(1 + rand() * 2500) ":" int(rand() * 7 - 3) }'); do
  number=${jump%:*}
  pages=${jump#*:}
  text b "/go $number"
  seen "*> /go $number"
  keys b Enter
  # The line is empty again when the message is shown, of which the window may have the end alone.
  seen '*-- +old*>'
  first=$(printf '%s\n' "$shown" | sed -n '/^[0-9][0-9]:/{p;q;}')
  row=$(grep -nFx -- "$first" "$work/all" | cut -d: -f1)
  row=$((row + 1 - $(printf '%s\n' "$shown" | grep -nFx -- "$first" | cut -d: -f1)))
  step Left "$row"
  while [ "$pages" -gt 0 ]; do
    step NPage $((row + height - 1))
    pages=$((pages - 1))
  done
  while [ "$pages" -lt 0 ]; do
    step PPage $((row - height + 1))
    pages=$((pages + 1))
  done
done
is $wrong 0 'jumps to messages, and pages back and on from there'
keys b C-d
seen '*\$'
tmux -L "$$-b" kill-server
done_testing
