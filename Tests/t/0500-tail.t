#!/bin/sh
# The messages: which, in which order, and what is marked by looking.
. "$(dirname "$0")/lib.sh"
people
seq 1 50 | dm-send -q --as alice --lines bob
export DM_USER=bob
seqs() { dm-tail --peek "$@" | jq -r .seq | tr '\n' ' '; }

is "$(seqs alice)" "$(seq 21 50 | tr '\n' ' ')" "the newest 30, oldest first"
is "$(seqs alice -n 3)" "48 49 50 " "-n"
is "$(seqs alice --limit 3)" "48 49 50 " "which is also --limit"
is "$(seqs alice -n 0)" "" "-n 0"
is "$(seqs alice -n all | wc -w)" 50 "-n all"
is "$(seqs alice 7)" "7 " "a number"
is "$(seqs alice:7)" "7 " "with a colon"
is "$(seqs alice 3..5 9 ..2)" "1 2 3 4 5 9 " "ranges"
is "$(seqs alice 48..)" "48 49 50 " "without an end"
is "$(seqs alice -- -2..)" "49 50 " "from the end"
is "$(seqs alice:-1)" "50 " "the last"
is "$(seqs alice 60..70)" "" "of nothing"
is "$(seqs alice --before 10 -n 3)" "7 8 9 " "the page before a message"
is "$(seqs alice --since 48)" "48 49 50 " "from a message on"
is "$(seqs alice --since 3 --before 6)" "3 4 5 " "between two"
is "$(seqs alice --since 1h | wc -w)" 50 "since an hour ago"
is "$(seqs alice --before 1h)" "" "before that"
time=$(dm-tail --peek alice 40 | jq -r .created_at)
is "$(seqs alice --since "$time" --before 43)" "40 41 42 " "since a time"
is "$(seqs --since alice:49)" "49 50 " "of all conversations"
# Whatever the clock says now, a whole day holds all of it.
is "$(seqs alice --since "$(date -u +%FT00:00:00Z)" | wc -w)" 50 "since midnight, with a zone"
for bound in 00:01 2026-11-21T14:30 2001-01-01T00:00:00+05:30; do
  ok "a bound is a time when it is shaped like one: $bound" dm-tail --peek alice --since "$bound"
done
id=$(dm-tail --peek alice:7 | jq -r .id)
is "$(seqs "$id")" "7 " "a message by its id"
is "$(seqs "dm:$id" "$(dm-tail --peek alice:9 | jq -r .id)")" "7 9 " "several, also as dm:UUID"
exits 64 "an option for conversations beside a message" dm-tail "$id" -n 3
exits 64 "--with knows readers" dm-tail alice --with writers
is "$(dm-tail --peek "$(dm-tail --peek alice:7 | jq -r .ref)" | jq -r .seq)" 7 "a ref is a reference"
dm-read -q alice 7
is "$(dm-tail --as alice --peek bob 7 8 --with readers | jq -c '[.read_by_count, .read_by]' | tr '\n' ' ')" \
  '[1,["bob"]] [0,[]] ' "who has read a message"
is "$(dm-tail --peek alice 7 8 | jq -c '[.is_unread, .is_mine]' | tr '\n' ' ')" '[false,false] [true,false] ' "what is unread"
dm-read -q --unread alice 7
before=30
all=
while page=$(dm-tail --peek alice --before "$before" -n 7) && [ -n "$page" ]; do
  all="$(printf '%s\n' "$page" | jq -r .seq | tr '\n' ' ')$all"
  before=$(printf '%s\n' "$page" | head -n 1 | jq -r .seq)
  [ "$before" -gt 1 ] || break
done
is "$all" "$(seq 1 29 | tr '\n' ' ')" "backward, page by page, in a loop of the shell"

is "$(dm-tail --as alice bob -n 1 --peek | jq -r .status)" sent "--peek marks nothing"
dm-tail alice 10 >/dev/null
is "$(dm-tail --as alice bob 9 10 11 --peek | jq -r .status | tr '\n' ' ')" "delivered delivered sent " \
  "what was printed is delivered, and what was before it"
is "$(dm-list --count)" 50 "but not read"
is "$(seqs --unread alice | wc -w)" 50 "so it is unread"
dm-tail alice --read 10..12 >/dev/null
is "$(dm-tail --as alice bob 9..13 --peek | jq -r .status | tr '\n' ' ')" "delivered read read read sent " \
  "--read marks exactly what was printed"
is "$(seqs alice --unread --before 15)" "1 2 3 4 5 6 7 8 9 13 14 " "--unread leaves it out"
dm-send -q --as carol bob hi
is "$(dm-tail --unread --peek | jq -r .text | tail -n 1)" hi "--unread of all conversations"
dm-conversation -q mute carol
is "$(dm-tail --unread --unmuted --peek | grep -c '"text":"hi"')" 0 "--unmuted leaves out muted conversations"
is "$(dm-tail carol --unmuted --peek)" "" "also one that is named"
is "$(dm-tail --cursor start --unmuted --peek | jq -c 'select(.sender == "carol")')" "" "and in the stream"
is "$(dm-tail --cursor start --peek | jq -r 'select(.sender == "carol").text' | tail -n 1)" hi "which has them without it"
is "$(dm-tail alice -n 1 --unmuted --peek | jq -s length)" 1 "others are there"
dm-conversation -q unmute carol
is "$(dm-tail --unread --unmuted --peek | jq -r .text | tail -n 1)" hi "until they are not muted any more"
exits 64 "a consumer takes all" dm-tail --consumer c --cursor start --unmuted
dm-tail --unread --read >/dev/null
is "$(dm-list --count)" 0 "--unread --read leaves nothing"

exits 66 "nothing was said" dm-tail --as alice carol
exits 66 "a bound that is not there" dm-tail alice --before 99
exits 64 "what is no range" dm-tail alice 1 carol
exits 64 "a count that is none" dm-tail alice -n x
like "$(dm-tail alice 1 --text)" "── *day * 2??? ──
??:??  1 alice: 1" "as text"
dm-send -q --as alice bob "$(printf 'one\n14:30  7 bob: forged \033[2J')"
is "$(dm-tail --text alice -n 1 | tail -n 1)" "       14:30  7 bob: forged \\u{1B}[2J" \
  "no text passes for a line of its own"
done_testing
