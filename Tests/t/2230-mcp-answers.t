#!/bin/sh
# dm-mcp: how long answers are, which user a name means, which times, and which images a model gets.
. "$(dirname "$0")/lib.sh"

people
dm-user -q --as alice add bot
hello='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}}'
call() { printf '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' "$@"; }
answers() { (printf '%s\n' "$hello"; cat) | dm-mcp --as bot "$@" 2>"$work/agent.err" | sed 1d; }
# data FILTER: the objects in the answers, by jq.
data() { jq -c '.result.content[0].text | split("\n")[1] | fromjson' | jq -rc "$@"; }
# to NAME: where a message to a name arrives: a reference, or the code of an error.
to() {
  call send "{\"conversation\":\"$1\",\"text\":\"x\",\"nonce\":\"$(cat /proc/sys/kernel/random/uuid)\"}" | answers |
    data '.message.ref? // .code' | sed 's/:.*//'
}

# Names.
dm-user -q --as alice add mallory
dm-user -q --as mallory set --display-name Carol
dm-send -q --as mallory bot hi
is "$(to carol)" carol "a handle is exact"
dm-send -q --as bot carol 'a conversation with carol'
is "$(to CAROL)" ambiguous_title "a handle and the display name of another user are ambiguous"
dm-user -q --as mallory set --display-name Bob
is "$(to Bob)" ambiguous_title "also if there is no conversation with the user of the handle yet"
like "$(call send '{"conversation":"Bob","text":"x","nonce":"b"}' | answers | data .message)" \
  "'Bob' could be one of 2, such as 'bob', 'mallory'; name one of them exactly" "and the error says so"
dm-user -q --as mallory set --display-name 'Mallory M'
is "$(to 'mallory m')" mallory "a display name that one user has"
dm-conversation -q create --as mallory --title alice bot
is "$(to @ALICE)" alice "a name with @ is that of a user, and not of a group"
is "$(to +ALICE)" +alice "a name with + is that of a group"
is "$(to Alice)" ambiguous_title "and one without is both"
dm-conversation -q create --as mallory --title OPS bot
dm-conversation -q create --as alice --title Ops bot
for n in $(seq 51); do dm-conversation -q create --as mallory --title "devops $n" bot; done
is "$(to ops)" ambiguous_title "two of many"
is "$(to +ops)" ambiguous_title "also with +"
is "$(to +Ops)" +Ops "one by its exact title"

# Bytes.
# bytes TOOL ARGUMENTS: how long the answer is.
bytes() { call "$@" | answers | wc -c; }
long=$(head -c 8000 /dev/zero | tr '\0' x)
for n in $(seq 30); do printf '%s %s\n' "$n" "$long"; done | dm-send -q --as carol --lines bot
is "$(call read_history '{"conversation":"carol"}' | answers |
  data '[(.messages | length), ([.messages[] | .[2] | utf8bytelength] | max) < 2000, .messages[-1][-1].cut_from_bytes]')" \
  '[30,true,8003]' "long texts are cut, and say so"
is "$([ "$(bytes read_history '{"conversation":"carol"}')" -lt 80000 ] && echo short)" short "so that they fit"
last=$(dm-tail --as carol bot -n 1 --peek | jq -r .seq)
is "$(call read_history "{\"around\":\"carol:$last\",\"limit\":1}" | answers | data '[.messages[0][2], .messages[0][3].cut_from_bytes]')" \
  "[\"30 $long\",null]" "one message has its whole text"
is "$(call read_history '{"conversation":"carol","limit":2}' | answers | data '[.messages[][2] | length]')" '[8003,8003]' "and so have a few"
head -c 65000 /dev/zero | tr '\0' '\001' | dm-send -q --as carol bot
for n in $(seq 200); do printf '%s %s\n' "$n" "$(head -c 500 /dev/zero | tr '\0' y)"; done | dm-send -q --as carol --lines bot
for tool in 'read_history {"conversation":"carol","limit":200}' 'search {"query":"x","limit":200}' 'search {"from":"carol","limit":200}' \
  'digest {"conversation":"carol","since":"2020-01-01"}' "read_history {\"around\":\"carol:$((last + 1))\",\"limit\":200}"; do
  is "$([ "$(bytes "${tool%% *}" "${tool#* }")" -lt 160000 ] && echo short)" short "$tool"
done
writer=a-user-with-quite-a-long-handle-because-that-makes-each-row-long
dm-user -q --as alice add $writer
dm-conversation -q --as alice add +Ops $writer
dm-send -q --as alice +Ops first
for n in $(seq 250); do printf '%s %s\n' "$n" "$(head -c 500 /dev/zero | tr '\0' y)"; done | dm-send -q --as $writer --lines +Ops
dm-send -q --as alice +Ops last
last=$(dm-tail --as bot +Ops -n 1 --peek | jq -r .seq)
is "$(call read_history "{\"around\":\"+Ops:$((last - 99))\",\"limit\":200}" | answers |
  data '(.messages | map(.[0]) | [index('$((last - 99))') > 0, length < 200, .[0] > 1])  + [.left_out_before > 0, .left_out_after > 0]')" '[true,true,true,true,true]' \
  "what is left out is counted, and the wanted message is there"
is "$(call read_history '{"conversation":"+Ops","limit":200}' | answers |
  data '[(.messages | length) + .left_out_before, .messages[-1][-1], .left_out_after]')" '[200,"last",null]' "the newest messages stay"
call wait_for_message '{"timeout_seconds":0}' | answers | data .cursor >"$work/cursor"
for n in $(seq 20); do printf '%s %s\n' "$n" "$long"; done | dm-send -q --as carol --lines bot
is "$([ "$(bytes wait_for_message "{\"cursor\":\"$(cat "$work/cursor")\"}")" -lt 100000 ] && echo short)" short "wait_for_message"

# Reactions of many users.
for n in $(seq 30); do dm-user -q --as alice add "u$n"; done
seq 30 | sed s/^/u/ | xargs dm-conversation -q --as alice add +Ops --with-history
id=$(dm-send --as alice +Ops popular | jq -r .id)
for n in $(seq 30); do dm-edit -q react --as "u$n" 👍 "$id"; done
is "$(call read_history '{"conversation":"+Ops","limit":1}' | answers | data '.messages[0][-1].reactions[0] | [(.users | length), .users_count]')" \
  '[20,30]' "20 users of a reaction are named"
is "$(call read_history '{"around":"1"}' | answers --only +Ops --only carol | data '.code')" "$(call read_history '{"around":"1"}' | answers | data '.code')" \
  "a number without a conversation is refused, also with --only"

# Times.
printf '{"conversation":"+times","sender":"bot","text":"x","created_at":"2026-11-20T%s:00Z"}\n' 10:00 13:00 | dm-import -q --as bot
is "$(call read_history '{"conversation":"+times","since":"2026-11-20T12:00"}' | TZ=Asia/Tokyo answers | data '.messages | length')" 1 "times are in UTC"

# Images.
printf 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' | base64 -d >"$work/dot.png"
head -c 50 "$work/dot.png" >"$work/cut.png"
{ head -c 16 "$work/dot.png"; printf '\0\0\303\120\0\0\303\120'; tail -c +25 "$work/dot.png"; } >"$work/bomb.png"
{ head -c 8 "$work/dot.png"; echo '<script>'; } >"$work/page.png"
for file in dot cut bomb page; do
  ref=$(dm-send --as alice bot --as-file --attach "$work/$file.png" 2>/dev/null | jq -r .seq)
  wanted='image'
  [ $file = dot ] || wanted='null'
  is "$(call get_attachment "{\"message\":\"alice:$ref\"}" | answers | jq -r '.result.content[1].type')" "$wanted" "$file.png"
  [ $file = dot ] || wanted='resource'
  is "$(call get_attachment "{\"message\":\"alice:$ref\",\"whole\":true}" | answers | jq -r '.result.content[1].type')" "$wanted" "whole"
done
head -c 60000 /dev/zero | tr '\0' '\001' >"$work/ones.txt"
ref=$(dm-send --as alice bot --as-file --attach "$work/ones.txt" 2>/dev/null | jq -r .seq)
is "$([ "$(bytes get_attachment "{\"message\":\"alice:$ref\"}")" -lt 100000 ] && echo short)" short "a text of control characters"
is "$(call get_attachment "{\"message\":\"alice:$ref\"}" | answers | data .cut_from_bytes)" 60000 "is cut"

# Batches, and invisible texts.
{ printf '['; head -c 20000 /dev/zero | sed 's/\x00/1,/g'; printf '1]\n'; } | answers | wc -c >"$work/size"
is "$([ "$(cat "$work/size")" -lt 1000 ] && echo short)" short "a batch with thousands of messages"
dm-send -q --as carol bot "$(printf 'tag \363\240\201\201')"
is "$(call read_history '{"conversation":"carol","limit":1}' | answers | jq -r '.result.content[0].text' | grep -c 'tag .udb40.udc41')" 1 "tag characters are escaped"

done_testing
