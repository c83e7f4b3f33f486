#!/bin/sh
# Consumers: programs that answer each message once, whatever happens to them.
. "$(dirname "$0")/lib.sh"
people
export DM_USER=bob
text='.text // .type'
seq 1 3 | dm-send -q --as alice --lines bob
dm-tail alice -n 0
read_all() { dm-tail --consumer "$1" --events message | jq -r "$text" | tr '\n' ' '; }
place() { dm-tail --consumers | jq -r "select(.name == \"$1\") | $2"; }

# A place of one's own.
exits 64 "a new consumer has to be told where to begin" dm-tail --consumer log
like "$err" "dm-tail: the consumer 'log' is new; say where it begins: --cursor start, now or CURSOR" "and how"
is "$(dm-tail --consumers)" "" "nothing was made"
is "$(dm-tail --consumer log --cursor start --events message | jq -r "$text" | tr '\n' ' ')" "1 2 3 caught_up " \
  "from the start"
is "$(read_all log)" "1 2 3 caught_up " "printing does not move it"
is "$(dm-tail --consumer log --cursor now --events message | jq -r "$text" | tr '\n' ' ')" "1 2 3 caught_up " \
  "and --cursor is for the first use"
is "$(dm-tail --consumer new --cursor now --events message | jq -r "$text")" caught_up "another may begin now"
is "$(dm-tail --as alice --peek bob 3 | jq -r .status)" sent "what was printed is not delivered yet"
second=$(dm-tail --consumer log --events message | sed -n 2p | jq -r .cursor)
is "$(dm-tail --consumer log --ack "$second" | jq -c '[.type, .consumer, .cursor]')" \
  "[\"ack\",\"log\",\"$second\"]" "--ack moves it"
is "$(read_all log)" "3 caught_up " "behind what was acknowledged"
is "$(dm-tail --as alice --peek bob | jq -r .status | tr '\n' ' ')" "delivered delivered sent " \
  "which counts as delivered"
is "$(dm-tail --consumer log --ack "${second%-*}-1" | jq -r .cursor)" "$second" "but never back"
exits 65 "nor into the future" dm-tail --consumer log --ack "${second%-*}-7fffffff"
exits 66 "a consumer that is not there" dm-tail --consumer lgo --ack "$second"
exits 64 "an acknowledgement of nobody" dm-tail --ack "$second"
exits 64 "a consumer's stream has no history" dm-tail --consumer log -n 3
is "$(dm-tail --consumers | jq -r '"\(.type) \(.name) \(.skipped_count)"')" "consumer log 0
consumer new 0" "--consumers"
is "$(place log '.behind_count > 0')" true "says how far behind each is"
is "$(dm-tail --as alice --consumers)" "" "they are the user's own"

# One at a time.
follow dm-tail -f --consumer log --events message
line >/dev/null
exits 75 "a second stream of it" dm-tail --consumer log
like "$err" "dm-tail: another dm-tail reads the events of the consumer 'log'*" "says who is in the way"
exits 75 "nor can it be forgotten" dm-tail --forget log
is "$(dm-tail --consumer log --ack "$second" | jq -r .type)" ack "but anybody may acknowledge"
leave
is "$(dm-tail --forget log | jq -r '"\(.type) \(.name)"')" "consumer log" "--forget"
exits 64 "has it begin anew" dm-tail --consumer log
exits 66 "and it is gone" dm-tail --forget log
exits 64 "a name too many" dm-tail --forget new bob
exits 64 "an option too many" dm-tail --forget new -f
is "$(dm-tail --consumers | jq -r .name)" new "forgets nothing"

# The bot.
cat >"$work/bot" <<'BOT'
dm-tail --others --consumer echo "$@" |
  jq -c --unbuffered '(if .type == "message" and .text
    then {conversation: .conversation_id, text: "echo: \(.text)", nonce: "echo:\(.id)"} else {} end) + {ack: .cursor}' |
  dm-send --consumer echo
BOT
answers() { dm-tail --as "$1" --peek bob -n all | jq -r 'select(.sender == "bob").text' | tr '\n' '|'; }
is "$(sh "$work/bot" --cursor start | jq -r '.text // empty' | tr '\n' '|')" \
  "echo: 1|echo: 2|echo: 3|" "a bot answers what there is"
is "$(sh "$work/bot" --cursor start | jq -r .type | sort -u)" ack "run again it answers nothing, and acknowledges"
dm-send -q --as carol bob hello
is "$(sh "$work/bot" | jq -r "$text" | head -n 1)" "echo: hello" "but what is new"
follow sh "$work/bot" -f
dm-send -q --as alice bob 4
while answer=$(line .text) && [ "$answer" = null ]; do :; done
is "$answer" "echo: 4" "with -f it stays, and answers at once"
dm-send -q --as carol bob 5
leave KILL
dm-send -q --as alice bob 6
sh "$work/bot" >/dev/null
sh "$work/bot" >/dev/null
is "$(answers alice)$(answers carol)" "echo: 1|echo: 2|echo: 3|echo: 4|echo: 6|echo: hello|echo: 5|" \
  "killed and begun again, it has answered each once"
is "$(dm-tail --others --consumer echo --events message | jq -r .type)" caught_up "nothing is left to answer"
is "$(dm-tail --as carol --peek bob 1 | jq -r .status)" delivered "and what it answered is delivered"

# The lines of dm-send.
dm-send -q --as alice bob a
dm-send -q --as alice bob b
dm-send -q --as alice bob c
dm-tail --others --consumer echo --events message >"$work/news"
cursor() { sed -n "$1p" "$work/news" | jq -r .cursor; }
before=$(place echo .cursor)
exits 1 "an acknowledgement without a consumer" sh -c "echo '{\"ack\":\"$before\"}' | dm-send"
is "$(printf '%s' "$out" | jq -r '.code, .subject' | tr '\n' ' ')" "bad_field ack " "is an error of the line"
exits 66 "a consumer that nobody made" sh -c "echo '{\"ack\":\"$before\"}' | dm-send --consumer lost"
exits 64 "a consumer's lines name their conversations" dm-send --consumer echo alice hi
for option in skip-failed stop-at-failed; do
  exits 64 "--$option is for consumers" sh -c "dm-send --$option </dev/null"
done
exits 64 "both at once" sh -c 'dm-send --consumer echo --skip-failed --stop-at-failed </dev/null'
reply() { jq -nc --arg to "$1" --arg text "$2" --arg ack "$3" '{conversation: $to, text: $text, nonce: $text, ack: $ack}'; }
{ reply alice A "$(cursor 1)"; reply nobody B "$(cursor 2)"; reply alice C "$(cursor 3)"; } >"$work/replies"
exits 1 "with --stop-at-failed the first line that fails ends the run" \
  sh -c "dm-send --consumer echo --stop-at-failed <'$work/replies'"
is "$(printf '%s' "$out" | jq -r '.code // .text' | tr '\n' ' ')" "A unknown_user " "with an error as its last answer"
is "$(place echo .cursor) $(dm-tail alice -n 1 | jq -r .text)" "$(cursor 1) A" "what came before it is kept"
is "$(reply alice A "$(cursor 1)" | dm-send --consumer echo | jq -c '[.text, .duplicate]')" '["A",true]' \
  "what is acknowledged already is not sent again"
is "$(reply alice X "$(cursor 1)" | dm-send --consumer echo | jq -r '.type + .cursor')" "ack$(cursor 1)" \
  "nor anything that came too late"
exits 1 "without it the line is skipped" sh -c "dm-send --consumer echo <'$work/replies' 2>'$work/said'"
is "$(tail -n 1 "$work/said")" "dm-send: skipped 1 line that can never succeed" "that is said,"
is "$(printf '%s' "$out" | jq -r '.code // .text' | tr '\n' ' ')" "A unknown_user C " "and goes on"
is "$(place echo '"\(.cursor) \(.skipped_count)"')" "$(cursor 3) 1" "acknowledges it, and counts"
is "$(jq -nc '{conversation: "alice", text: "other words", nonce: "C"}' | dm-send --consumer echo |
  jq -c '[.text, .duplicate]')" '["C",true]' "a nonce returns what it named, whatever the text is now"
is "$(answers alice)" "echo: 1|echo: 2|echo: 3|echo: 4|echo: 6|A|C|" "each is there once"
done_testing
