#!/bin/sh
# Editing, deleting, reacting, reporting: by number, range, id and lines.
. "$(dirname "$0")/lib.sh"
people
export DM_USER=alice
get() { dm-tail --peek -n 1 "$@" | jq -c .; }
texts() { dm-tail --peek -n all "$@" | jq -r .text | tr '\n' ' '; }

seq 1 9 | dm-send -q --lines bob
# Texts.
is "$(dm-edit text bob:3 another text | jq -c '[.type, .seq, .text, .edited_at != null]')" \
  '["message",3,"another text",true]' "a text by its number"
id=$(get bob 4 | jq -r .id)
is "$(dm-edit text "$id" four | jq -r .text)" four "by its id"
is "$(dm-edit text bob:-1 nine | jq -r '"\(.seq) \(.text)"')" "9 nine" "and from the end"
is "$(texts --as bob alice)" "1 2 another text four 5 6 7 8 nine " "the other sees it"
before=$(get bob 3)
is "$(dm-edit text bob:3 another text)" "$before" "the same text is edited no more"
exits 65 "no text" dm-edit text bob:3 ''
exits 65 "or none at all" sh -c 'dm-edit text bob:3 </dev/null'
is "$(printf 'from\na pipe\n' | dm-edit text bob:3 | jq -c .text)" '"from\na pipe"' "a text from a pipe"
is "$(echo piped | dm-edit text bob:3 - | jq -r .text)" piped "of which a - also speaks"
is "$(echo piped | dm-edit text bob:3 -- - | jq -r .text)" - "but not after --"
exits 65 "a text from a pipe that is too long" sh -c "head -c 65537 /dev/zero | tr '\0' x | dm-edit text bob:3"
dm-edit -q text bob:3 another text
exits 65 "a text that is too long" dm-edit text bob:3 "$(head -c 65537 /dev/zero | tr '\0' x)"
exits 77 "another's words stay" dm-edit text --as bob alice:3 mine
exits 66 "what nobody said is not edited" dm-edit text bob:99 x
exits 77 "and of a conversation that one is not in nothing" dm-edit text --as carol "$id" x
exits 65 "a number alone names no message" dm-edit text 3 x
is "$(dm-tail --peek bob 2..3 | jq -c '{id, text: (.text + "!")}' | dm-edit text | jq -r .text | tr '\n' ' ')" \
  "2! another text! " "lines say which and what"
is "$(dm-tail --peek bob 2 | jq -c '{conversation_id, seq, text: "two"}' | dm-edit text | jq -r .text)" two \
  "a number in a conversation does, too"
dm-tail --peek bob 2 | jq -c '{id}' >"$work/lines"
exits 1 "a line without a text" sh -c "dm-edit text <'$work/lines'"
is "$(printf '%s' "$out" | jq -r .code)" missing_field "is answered in its place"
is "$(dm-send bob --nonce n first | jq .seq) $(dm-edit text bob:-1 second | jq .seq) $(dm-send bob --nonce n first |
  jq -r '"\(.seq) \(.text) \(.duplicate)"')" "10 10 10 second true" "a retry of what was edited finds it as it is"
is "$(dm-send bob --nonce n third | jq -r .text)" second "with whatever text"
dm-conversation -q create --title ops bob
dm-send -q +ops hi
is "$(dm-edit text +ops:-1 'hi @bob' | jq -c .mentions) $(dm-list --as bob +ops | jq .unread_mentions_count)" \
  '["bob"] 1' "an edit finds mentions anew"
dm-edit -q text +ops:-1 'hi @carol'
is "$(dm-list --as bob +ops | jq .unread_mentions_count)" 0 "and loses them"
dm-edit -q text +ops:-1 'hi @bob'
dm-read -q --as bob +ops --all
dm-edit -q text +ops:-1 '@bob hi'
is "$(dm-list --as bob +ops | jq .unread_mentions_count)" 0 "what was read mentions nobody any more"
dm-read -q --as bob +ops --all --unread
is "$(dm-list --as bob +ops | jq .unread_mentions_count)" 1 "until it is unread again"

# In an editor, on a terminal.
editor() { printf '#!/bin/sh\n%s\n' "$1" >"$work/editor" && chmod +x "$work/editor"; }
edit() { VISUAL="$work/editor" TMPDIR="$work" script -qec "dm-edit text $1" /dev/null </dev/null | tr -d '\r'; }
dm-send -q carol 'a text'
editor 'sed "s/text/letter/" "$1" >"$1.new" && mv "$1.new" "$1"'
is "$(edit 'carol:1 --json' | jq -r .text)" "a letter" "an editor begins with the text that is there"
editor 'dm-send -q carol later && echo "another letter" >"$1"'
is "$(edit 'carol:-1 --json' | jq -r '"\(.seq) \(.text)"')" "1 another letter" \
  "the last message is the one that was last before the editor was opened"
is "$(get carol | jq -r '"\(.seq) \(.text)"')" "2 later" "and the store is free meanwhile"
before=$(get carol 1)
editor ':'
is "$(edit 'carol:1 --json')" "$before" "a text that is left as it is is not edited"
editor ': >"$1"'
like "$(edit carol:1)" "dm-edit: the text is empty*" "an empty text is refused"
editor 'false'
like "$(edit carol:1)" "dm-edit: the editor '*' failed, so its text was not used; it is in '$work/dm-edit-*'" \
  "and so is that of an editor that fails"
rm -f "$work"/dm-edit-*
editor 'echo opened >"$DM_STORE/../opened"'
like "$(edit '--as carol alice:1')" "dm-edit: 'alice' said the message 'alice:1', not 'carol'*" "another's words"
like "$(edit carol:99)" "dm-edit: there is no message '99'*" "and what nobody said"
is "$(ls "$work/opened" 2>/dev/null)" "" "open no editor"
is "$(get carol 1)" "$before" "nothing of that changes the message"
editor 'dm-edit -q delete carol:2 && echo "a long letter" >"$1"'
kept=$(edit carol:2 | sed "s/.*what you wrote is in '\(.*\)'/\1/")
is "$(cat "$kept")" "a long letter" "a text for a message that was deleted meanwhile is kept"
rm -f "$kept"
is "$(ls "$work"/dm-edit-* 2>/dev/null)" "" "no other file stays"

# Reactions.
react() { dm-edit react "$1" bob:1 >"$work/.out" 2>"$work/.err"; }
for emoji in 👍 👍🏽 ❤️ ❤ ☺️ 🇩🇪 1️⃣ '#️⃣' '*️⃣' 👨‍👩‍👧‍👦 👩🏽‍❤️‍💋‍👩🏿 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏳️‍🌈 👁️‍🗨️ 🫠 ⌚ ©️ 🧑🏿‍🚀; do
  if react "$emoji"; then _pass "$emoji is an emoji"; else _fail "$emoji is an emoji" "$(cat "$work/.err")"; fi
done
is "$(get bob 1 | jq -c .reactions)" '[{"emoji":"🧑🏿‍🚀","users":["alice"]}]' "one has one, the last"
for text in a ab 👍👍 '' 1 12 '#' '👍 ' ' 👍' 👍a 🇩 🇩🇪🇫🇷 ñ 海 © "$(printf '\342\200\215')" "$(printf '\357\270\217')" "👍$(printf '\342\200\215')" \
  "1$(printf '\357\270\217')" "👍$(seq 40 | sed 's/.*/️/' | tr -d '\n')"; do
  if react "$text"; then _fail "'$text' is not an emoji"; else is $? 65 "'$text' is not an emoji"; fi
done
is "$(get bob 1 | jq -c .reactions)" '[{"emoji":"🧑🏿‍🚀","users":["alice"]}]' "what is none changes nothing"
dm-edit -q react 👍 bob:1
is "$(dm-edit --as bob react 👍 alice:1 | jq -c '[.type, .seq, .user, .emoji]')" '["reaction",1,"bob","👍"]' "a reaction"
is "$(get bob 1 | jq -c .reactions)" '[{"emoji":"👍","users":["alice","bob"]}]' "by both, in order"
is "$(dm-edit react --remove bob:1 | jq -c 'has("emoji")') $(get bob 1 | jq -c .reactions)" 'false [{"emoji":"👍","users":["bob"]}]' \
  "taken back"
is "$(dm-edit react 👀 bob 2..4 6 | jq .seq | tr '\n' ' ')" "2 3 4 6 " "to several, by ranges"
is "$(dm-tail --peek bob 7..8 | dm-edit react ☕ | jq -r '"\(.seq)\(.emoji)"' | tr '\n' ' ')" "7☕ 8☕ " "by lines"
is "$(dm-tail --peek --deleted bob --cursor start --events reaction | dm-edit react ☕)" "" "lines of other kinds pass by"
is "$(dm-edit react bob:2 bob:3 👍 | jq -r '"\(.seq)\(.emoji)"' | tr '\n' ' ')" "2👍 3👍 " "the emoji may be the last"
is "$(dm-edit react bob 2..3 ❤️ | jq -r '"\(.seq)\(.emoji)"' | tr '\n' ' ')" "2❤️ 3❤️ " "after a range, too"
is "$(dm-edit react :thumbsup: bob:2 | jq -r .emoji) $(dm-edit react bob:2 :-1: | jq -r .emoji)" "👍 👎" \
  "a short code, in either place"
is "$(dm-tail --peek bob 2 | dm-edit react :tada: | jq -r .emoji)" "🎉" "and for lines"
exits 65 "an unknown short code" dm-edit react bob:2 :thumbup:
like "$err" "*':thumbup:' is not a short code here; did you mean ':thumbsup:'?" "names a near one"
exits 65 "or none" dm-edit react :qqqqqq: bob:2
like "$err" "*write the emoji itself, such as 👍" "if there is none"
exits 65 "of two emoji the last" dm-edit react 👀 bob:2 👍
like "$err" "*'👍' names no message*" "is taken for a message"
is "$(get bob 2 | jq -c .reactions)" '[{"emoji":"🎉","users":["alice"]}]' "and nothing is changed by it"
is "$(get bob 9 | jq .reactions)" null "the others have none"
exits 77 "nobody reacts where they are not a participant" dm-edit --as carol react 👍 "$id"
exits 77 "nor to what is announced" dm-edit react 👍 +ops:1
is "$(dm-conversation show bob | jq -r .last_message.seq) $(dm-conversation show --as bob alice | jq .unread_count)" "10 10" \
  "a reaction is neither a message nor news"

# Deleting.
is "$(dm-edit delete bob:5 | jq -c '[.type, .seq, .for_everyone]')" '["message_deleted",5,false]' "deleted for the user alone"
is "$(dm-tail --peek bob 5 | wc -l) $(dm-tail --peek --as bob alice 5 | jq -r .text)" "0 5" "is there for the other"
exits 66 "and there is nothing more to delete" dm-edit delete bob:5
exits 66 "to edit" dm-edit text bob:5 x
exits 66 "to answer" dm-send bob --reply-to 5 x
exits 66 "or to forward" dm-send alice --forward bob:5
is "$(dm-edit delete bob 4..6 | jq .seq | tr '\n' ' ')" "4 6 " "a range passes over what is gone"
is "$(dm-edit delete bob 4..6)" "" "and may be empty"
id=$(get bob 7 | jq -r .id)
exits 77 "another's words stay for all" dm-edit --as bob delete --for-everyone alice:7
is "$(dm-edit delete --for-everyone "$id" | jq -c '[.seq, .for_everyone]')" "[7,true]" "one's own go for all"
is "$(dm-tail --peek --as bob alice 6..8 | jq -r .text | tr '\n' ' ')" "6 8 " "and leave a gap"
is "$(dm-tail --peek --as bob alice 7 --deleted | jq -c '[.seq, .text, .reactions, .deleted_at != null]')" \
  '[7,null,null,true]' "in which a tombstone is, on request"
exits 66 "to which nobody reacts" dm-edit --as bob react 👍 "$id"
is "$(dm-tail --peek bob -n 100 | jq -c 'select(.seq > 7) | {conversation_id, seq}' | dm-edit delete --for-everyone |
  jq .seq | tr '\n' ' ')" "8 9 10 " "by lines"
is "$(dm-conversation show --as bob alice | jq -c '[.last_message.seq, .unread_count, .first_unread_seq]')" "[6,6,1]" \
  "the list goes on with what is left"
is "$(dm-send bob --nonce n anew | jq -c '[.seq, .text, .duplicate, .deleted_at != null]')" '[10,null,true,true]' \
  "a nonce stands for what is deleted, too"
is "$(dm-send bob after | jq .seq)" 11 "numbers go on"
is "$(dm-tail --peek bob:-2 --deleted | jq .seq) $(dm-tail --peek bob:-2 | jq .seq)" "3 3" "those from the end are of what is seen"
exits 66 "what is deleted is not there" dm-edit text bob:10 x
is "$(dm-tail --peek --as bob alice --unread | jq .seq | tr '\n' ' ')" "1 2 3 4 5 6 11 " "what is unread has no tombstones"
is "$(dm-read --as bob alice --all | jq .unread_count)" 0 "and can all be read"
is "$(dm-read --as bob alice --all --unread | jq .unread_count)" 7 "and be unread again, without them"
printf '%s\n' "{\"id\":\"$id\"}" '{"id":"x"}' '{"seq":1}' '{"type":"heartbeat"}' 'no' >"$work/lines"
exits 1 "what cannot be done" sh -c "dm-edit delete <'$work/lines'"
is "$(printf '%s' "$out" | jq -r '"\(.line):\(.code)"' | tr '\n' ' ')" \
  "1:unknown_message 2:bad_field 3:missing_field 5:malformed_line " "is answered line by line"

# Reports.
is "$(dm-edit --as bob report alice:2 --reason spam | jq -c '[.type, .seq, .sender, .user, .reason, .text]')" \
  '["report",2,"alice","bob","spam","two"]' "a report holds a copy"
is "$(dm-edit --as bob report alice:2 | jq -c .reason)" null "reported again the reason is another"
exits 77 "one's own is not reported" dm-edit report bob:2
exits 65 "a reason that is too long" dm-edit --as bob report alice:2 --reason "$(head -c 1025 /dev/zero | tr '\0' x)"
is "$(dm-edit --as bob report alice 1..3 | jq -r .seq | tr '\n' ' ')" "1 2 3 " "several"
is "$(dm-tail --cursor start --peek | grep -c report)" 0 "nobody else is told"

# What a follower is told.
follow dm-tail -f -n 0 --as bob --peek --invisible --events message,message_updated,message_deleted,reaction alice
is "$(line .type)" caught_up "who follows"
dm-edit -q text bob:2 zwei
is "$(line '[.type, .text]')" '["message_updated","zwei"]' "is told of an edit"
dm-edit -q react 👍 bob:2
is "$(line '[.type, .user, .emoji]')" '["reaction","alice","👍"]' "a reaction"
dm-edit -q react --remove bob:2
is "$(line '[.type, .emoji]')" '["reaction",null]' "that it was taken back"
dm-edit -q delete bob:1
dm-edit -q delete --for-everyone bob:2
is "$(line '[.type, .seq, .for_everyone]')" '["message_deleted",2,true]' "of a deletion for all, and of no other's own"
dm-edit -q --as bob delete alice:3
is "$(line '[.type, .seq, .for_everyone]')" '["message_deleted",3,false]' "but of their own"
leave

# Pins.
dm-send -q bob 'pin me'
is "$(dm-edit pin bob:-1 | jq -c '[.type, .user, .is_pinned]')" '["message_pin","alice",true]' "a message is pinned"
pinned=$(dm-list --pins | jq -c '[.pinned_by, .pinned_at]')
is "$(dm-edit --as bob pin alice:-1 | jq -c '[.user, .changed_at]')" "$pinned" "pinning it again says who did, and when"
is "$(printf '/pin -1\n' | dm-chat --as bob --plain alice | grep -c 'is pinned already, by alice')" 1 "as dm-chat does"
is "$(dm-list --pins --as bob alice | jq -c '[.type, .text, .pinned_by, has("pinned_at")]')" \
  '["message","pin me","alice",true]' "for everybody"
like "$(dm-list --pins --text --as bob)" "*alice (*pinned by alice*): pin me" "as text"
is "$(dm-tail --peek -n 1 bob | dm-edit --as bob unpin | jq -c '[.user, .is_pinned]')" '["bob",false]' \
  "another user unpins it, by its line"
is "$(dm-list --pins)" "" "and nothing is pinned"
is "$(dm-tail --cursor start --peek --events message_pin bob | jq -r 'select(.type == "message_pin").user' | tr '\n' ' ')" \
  "alice bob " "the stream has both changes"
exits 64 "--pins does not go with a choice of conversations" dm-list --pins --unread
exits 66 "nor has a group pins that is not there" dm-list --pins +nowhere
is "$(printf '/pin -1\n/pins\n/unpin -1\n' | dm-chat --plain bob | tail -n 3 | sed 's/.*pinned by you/pinned by you/; s/[0-9]\{1,\}$/N/' | paste -sd ,)" \
  "pinned N,pinned by you): pin me,unpinned N" \
  "dm-chat pins and lists, too"

# Several messages, of which some fail.
dm-conversation -q create --title many bob
seq 51 | dm-send -q +many --lines
exits 1 "more pins than a conversation may have" dm-edit pin +many 2..52
is "$err" "dm-edit: +many:52: '+many' has 50 pinned messages, and cannot have more; unpin one first" "are errors of their messages"
is "$(printf '%s\n' "$out" | jq -c '[.type, .line]' | sort | uniq -c | tr -s ' \n' ' ')" ' 1 ["error",null] 50 ["message_pin",null] ' \
  "and the others are pinned"
done_testing
