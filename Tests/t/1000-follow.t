#!/bin/sh
# Following: what was said, and then what happens, in order and as it happens.
. "$(dirname "$0")/lib.sh"
people
what='"\(.type) \(.text // .status // "")"'

# History, a line between, and what comes.
seq 1 3 | dm-send -q --as alice --lines bob
follow dm-tail -f --as bob alice -n 2 --events message
is "$(line "$what") $(line "$what")" "message 2 message 3" "history comes first"
is "$(line 'keys_unsorted | join(" ")')" "type cursor" "then a line that says so, with a cursor"
dm-send -q --as alice bob 4
is "$(line 'keys_unsorted[-1], .text' | tr '\n' ' ')" "cursor 4 " "then what is said, with a cursor"
printf '5\n6\n' | dm-send -q --as alice --lines bob
is "$(line .text) $(line .text)" "5 6" "in order"
leave
is "$(cat "$work/follow.err")" "" "and nothing to complain of"

# Before anything was said.
follow dm-tail -f --as carol alice --events message
is "$(line .type)" caught_up "a follower may come before the conversation"
dm-send -q --as bob carol elsewhere
dm-send -q --as alice carol first
is "$(line .text)" first "and is told of its first message, and of no other conversation"
leave
follow dm-tail -f --as carol -n 0 --events message
is "$(line .type)" caught_up "without a conversation"
dm-conversation -q create --as alice --title ops bob carol
dm-send -q --as alice +ops 'all green'
is "$(line .system_kind) $(line .text)" "conversation_created all green" "it is told of those that come into being"
leave

# Several.
dm-send -q --as alice bob apart
follow dm-tail -f --as carol alice +ops --events message
is "$(line .text) $(line .system_kind) $(line .text) $(line .type)" "first conversation_created all green caught_up" \
  "the history of two conversations"
dm-send -q --as bob carol elsewhere
dm-send -q --as bob +ops here
is "$(line .text)" here "and what comes in one of them"
leave

# Which events.
exits 64 "a kind of event that there is not" dm-tail -f --as bob --events message,mesage
like "$err" "dm-tail: 'mesage' is not a kind of event; name some of message,*" "is named, with those that there are"
dm-tail --as bob >/dev/null
start=$(dm-tail --as bob --cursor now | jq -r .cursor)
dm-send -q --as alice bob 'please read'
dm-tail --as bob alice -n 1 >"$work/seen"
dm-read -q --as bob <"$work/seen"
events() { dm-tail --as "$1" --cursor "$start" --events "$2" | jq -r "$what" | sed '$d' | tr '\n' ' '; }
is "$(events alice message)" "message please read " "--events message"
is "$(events alice message_status)" "message_status delivered message_status read " "message_status: delivered, then read"
is "$(events bob read_receipt)$(events bob delivery_receipt)" "read_receipt  delivery_receipt  " "receipts"
is "$(events bob message,read_receipt,delivery_receipt)" "message please read delivery_receipt  read_receipt  " "two kinds"
is "$(dm-tail --as bob --cursor "$start" --events read_receipt | jq -c 'select(.user) | [.user, .conversation_title]')" \
  '["bob","alice"]' "a receipt says who read and where"
is "$(dm-tail --as bob --cursor "$start" --events all | tail -n 1 | jq -r .type)" caught_up "all"
follow dm-tail -f --as alice bob --cursor now --events typing
is "$(line .type)" caught_up "typing"
dm-typing --as bob alice --on
is "$(line .users[])" bob "is told while it shows"
leave

# Cursors.
is "$(dm-tail --as carol --cursor start --events message | jq -r '.text // .system_kind // .type' | tr '\n' '|')" \
  "elsewhere|first|conversation_created|all green|elsewhere|here|caught_up|" "--cursor start: all that is known, and the end"
is "$(dm-tail --as carol --cursor now | jq -r .type)" caught_up "--cursor now: nothing yet"
is "$(dm-tail --as carol --cursor start --events message | jq -r .cursor | while read -r cursor; do
  dm-tail --as carol --cursor "$cursor" --events message | jq -r '.text // .system_kind // empty' | wc -l
done | tr '\n' ' ')" "5 4 3 2 1 0 0 " "from any line on: what comes after it"
cursor=$(dm-tail --as carol --cursor now | jq -r .cursor)
dm-send -q --as bob carol missed
follow dm-tail -f --as carol --cursor "$cursor" --events message
is "$(line .text) $(line .type)" "missed caught_up" "a follower goes on where the last one ended"
dm-send -q --as bob carol live
is "$(line .text)" live "and stays"
leave
exits 65 "a cursor that is none" dm-tail --as carol --cursor yesterday
dm-user -q --store "$work/other" --as carol add carol
exits 65 "a cursor of another store" dm-tail --as carol --store "$work/other" --cursor "$cursor"
like "$err" "*is another store's; begin with --cursor start or now" "says what to do"
exits 65 "a cursor of the future" dm-tail --as carol --cursor "${cursor%-*}-7fffffff"

# Without the user's own messages, and the passing of time.
follow dm-tail -f --as bob alice -n 0 --others
line >/dev/null
dm-send -q --as bob alice mine
dm-send -q --as alice bob yours
is "$(line .text)" yours "--others leaves out what the user said"
leave
follow dm-tail -f --as bob alice -n 0 --heartbeat 1s
is "$(line .type) $(line 'keys_unsorted | join(" ")')" "caught_up type cursor" "a heartbeat, with a cursor"
leave

# How far one's words have come.
follow dm-tail -f --as alice bob --cursor now --events message,message_status
line >/dev/null
dm-send -q --as alice bob 'how far?'
place=$(line '[[.seq, .seq]] | tojson')
dm-tail --as bob alice -n 1 >/dev/null
far='[.type, .sender, .status, .user, .conversation_title, (.ranges | tojson)] | join(" ")'
is "$(line "$far")" "message_status alice delivered bob bob $place" "the sender sees that it was delivered"
dm-read -q --as bob alice:-1
is "$(line "$far")" "message_status alice read bob bob $place" "and read"
leave
dm-send -q --as alice bob aloud
follow sh -c 'dm-tail -f --as bob alice -n 1 | dm-read --as bob'
mark='"\(.type) \(.marked_count)"'
is "$(line "$mark")" "marked 1" "dm-tail -f | dm-read marks what was printed"
dm-send -q --as alice bob again
is "$(line "$mark")" "marked 1" "as it goes"
leave
start=$(dm-tail --as alice --cursor now | jq -r .cursor)
follow dm-tail -f --as bob alice -n 0 --peek --read
line >/dev/null
dm-send -q --as alice bob 'for you'
is "$(first '"status":"read"' dm-tail -f --as alice bob --cursor "$start" --events message_status --heartbeat 1s | jq -r .user)" \
  bob "--read marks by itself"
leave

# For people.
follow dm-tail -f --as bob alice -n 1 --text
IFS= read -r day <&3
IFS= read -r text <&3
like "$day $text" "── *day * ── ??:??  14 alice: for you" "as text"
leave

# Who reads much at once floods nobody.
seq 30 | dm-send -q --as alice --lines +ops
follow dm-tail -f --as alice +ops -n 1 --text --peek
IFS= read -r day <&3
IFS= read -r text <&3
dm-read -q --as carol +ops --all
IFS= read -r text <&3
like "$text" "-- carol has read up to 33 --" "much that is read at once is one line"
leave
is "$(dm-tail --as alice --cursor "$start" --events message_status +ops | jq -s 'map(select(.user == "carol" and .sender == "alice")) | length')" \
  1 "and one record"
dm-edit -q --as alice text +ops:-1 edited
is "$(dm-tail --as carol --cursor "$start" --events message_updated +ops | jq -c 'select(.text) | [.type, .text, .changed]')" \
  '["message_updated","edited",["text"]]' "an update is an edit, and says what it changed"

# Ends.
is "$({ timeout 10 dm-tail -f --as bob alice --heartbeat 1s; echo $? >"$work/status"; } | head -n 1 | wc -l
  cat "$work/status")" "1
141" "a reader who leaves is noticed, though nothing happens"
exits 64 "a range has an end" dm-tail -f --as bob alice 3..5
exits 64 "so has --before" dm-tail -f --as bob alice --before 3
exits 64 "history has no events" dm-tail --as bob alice --events read_receipt
exits 64 "nor heartbeats" dm-tail --as bob alice --heartbeat 1s
exits 77 "somebody else's conversation" timeout 10 dm-tail -f --as carol \
  "$(dm-conversation show --as alice bob | jq -r .id)"
follow dm-tail -f --as bob -n 0 --events message
line >/dev/null
mv "$DM_STORE" "$work/gone" && mv "$work/other" "$DM_STORE"
wait "$follower"
is "$? $(cat "$work/follow.err")" "66 dm-tail: another store was put at '$DM_STORE'; start again to follow it" \
  "another store in the place of the one that is followed"
follow dm-tail -f --as carol -n 0
line >/dev/null
rm -r "$DM_STORE"
wait "$follower"
is $? 66 "and none"
exec 3<&-
done_testing
