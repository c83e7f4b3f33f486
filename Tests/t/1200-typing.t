#!/bin/sh
# Typing: as a filter, around a command, on and off; and who sees it.
. "$(dirname "$0")/lib.sh"
people
dm-send -q --as alice bob hi
dm-conversation -q create --as alice --title ops bob carol
id=$(dm-conversation show --as alice bob | jq -r .id)
shown() { find "$DM_STORE/live" -name "typing.*.$1" | wc -l; }

# Watching.
dm-typing --as alice bob --on
follow dm-typing --as bob --watch alice
is "$(line 'keys_unsorted | join(" ")')" "type conversation_id users" "who is typing"
dm-typing --as alice bob --off
is "$(line .users)" "[]" "and who not any more"
dm-typing --as alice bob --on
is "$(line '[.type, .conversation_id, .users]')" "[\"typing\",\"$id\",[\"alice\"]]" "in which conversation"
leave
dm-typing --as alice bob --off
exits 0 "--off twice is no harm" dm-typing --as alice bob --off
is "$out$err" "" "and says nothing"
dm-typing --as bob +ops --on
dm-typing --as carol +ops --on
dm-user -q --as carol set --display-name 'Carol C.'
is "$(timeout 10 dm-typing --as alice --watch +ops --text | head -n 1)" "bob, Carol C. (carol) are typing" "as text, by their names"
dm-typing --as bob +ops --off
dm-typing --as carol +ops --off
follow dm-typing --as carol --watch
dm-typing --as alice bob --on
dm-typing --as bob +ops --on
is "$(line .users)" '["bob"]' "of other people's conversations nobody hears"
leave
dm-typing --as bob +ops --off
dm-typing --as alice bob --off

# A filter.
head -c 300000 /dev/urandom >"$work/bytes"
ok "as a filter it passes on what comes" sh -c "dm-typing --as alice bob <'$work/bytes' >'$work/passed'"
ok "byte for byte" cmp "$work/bytes" "$work/passed"
is "$(shown alice)" 0 "and then nothing shows"
is "$(printf 'no end of line' | dm-typing --as alice bob | dm-send --as alice bob | jq -r .text)" "no end of line" \
  "producer | dm-typing bob | dm-send bob"
follow dm-typing --as bob --watch alice
mkfifo "$work/in" "$work/through"
dm-typing --as alice bob <"$work/in" >"$work/through" 3<&- &
exec 4>"$work/in" 5<"$work/through"
is "$(line .users)" '["alice"]' "it shows before the first byte"
echo thinking >&4
read -r passed <&5
is "$passed" thinking "each line passes when it comes"
exec 4>&-
wait $!
is "$? $(line .users)" '0 []' "and it ends with the input"
exec 5<&-
leave
is "$({ timeout 10 dm-typing --as alice bob; echo $? >"$work/status"; } </dev/zero | head -c 3 | wc -c
  cat "$work/status")" "3
141" "it dies with its reader"
is "$(shown alice)" 0 "and shows no longer"

# A command.
is "$(dm-typing --as alice bob -- echo a -b --on)" "a -b --on" "what a command prints"
exits 0 "the status of a command" dm-typing --as alice bob -- true
exits 1 "is that of dm-typing" dm-typing --as alice bob -- false
exits 137 "also when it is killed" sh -c "dm-typing --as alice bob -- sh -c 'kill -9 \$\$'"
exits 64 "a command that is not there" dm-typing --as alice bob -- no-such-command
follow dm-typing --as bob --watch alice
dm-typing --as alice bob -- sh -c "read -r line <'$work/in'" 3<&- &
is "$(line .users)" '["alice"]' "it shows while the command runs"
echo done >"$work/in"
is "$(line .users)" '[]' "and no longer"
leave

# The receivers.
exits 67 "an unknown user" dm-typing --as alice bbo --on
like "$err" "*did you mean 'bob'?" "is an error that suggests the nearest"
exits 66 "an unknown group" dm-typing --as alice +oops --on
exits 77 "somebody else's conversation" dm-typing --as carol "$id" --on
is "$(echo first | dm-typing --as bob carol)" first "before the first word the bytes pass"
is "$(shown bob)" 0 "and nothing shows"
exits 64 "which conversation" dm-typing --as alice
exits 64 "on and off" dm-typing --as alice bob --on --off
exits 65 "a time that is none" dm-typing --as alice bob --for ever
dm-typing --as alice bob --for 1s
is "$? $(shown alice)" "0 0" "for a time"

# Who is there.
is "$(dm-user presence --as alice | jq -rc '[.user, .is_online] | join(" ")')" "bob false
carol false" "those who share a conversation with the user"
dm-tail --as bob alice >/dev/null
dm-list --as bob >/dev/null
is "$(dm-user presence --as alice bob | jq .is_online)" false "who only looks in is not there"
follow dm-user presence --as alice -f
is "$(line .user) $(line .user)" "bob carol" "how it is"
dm-tail -f --as carol --invisible -n 0 --heartbeat 1s | head -n 2 >/dev/null
dm-tail -f --as bob -n 0 --heartbeat 1s | head -n 2 >/dev/null
is "$(line '[.type, .user, .is_online]')" '["presence","bob",true]' "and who comes, but for the invisible"
leave
is "$(dm-user presence --as alice bob | jq -c '[.is_online, has("last_seen_at")]')" "[true,true]" "bob was there just now"
is "$(dm-user presence --as alice bob --text)" "bob                       online" "as text"
dm-user -q --as bob set --hide-presence
is "$(dm-user presence --as alice | jq -r .user)" carol "who hides it is left out"
exits 67 "a user that there is not" dm-user presence --as alice bbo
dm-user -q --as alice add dave
exits 77 "and a stranger" dm-user presence --as alice dave
done_testing
