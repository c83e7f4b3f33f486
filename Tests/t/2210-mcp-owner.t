#!/bin/sh
# dm-mcp: what the owner lets an agent do, and what the log has of it.
. "$(dirname "$0")/lib.sh"

people
dm-user -q --as alice add bot
dm-conversation create -q --as alice --title ops bob bot
dm-send -q --as alice bot 'hello, bot'
dm-send -q --as bob bot 'hello from bob'

hello='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}'
call() { printf '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' "$@"; }
# send CONVERSATION TEXT [MEMBERS]: a request to send, whose nonce is its text.
send() { call send "{\"conversation\":\"$1\",\"text\":\"$2\",\"nonce\":\"$2\"${3-}}"; }
# agent OPTION...: what the answers to the lines of standard input say: a code, or ok.
agent() { answers "$@" | jq -r '.result | if .isError then .content[0].text | split("\n")[1] | fromjson.code else "ok" end'; }
answers() { (printf '%s\n' "$hello"; cat) | dm-mcp --as bot "$@" 2>"$work/agent.err" | sed 1d; }
message() { jq -r '.result.content[0].text | split("\n")[1] | fromjson.message'; }
# texts READER CONVERSATION: the texts of the bot that another user sees.
texts() { dm-tail --as "$1" "$2" --peek --from bot 2>/dev/null | jq -r '.text // empty' | paste -sd ' '; }

# --send-to
is "$(send alice one | agent --send-to alice,+ops)" ok "a conversation of --send-to"
is "$(send +ops two | agent --send-to alice --send-to +ops)" ok "which can be repeated"
is "$(send bob three | agent --send-to alice,+ops)" not_allowed "another one"
is "$(send carol four | agent --send-to alice)" not_allowed "one that has not begun"
is "$(texts bob bot)$(texts carol bot)" "" "where nothing was sent"
like "$(send bob three | answers --send-to alice | message)" "the owner does not let you write to 'bob'*" "it says why"
is "$(call react '{"message":"bob:1","emoji":"👍"}' | agent --send-to alice)" not_allowed "a reaction there"
is "$(call react '{"message":"alice:1","emoji":"👍"}' | agent --send-to alice)" ok "a reaction to what is allowed"
is "$(call read_history '{"conversation":"bob"}' | agent --send-to alice)" ok "it may read all"
id=$(dm-conversation show --as bot bob | jq -r .id)
is "$(send "$id" five | agent --send-to alice)" not_allowed "the other one by its id"
is "$(send bob five | agent --send-to "$id")" ok "an id in the option"
is "$(call mark_read '{"conversation":"carol","up_to":"1"}' | agent --send-to alice)" unknown_conversation "marks are not writing"
like "$(printf '%s\n' "$hello" | dm-mcp --as bot --send-to alice,+ops --rate 5/m | jq -r .result.instructions)" \
  '*You may write only to: alice, +ops. You may make at most 5 changes per minute.' "the agent knows its limits"
exits 66 "a conversation that does not exist" dm-mcp --as bot --send-to alice,+nowhere </dev/null
exits 67 "a user who does not exist" dm-mcp --as bot --send-to alicia </dev/null
exits 65 "an empty name" dm-mcp --as bot --send-to alice, </dev/null
exits 64 "an agent that may not write at all" dm-mcp --as bot --read-only --send-to alice </dev/null

# A group that gets the title later is another one.
mkfifo "$work/in"
follow sh -c 'exec dm-mcp --as bot --send-to +ops <"$0"' "$work/in"
exec 4>"$work/in"
printf '%s\n' "$hello" >&4
is "$(line .id)" 0 "it starts with a group"
dm-conversation title -q --as alice +ops operations
dm-conversation create -q --as carol --title ops bot
send +ops six >&4
is "$(line '.result.content[0].text | split("\n")[1] | fromjson.code')" not_allowed "another group has its title"
send +operations seven >&4
is "$(line .result.isError)" false "and the group has another"
exec 4>&-
wait "$follower"
is "$(texts carol +ops)" "" "nothing was sent to the other group"

# --rate: what was sent in the last hour counts, in other processes too.
now=$(texts alice bot | wc -w)
sent=$(dm-search --as bot --from bot --since 1h | wc -l)
is "$( (send alice r1; send alice r2; send alice r3) | agent --rate "$((sent + 2))/h" | paste -sd ' ')" 'ok ok over_quota' "--rate"
is "$(texts alice bot | wc -w)" "$((now + 2))" "the third was not sent"
is "$(send alice r4 | agent --rate "$((sent + 2))/h")" over_quota "a new process does not begin again"
is "$(send alice r2 | answers --rate "$((sent + 2))/h" | jq -r '.result.content[0].text' | sed 1d | jq .message.duplicate)" true \
  "a repeated call is answered"
like "$(send alice r4 | answers --rate "$((sent + 2))/h" | message)" \
  "*per hour, and they are used up; the next one is possible in * seconds, at 20*Z*" "it says when it can go on"
is "$( (call react '{"message":"alice:1","emoji":"🎉"}'; send alice r5) | agent --rate "$((sent + 3))/h" | paste -sd ' ')" \
  'ok over_quota' "a reaction is a change"
is "$(call read_history '{}' | agent --rate 1/h)" ok "reading is none"
dm-user -q --as alice add clock
# past MINUTES: a message of the user clock, so many minutes ago.
past() {
  printf '{"conversation":"+past%s","sender":"clock","text":"x","created_at":"%s"}\n' "$1" \
    "$(date -u -d "-$1 minutes" +%FT%TZ)" | dm-import -q --as alice
}
past 70
is "$(send alice c1 | answers --rate 1/h --as clock | jq .result.isError)" false "what is older than an hour does not count"
dm-user -q --as alice add tick
printf '{"conversation":"+tick","sender":"tick","text":"x","created_at":"%s"}\n' "$(date -u -d '-59 minutes' +%FT%TZ)" |
  dm-import -q --as alice
seconds=$(send alice c2 | answers --rate 1/h --as tick | message | sed 's/.*in \([0-9]*\) seconds.*/\1/')
is "$([ "$seconds" -gt 30 ] && [ "$seconds" -le 60 ] && echo soon)" soon "a message of 59 minutes ago: a minute is left"
dm-user -q --as alice add racer
for n in 1 2 3 4 5 6 7 8; do
  (send alice "race$n" | answers --as racer --rate 2/h | jq .result.isError >"$work/race$n") &
done
wait
is "$(cat "$work"/race? | grep -c false)" 2 "several processes make no more changes than one"
exits 64 "two rates" dm-mcp --as bot --rate 1/h --rate 100/h </dev/null
like "$err" "dm-mcp: '--rate' is given 2 times; keep one*" "are refused"
for rate in 0/h 5 5/y /h -1/h 5/h/h 99999/h; do
  exits 64 "'$rate' is not a rate" dm-mcp --as bot --rate "$rate" </dev/null
done

# --log
log=$work/agent.log
is "$( (send alice secret7 ; send bob secret8; call search '{"query":"secret9"}'; call nonsense '{"x":"secret10"}') |
  answers --send-to alice --log "$log" | jq -r 'if .error then .error.code else .result.isError end' | paste -sd ' ')" 'false true false -32602' "--log"
is "$(jq -rc '[.user, .tool, .result] | map(. // "-") | join(" ")' "$log" | paste -sd ,)" \
  'bot send -,bot send ok,bot send -,bot send not_allowed,bot search -,bot search ok,bot nonsense -,bot nonsense unknown_tool' \
  "a line before each call, and one with its result"
is "$(jq -r .call "$log" | uniq -c | awk '{print $1}' | paste -sd ' ')" '2 2 2 2' "the two lines have one id"
is "$(sed -n 1p "$log" | jq -c '[.arguments.conversation, .arguments.text_bytes, .arguments.nonce, .arguments.text]')" \
  '["alice",7,"secret7",null]' "arguments, and the sizes of texts"
is "$(grep -c 'secret9\|secret10' "$log")" 0 "no text"
send alice secret11 | answers --log "$log" --log-texts >/dev/null
is "$(sed -n 9p "$log" | jq -r .arguments.text)" secret11 "--log-texts"
is "$(stat -c %a "$log")" 600 "the log is the owner's"
call send '{"conversation":"alice","text":8473625,"nonce":12}' | answers --log "$log" >"$work/sent"
is "$(tail -n 2 "$log" | head -n 1 | jq -c '.arguments | [.text_bytes, .text, .nonce]')" '[7,null,"12"]' "a text that is a number is a text"
is "$(tail -n 1 "$log" | jq -r '[.message_id, .conversation_id, .seq] | join(" ")')" \
  "$(message <"$work/sent" | jq -r .id) $(dm-conversation show --as bot alice | jq -r .id) $(message <"$work/sent" | jq -r .ref | sed s/alice://)" \
  "the result names the message"
call react '{"message":"alice:1","emoji":"👍"}' | answers --log "$log" >/dev/null
is "$(tail -n 1 "$log" | jq -r .message_id)" "$(dm-tail --as bot alice:1 --peek | jq -r .id)" "also the one with a reaction"
call read_history '{"limit":30.0,"conversation":"alice"}' | answers --log "$log" >/dev/null
is "$(tail -n 2 "$log" | head -n 1 | jq -c .arguments.limit)" 30 "a number with a fraction of 0"
printf '{"half' >>"$log"
call read_history '{}' | answers --log "$log" >/dev/null
is "$(tail -n 3 "$log" | head -n 1) $(tail -n 2 "$log" | jq -r .tool | paste -sd ' ')" '{"half read_history read_history' \
  "a line after one that was cut begins on a line of its own"
exits 73 "a log in the folder of a store" dm-mcp --as bot --log "$DM_STORE/dm.sqlite" </dev/null
exits 64 "--log-texts alone" dm-mcp --as bot --log-texts </dev/null
exits 74 "a log that cannot be written" dm-mcp --as bot --log "$work/none/log" </dev/null
exits 74 "a log that is no file" dm-mcp --as bot --log /dev/full </dev/null

follow sh -c 'exec dm-mcp --as bot --log "$1" <"$0"' "$work/in" "$log"
exec 4>"$work/in"
printf '%s\n' "$hello" >&4
is "$(line .id)" 0 "it starts with a log"
mv "$log" "$log.1"
send alice rotated >&4
is "$(line .result.isError)" false "the log was renamed"
is "$(wc -l <"$log")" 2 "a new one is made"
rm "$log"
mkdir "$log"
send alice unlogged >&4
is "$(line '.result.content[0].text | split("\n")[1] | fromjson.code')" io_error "a call that cannot be logged fails"
call read_history '{}' >&4
is "$(line .result.isError)" true "one that reads, too"
rmdir "$log"
call wait_for_message '{"timeout_seconds":600}' | sed 's/"id":1/"id":5/' >&4
echo '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}' >&4
echo '{"jsonrpc":"2.0","id":6,"method":"ping"}' >&4
is "$(line .id)" 6 "a call is cancelled"
exec 4>&-
wait "$follower"
is "$(tail -n 1 "$log" | jq -r '[.tool, .result] | join(" ")')" 'wait_for_message cancelled' "and logged"
is "$(dm-search --as bot unlogged)" "" "what was not logged was not sent"

done_testing
