#!/bin/sh
# dm-tail: messages that are chosen by sender, mention or thread, one by one, and with all members.
. "$(dirname "$0")/lib.sh"
people
export DM_USER=bob
dm-conversation -q --as alice create --title ops bob carol
say() { dm-send -q --as "$1" +ops "$2" ${3:+--reply-to "$3"}; }
say alice 'deploy?'            # 2
say carol 'which one?' 2       # 3
say alice 'the second' 3       # 4
say bob 'unrelated'            # 5
say carol 'done, @bob' 4       # 6
say bob 'thanks' 6             # 7
say alice 'another way' 2      # 8
say alice '@carol lunch?'      # 9
seqs() { dm-tail --peek "$@" | jq -r .seq | tr '\n' ' '; }

is "$(seqs +ops --from carol)" "3 6 " "--from"
is "$(seqs +ops --from @carol -n 1)" "6 " "of which -n counts the newest"
is "$(seqs +ops --from alice -n 2)" "8 9 " "two of another"
is "$(seqs --from carol -n 1)" "6 " "in all conversations"
is "$(seqs +ops 1..5 --from carol)" "3 " "in a range"
is "$(seqs +ops --from carol --since 4)" "6 " "since a message"
is "$(seqs +ops --mentions) $(seqs --mentions)" "6  6 " "--mentions has those of the user who acts"
is "$(dm-tail --as carol --peek +ops --mentions | jq .seq)" 9 "and no others"
dm-edit -q text --as alice +ops:8 'another way, @bob'
is "$(seqs +ops --mentions) $(seqs --mentions -n 1)" "6 8  8 " "also those of an edit"
is "$(seqs +ops --mentions --from alice)" "8 " "both"

is "$(seqs --thread +ops:4)" "2 3 4 6 7 " "--thread has what a message answers, and all that answers it"
is "$(seqs +ops --thread 2)" "2 3 4 6 7 8 " "that of the first one has all"
is "$(seqs +ops --thread 7)" "2 3 4 6 7 " "that of the last one has its way there"
is "$(seqs +ops --thread 5)" "5 " "that of an answerless one has itself"
is "$(seqs +ops --thread -1)" "9 " "counted from the end"
is "$(seqs --thread "$(dm-tail --peek +ops:3 | jq -r .id)")" "2 3 4 6 7 " "by its id"
is "$(seqs +ops --thread 4 -n 2) $(seqs +ops --thread 2 --from carol)" "6 7  3 6 " "with -n and --from"
dm-edit -q delete --as carol --for-everyone +ops:3
is "$(seqs +ops --thread 4)" "2 4 6 7 " "it goes on behind a deleted message"
dm-user -q block carol
is "$(seqs +ops --thread 4) $(seqs +ops --thread 7)" "4  7 " "and ends at one that is hidden"
is "$(seqs +ops --from carol)" "" "of which --from has none"
dm-user -q unblock carol
exits 66 "a thread of nothing" dm-tail +ops --thread 99
exits 66 "nor of what was deleted" dm-tail +ops --thread 3
exits 65 "a number needs a conversation" dm-tail --thread 3
exits 64 "only one" dm-tail +ops alice --thread 3
exits 67 "a sender that there is not" dm-tail --from bbo
exits 64 "a consumer takes all" dm-tail --consumer c --cursor start --from carol
exits 77 "a thread of others" dm-tail --as carol --thread "$(dm-send alice private | jq -r .id)"

dm-send -q --as alice bob one
is "$(dm-tail alice --from alice | jq -r .text) $(dm-tail --as alice --peek bob -n 1 | jq -r .status)" "one sent" \
  "what was chosen is not marked as delivered"
dm-tail alice --from alice --read >/dev/null
is "$(dm-tail --as alice --peek bob -n 1 | jq -r .status)" "read" "but as read with --read"

# In the stream.
what='"\(.type) \(.text // .seq // .emoji // "")"'
follow dm-tail -f +ops --thread 2 -n 1 --events message,message_updated,message_deleted,reaction
is "$(line "$what") $(line .type)" "message another way, @bob caught_up" "--thread -f begins with its history"
say alice aside
say carol 'to the last' 8       # 11
dm-send -q --as carol alice elsewhere
say alice 'to that' 11          # 12
is "$(line "$what") $(line "$what")" "message to the last message to that" "and has new answers, also to new ones"
dm-edit -q react --as alice '👍' +ops:10
dm-edit -q react --as alice '👍' +ops:11
is "$(line .type)" reaction "reactions to them"
dm-edit -q text --as alice +ops:10 changed
dm-edit -q text --as alice +ops:12 'to that one'
is "$(line "$what")" "message_updated to that one" "their edits"
dm-edit -q delete --as alice --for-everyone +ops:12
is "$(line .type)" message_deleted "and deletions"
leave
follow dm-tail -f --from carol -n 0
is "$(line .type)" caught_up "--from -f"
say alice aside
say carol hers
is "$(line "$what")" "message hers" "has what this user says"
leave
follow dm-tail -f --mentions -n 0 --events all
is "$(line .type)" caught_up "--mentions -f"
say alice 'for @carol'
say alice 'for @bob'
is "$(line "$what")" "message for @bob" "has what mentions the user"
leave
is "$(dm-tail --cursor start --mentions --peek | jq -r 'select(.seq).seq' | tr '\n' ' ')" "6 8 8 16 " "also from the log, edits included"
exits 64 "no event of a conversation is about a message" dm-tail -f --from carol --events conversation_updated

# One by one.
dm-send -q carol 'to carol'
is "$(dm-tail --peek alice:1 +ops:2 carol:1 | jq -r .text | paste -sd ' ')" "private deploy? to carol" \
  "messages of several conversations, as they are named"
is "$(seqs +ops:4 +ops:2)" "2 4 " "those of one are in its order"
is "$(dm-tail --peek "$(dm-tail --peek +ops:4 | jq -r .id)" alice:1 | jq -r .seq | paste -sd ' ')" "4 1" "beside an id"
exits 66 "one that is not there" dm-tail alice:1 +ops:99
exits 64 "and no option for conversations" dm-tail alice:1 +ops:2 -n 3

# Counts.
is "$(dm-tail --peek -3 | jq -s length) $(seqs -2 +ops)" "3 15 16 " "-N before the operands is -n N"
is "$(seqs +ops -2)" "15 " "and behind a conversation the Nth from the end"
exits 64 "a stream that begins at a cursor has none" dm-tail -3 --cursor start

# All members.
dm-tail --peek +ops --all-fields >"$work/all"
is "$(jq -c keys "$work/all" | sort -u | wc -l)" 1 "--all-fields gives each record the same members"
is "$(head -n 1 "$work/all" | jq -c '[.reply_to, .attachments, .cursor, has("line")]')" '[null,null,null,true]' \
  "null where there is none"
is "$(jq -c 'del(.[] | nulls)' "$work/all")" "$(dm-tail --peek +ops | jq -c .)" "and nothing else is changed"
is "$(dm-tail --cursor start --peek --all-fields | jq -c 'select(.type == "message") | keys' | sort -u | wc -l)" 1 \
  "in the stream, too"
is "$(dm-tail --peek +ops -1 --all-fields | dm-read | jq -r .type)" marked "such lines are read by other programs"
exits 64 "text has no members" dm-tail +ops --text --all-fields

# Of which messages a user is notified.
since=$(dm-tail --cursor start --peek --json | jq -r .cursor | tail -n 1)
notified() { dm-tail --cursor "$since" --notify | jq -r 'select(.type == "message").text' | paste -sd ,; }
say alice 'the build is red'
say carol 'see the REBUILD, @bob'
dm-send -q --as alice bob 'in private'
say bob 'my own, @bob'
dm-send -q carol 'my own'
is "$(notified)" "see the REBUILD, @bob,in private" "--notify: mentions and direct messages of others"
is "$(DM_NOTIFY=all notified)" "the build is red,see the REBUILD, @bob,in private" "or all"
is "$(DM_KEYWORDS='deploy, Build is' notified)" "the build is red,see the REBUILD, @bob,in private" "those with a keyword"
is "$(DM_KEYWORDS='build i, ed' notified)" "see the REBUILD, @bob,in private" "as whole words"
hour=$(date +%H)
is "$(DM_QUIET="$hour:00-$(printf %02d $(((${hour#0} + 2) % 24))):00" notified)" "" "nothing in the quiet hours"
is "$(DM_QUIET="$(printf %02d $(((${hour#0} + 2) % 24))):00-$(printf %02d $(((${hour#0} + 3) % 24))):00" notified)" \
  "see the REBUILD, @bob,in private" "which are not now"
dm-conversation -q mute +ops
is "$(notified)" "in private" "nothing of muted conversations"
dm-conversation -q unmute +ops
dm-read -q alice --all
is "$(notified)" "see the REBUILD, @bob" "nothing that was read"
follow dm-tail -f --notify
is "$(line .type)" caught_up "--notify -f begins with no history"
say alice 'nothing to see'
say alice '@bob!'
is "$(line "$what")" "message @bob!" "and has what comes"
leave
exits 64 "a history notifies of nothing" dm-tail bob --notify
exits 64 "nor do receipts" dm-tail -f --notify --events read_receipt
exits 64 "a part of the day that is none" env DM_QUIET=night dm-tail -f --notify
done_testing
