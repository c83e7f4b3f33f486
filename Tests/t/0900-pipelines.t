#!/bin/sh
# Programs put together, as their users do.
. "$(dirname "$0")/lib.sh"
people

# The tour.
dm-send -q --as alice bob 'lunch?'
is "$(dm-list --as bob --unread | jq -r '"\(.unread_count) \(.participants | join(" "))"')" "1 alice bob" \
  "what waits for me"
is "$(dm-tail --as bob alice | jq -r '"\(.sender): \(.text)"')" "alice: lunch?" "read"
is "$(dm-tail --as bob alice -n 20 | dm-read --as bob | jq .unread_count)" 0 "mark as read"
dm-send -q --as bob alice --reply-to -1 'with pleasure'
is "$(dm-read --as alice --receipts bob:1 | jq -r 'select(.type == "read_receipt").user')" bob "who has read it"
is "$(dm-tail --as alice bob | jq -r .status | tr '\n' ' ')" "read sent " "and how far each came"

# Exactly the 20 that were printed. They may come in more than one batch, each with a record of its own.
seq 1 50 | dm-send -q --as alice --lines bob
is "$(dm-tail --as bob alice -n 20 | dm-read --as bob |
  jq -cs '[.[0].ranges[0][0], .[-1].ranges[-1][1], .[-1].unread_count]')" '[33,52,30]' "dm-tail bob -n 20 | dm-read"
is "$(dm-tail --as bob alice --unread --peek | jq -r .seq | tr '\n' ' ')" "$(seq 3 32 | tr '\n' ' ')" \
  "not the 30 before them"

# A bot of three lines, run again and again: each message is answered once.
bot() {
  dm-tail --as bob --unread -n all |
    tee "$work/seen" |
    jq -c '{conversation: .conversation_id, text: "echo: \(.text)", nonce: "echo:\(.id)"}' |
    dm-send --as bob | jq -s 'map(select(.duplicate | not)) | length'
}
dm-send -q --as carol bob hello
is "$(bot)" 31 "a bot answers what is unread"
is "$(bot)" 0 "once, although it died before it marked anything"
dm-read -q --as bob <"$work/seen"
is "$(dm-list --as bob --count)" 0 "then marks what it saw"
dm-send -q --as carol bob again
is "$(bot)" 1 "and goes on with what is new"
is "$(dm-tail --as carol bob | jq -r .text | tail -n 3 | tr '\n' '|')" "echo: hello|again|echo: again|" "in order"

# Readers that leave early.
seq 1 5000 | dm-send -q --as alice --lines carol
for command in 'dm-tail --as alice carol -n all' 'dm-list --as alice' 'dm-user --as alice list' \
  'dm-tail --as alice -n all --text'; do
  is "$($command 2>"$work/err" | head -n 1 | wc -l)" 1 "$command | head -n 1"
  is "$(cat "$work/err")" "" "complains of nothing"
done
is "$({ dm-tail --as alice carol -n all; echo $? >"$work/status"; } | head -n 1 | wc -l; cat "$work/status")" "1
141" "it dies of SIGPIPE, as others do"
ignoring() { sh -c "trap '' PIPE; exec dm-tail --as alice carol -n all"; }
is "$({ ignoring; echo $? >"$work/status"; } 2>&1 | head -n 1 | wc -l; cat "$work/status")" "1
141" "even where that signal was ignored"
is "$(dm-tail --as carol alice -n all --peek | head -c 100000 | sed '$d' | jq -s 'length > 0')" true \
  "whole lines come before that"

# Batches answer while the input goes on.
mkfifo "$work/in" "$work/out"
dm-send --as alice <"$work/in" >"$work/out" &
exec 3>"$work/in" 4<"$work/out"
echo '{"conversation":"bob","text":"ping"}' >&3
read -r answer <&4
is "$(printf '%s' "$answer" | jq -r .text)" ping "a line is answered before the next one comes"
echo '{"conversation":"bob","text":"pong"}' >&3
read -r answer <&4
is "$(printf '%s' "$answer" | jq -r .text)" pong "and so is the next"
exec 3>&-
wait $!
is $? 0 "and the end of the input is the end"
exec 4<&-

# Several at once.
for n in 1 2 3 4 5 6; do
  seq 1 40 | jq -c "{conversation:\"+all\",text:\"$n-\(.)\"}" >"$work/w$n"
done
dm-conversation -q --as alice create --title all bob carol
for n in 1 2 3 4 5 6; do
  while read -r line; do printf '%s\n' "$line" | dm-send -q --as alice || echo "$n" >>"$work/lost"; done <"$work/w$n" &
done
wait
is "$(cat "$work/lost" 2>/dev/null)" "" "six writers at once lose nothing"
is "$(dm-tail --as bob +all -n all | jq -s 'map(.seq) == [range(1; 242)]')" true "and leave no holes"
is "$(dm-tail --as bob +all -n all | jq -s 'map(.created_at) | . == (sort | unique)')" true \
  "with times that grow strictly"

# Fifty who create one store.
DM_STORE="$work/new"
for n in $(seq 50); do dm-user -q --as root add "u$n" || echo "$n" >>"$work/lost" & done
wait
is "$(cat "$work/lost" 2>/dev/null)" "" "many create one store at once"
is "$(dm-user --as u1 list | wc -l)" 50 "and all are in it"
done_testing
