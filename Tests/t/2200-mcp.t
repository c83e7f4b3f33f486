#!/bin/sh
# dm-mcp: an agent is a user, by lines of JSON-RPC.
. "$(dirname "$0")/lib.sh"

people
dm-user -q --as alice add bot
dm-send -q --as alice bot 'hello, bot'
dm-send -q --as bob bot 'can you send the figures of the last week by friday?'

hello='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},
  "clientInfo":{"name":"a script","version":"1"}}}'
hello=$(printf '%s' "$hello" | tr -d '\n')

# call ID TOOL ARGUMENTS: a request, as a line.
call() { printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' "$@"; }
# agent OPTION...: the answers to the lines of standard input, without the one to the greeting.
agent() { (printf '%s\n' "$hello"; cat) | dm-mcp --as bot "$@" 2>"$work/agent.err" | sed 1d; }
# data FILTER: the objects in the answers, by jq.
data() { jq -c '.result.content[0].text | split("\n")[1] | fromjson' | jq -rc "$@"; }

is "$(printf '%s\n' "$hello" | dm-mcp --as bot | jq -c '[.id, .result.protocolVersion, .result.serverInfo.name]')" \
  '[0,"2025-06-18","dm-mcp"]' "it greets"
is "$(echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | agent | jq -r '.result.tools[].name' | paste -sd ' ')" \
  'list_conversations read_history search digest get_attachment find_people receipts wait_for_message send react mark_read edit_message delete_message' "its tools"
is "$(echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | agent --read-only | jq -r '.result.tools[].name' | paste -sd ' ')" \
  'list_conversations read_history search digest get_attachment find_people receipts wait_for_message' "those of an agent that only reads"

is "$(call 1 read_history '{"conversation":"alice"}' | agent |
  data '[.you, .conversation, .sender, .unread, .columns[], .messages[][0, 2]]')" \
  '["bot","alice","alice",true,"seq","time","text","more",1,"hello, bot"]' "what messages share stands before them"
is "$(call 1 read_history '{}' | agent | data '[.columns[], (.messages[] | .[0], .[2])]')" \
  '["ref","time","sender","text","more","alice:1","alice","bob:1","bob"]' "and what they do not share is in them"
is "$(call 1 list_conversations '{}' | agent | data '.conversations[] | [.conversation, .unread, .last.text]')" \
  "$(dm-list --as bot | jq -c '[.name, .unread_count, .last_message.text]')" "conversations, with the last message"
is "$(call 1 search '{"query":"hello"}' | agent | data '[.conversation, .messages[][2]]')" '["alice","hello, bot"]' "hits"
is "$(call 1 digest '{"since":"1h"}' | agent | data '.points[]')" \
  "$(dm-digest --as bot --since 1h)" "points are as dm-digest prints them"
is "$(call 1 read_history '{}' | agent | jq -c '.result | keys')" '["content","isError"]' "texts come once"

send=$(call 1 send '{"conversation":"alice","text":"hello, alice","nonce":"a1"}')
is "$(printf '%s\n%s\n' "$send" "$send" | agent | data '.message | [.ref, .duplicate]' | paste -sd ' ')" \
  '["alice:2",null] ["alice:2",true]' "a message with a nonce is sent once"
is "$(dm-tail --as alice bot | jq -r .text | paste -sd ,)" 'hello, bot,hello, alice' "and is there"
is "$(call 1 react '{"message":"alice:1","emoji":"👍"}' | agent | data '.reaction | [.user, .emoji]')" \
  '["bot","👍"]' "a reaction"
is "$(call 1 mark_read '{"conversation":"alice","up_to":"alice:1"}' | agent | data .marked.ranges)" \
  '[[1,1]]' "read marks"
is "$(dm-read --as alice --receipts bot:1 | jq -c '[.type, .user]' | tail -n 1)" '["read_receipt","bot"]' "which alice sees"

is "$(call 1 send '{"conversation":"alice","text":"no nonce"}' | agent | jq .error.code)" -32602 "no nonce"
is "$(call 1 send '{"conversation":"alicia","text":"x","nonce":"x"}' | agent | jq .result.isError)" true "no such user"
like "$(cat "$work/agent.err")" 'dm-mcp: send: unknown_user' "standard error has the code"
is "$(call 1 send '{"conversation":"alice","text":"x","nonce":"x"}' | agent --read-only | jq .error.code)" -32602 "--read-only"
is "$(call 1 list_conversations '{}' | agent --only alice | data '.conversations[].conversation')" \
  alice "--only"
is "$(call 1 read_history '{"conversation":"bob"}' | agent --only alice | jq .result.isError)" true "and no other"
is "$(call 1 list_conversations '{}' | agent --only alice --only bob | data '.conversations | length')" \
  2 "which may stand more than once"

conversation=$(dm-conversation show alice --as bot | jq -r .id)
is "$(echo '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"dm://conversation/'"$conversation"'"}}' |
  agent | jq -r '.result.contents[0].text' | sed 1d | jq -r '.messages[0][3]')" 'hello, bot' "a resource"

# What comes while a call waits, from another process.
follow sh -c '(printf "%s\n%s\n" "$0" "$1"; cat "$2") | dm-mcp --as bot' "$hello" \
  "$(call 7 wait_for_message '{"conversations":["carol"],"timeout_seconds":60}')" "$(mkfifo "$work/open" && echo "$work/open")"
exec 4>"$work/open"
is "$(line .id)" 0 "it greets, and waits"
echo '{"jsonrpc":"2.0","id":8,"method":"ping"}' >&4
is "$(line .id)" 8 "it answers others meanwhile"
dm-send -q --as carol bot 'are you there?'
is "$(line '.result.content[0].text | split("\n")[1] | fromjson | .messages[][2]')" 'are you there?' "and then what came"
exec 4>&-
wait "$follower"
is "$?" 0 "it ends with its input"

exits 0 "no input is no error" dm-mcp --as bot </dev/null
is "$out" "" "and no output"
exits 66 "a conversation that does not exist" dm-mcp --as bot --only +nowhere </dev/null
exits 64 "JSON-RPC has no text form" dm-mcp --as bot --text </dev/null
done_testing
