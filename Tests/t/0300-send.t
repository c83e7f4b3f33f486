#!/bin/sh
# Sending: from arguments, standard input, lines, JSON lines, an editor.
. "$(dirname "$0")/lib.sh"
people
export DM_USER=alice
last() { dm-tail bob -n 1 --peek | jq -r .text; }

is "$(dm-send bob 'lunch?' | jq -c '[.type, .seq, .sender, .text, .status]')" '["message",1,"alice","lunch?","sent"]' \
  "arguments"
is "$(dm-send bob lunch at one | jq -r .text)" "lunch at one" "are joined by spaces"
is "$(dm-send bob 'x' --text)" "bob:3" "text answers with a reference"
is "$(dm-send bob x </dev/null | jq .seq)" 4 "standard input is not read where there is text"

is "$(printf 'hi\n' | dm-send bob | jq .text)" '"hi"' "exactly one final line feed is taken off"
is "$(printf 'hi\n\n' | dm-send bob | jq .text)" '"hi\n"' "and no second one"
is "$(printf 'hi' | dm-send bob | jq .text)" '"hi"' "none is needed"
is "$(printf 'a\nb\r\nc' | dm-send bob | jq .text)" '"a\nb\r\nc"' "the others stay"
is "$(printf '{"conversation":"carol","text":"x"}' | dm-send bob | jq -r .text)" '{"conversation":"carol","text":"x"}' \
  "plain text is no JSON"
exits 65 "nothing at all" sh -c 'printf "" | dm-send bob'
exits 65 "a line feed alone is nothing" sh -c 'echo | dm-send bob'
exits 65 "what is not UTF-8" sh -c 'printf "\377\n" | dm-send bob'
exits 65 "a NUL" sh -c 'printf "a\000b" | dm-send bob'
exits 0 "64 KiB" sh -c 'head -c 65536 /dev/zero | tr "\0" x | dm-send -q bob'
exits 65 "and one byte more" sh -c 'head -c 65537 /dev/zero | tr "\0" x | dm-send bob'
exits 65 "and very much more" sh -c 'head -c 10000000 /dev/zero | tr "\0" x | dm-send bob'
long() { head -c 70000 /dev/zero | tr '\0' x; }
is "$(printf 'caf\351 \000\n' | dm-send bob --lossy | jq -r .text)" "$(printf 'caf\357\277\275 \357\277\275')" \
  "--lossy repairs what is not UTF-8, and NUL"
is "$(dm-send bob --lossy "$(printf 'caf\351')" | jq -r .text)" "$(printf 'caf\357\277\275')" "in arguments, too"
exits 65 "but not without it" dm-send bob "$(printf 'caf\351')"
exits 65 "nor after --" dm-send bob -- --lossy "$(printf 'caf\351')"
is "$(printf 'a\n\377\n' | dm-send bob --lines --lossy | jq -s length)" 2 "in lines, too"
is "$(long | dm-send bob --overflow truncate | jq -r '.text | [utf8bytelength, .[-2:]] | join(" ")')" "65536 x…" \
  "--overflow truncate cuts at 64 KiB"
is "$( (printf xx; head -c 80000 /dev/zero | sed 's/\x00/é/g') | dm-send bob --overflow truncate | jq -r '.text[-2:]')" "é…" \
  "between two characters"
is "$( (head -c 70000 /dev/zero | tr '\0' '\351') | dm-send bob --lossy --overflow truncate | jq -r '.text | utf8bytelength')" \
  65535 "after the repair"
is "$(long | dm-send bob --overflow attach | jq -r '(.text | utf8bytelength, .[-2:]), (.attachments[0] | .name, .size_bytes)' |
  tr '\n' ' ')" "1024 x… text.txt 70000 " "--overflow attach sends the beginning, and all of it as a file"
is "$(dm-attach --get bob:-1 -o - | cmp - "$(long >"$work/long"; echo "$work/long")" && echo same)" same "byte for byte"
is "$(long | dm-send bob --overflow attach --nonce big | jq .duplicate)" null "with a nonce"
is "$(long | dm-send bob --overflow attach --nonce big | jq .duplicate)" true "it is sent once"
is "$(echo short | dm-send bob --overflow attach | jq -c '[.text, .attachments]')" '["short",null]' "a short text stays one"
exits 65 "--overflow error fails" sh -c 'head -c 70000 /dev/zero | tr "\0" x | dm-send bob --overflow error'
exits 64 "another word is wrong" dm-send bob --overflow never x
exits 64 "nor is a text repaired that is there already" dm-send bob --forward -1 --lossy
exits 64 "a line is not attached" dm-send bob --lines --overflow attach
dm-send -q bob "$(printf '\342\200\250\033[31m')"
is "$(dm-tail bob -n 1 | grep -c 'u2028.u001b\[31m')" 1 "what could act on a terminal is escaped"
is "$(last)" "$(printf '\342\200\250\033[31m')" "and comes back as it was"

is "$(printf 'one\ntwo\n' | dm-send --lines bob | jq -r .text | tr '\n' ' ')" "one two " "--lines sends each line"
exits 1 "an empty line among them fails alone" sh -c 'printf "one\n\nthree\n" | dm-send --lines bob'
is "$(printf '%s' "$out" | jq -r '.text // .code' | tr '\n' ' ')" "one empty_text three " "and is answered in its place"
like "$err" "dm-send: line 2: *" "and named by its number"
exits 1 "a last line without a line feed fails" sh -c 'printf "one\ntwo" | dm-send --lines bob'
is "$(printf '%s' "$out" | jq -r '.text // .code' | tr '\n' ' ')" "one unfinished_line " "because it may be half of one"

printf '%s\n' '{"conversation":"bob","text":"a"}' '{"conversation":"bob","text":' '{"conversation":"bbo","text":"c"}' \
  '{"conversation":"bob"}' '{"conversation":"bob","text":"e","unknown":[1]}' \
  '{"conversation":"bob","text":"e","text":"f"}' \
  '{"conversation":"carol","text":"g"}' >"$work/lines"
exits 1 "a malformed line never ends the batch" sh -c "dm-send <'$work/lines'"
is "$(printf '%s' "$out" | jq -r '.text // "\(.line):\(.code)"' | tr '\n' ' ')" \
  "a 2:malformed_line 3:unknown_user 4:missing_field e 6:malformed_line g " "each is answered by one line, in order"
is "$(printf '%s' "$out" | jq -s 'map(select(.type == "error") | .retryable) | any')" false \
  "none of them is worth a retry"
is "$(printf '%s\n' '{}' '{"conversation":"bob","text":"x","nonce":"l1"}' '{"conversation":"nobody","text":"x","nonce":"l2"}' |
  dm-send 2>/dev/null | jq -c '[.line, .nonce]' | tr '\n' ' ')" '[1,null] [2,"l1"] [3,"l2"] ' \
  "an answer names the line and its nonce"
is "$(dm-send bob x | jq .line)" null "but only of lines"
is "$(dm-send --schema | jq -c '."$defs".send_line.anyOf[0]')" '{"required":["conversation_id"]}' \
  "the schema says what a line needs"
numbered() { seq 2500 | jq -c '{conversation: "carol", text: "\(.)", nonce: "n\(.)"}'; }
is "$(numbered | dm-send | jq -s 'length, (map(.text | tonumber) == [range(1; 2501)])' | tr '\n' ' ')" \
  "2500 true " "lines over several transactions are answered in order"
is "$(numbered | dm-send | jq -s 'map(.duplicate) | all')" true "and again, each is a duplicate"
is "$(dm-tail carol -n all | jq -s 'map(.seq) == [range(1; 2502)]')" true "numbers have no holes"

is "$(dm-send bob --nonce today 'backup done' | jq .duplicate)" null "a nonce"
is "$(dm-send bob --nonce today 'backup done' | jq .duplicate)" true "makes one message"
like "$(dm-send bob --nonce today 'backup done' --text)" "bob:* (sent before)" "and says so as text"
exits 73 "with another text it is a conflict" dm-send bob --nonce today 'backup failed'
is "$(dm-send bob --nonce today --once 'backup failed' | jq -c '[.text, .duplicate]')" '["backup done",true]' \
  "--once returns what was sent, whatever the text is now"
is "$(df | dm-send bob --nonce disk --once | jq .duplicate)" null "and sends what was not sent"
is "$(echo other | dm-send --to bob --to carol --nonce disk --once | jq -c .duplicate | tr '\n' ' ')" "true null " \
  "in each conversation"
is "$(echo '{"conversation":"bob","text":"other","nonce":"disk"}' | dm-send --once | jq .duplicate)" true "of JSON lines, too"
exits 64 "--once needs a nonce" dm-send bob --once x
is "$(dm-send --as bob alice --nonce today 'backup failed' | jq .duplicate)" null "of the same sender"

first=$(dm-tail bob 1 | jq -r .id)
is "$(dm-send bob --reply-to 1 yes | jq -r .reply_to.id)" "$first" "a reply by number"
is "$(dm-send bob --reply-to bob:1 yes | jq -r .reply_to.id)" "$first" "by conversation and number"
is "$(dm-send bob --reply-to "$first" yes | jq -r .reply_to.id)" "$first" "by id"
is "$(dm-send bob --reply-to -1 yes | jq -r .reply_to.id)" "$(dm-tail bob -n 2 | head -n 1 | jq -r .id)" "to the last"
exits 66 "to none" dm-send bob --reply-to 99999 yes
exits 65 "a clock that cannot be right" faketime -f '9999-12-31 20:00:00' dm-send bob --expires-in 1h late
like "$err" "*the clock of this machine is at 9999-*" "is not written with"
exits 0 "and leaves no fault" dm-doctor check --deep
is "$(printf 'a\nb\n' | dm-send bob - | jq -c .text)" '"a\nb"' "- is standard input"
is "$(echo draft | dm-send bob --draft - | jq -r .draft_text)" draft "of a draft, too"
is "$(echo both | dm-send --to bob --to carol - | jq -r .text | tr '\n' ' ')" "both both " "and of a message to several"
is "$(echo no | dm-send bob -- - | jq -r .text) $(echo no | dm-send bob - - | jq -r .text)" "- - -" \
  "but after -- and among other words it is a hyphen"
# What is typed on a terminal, with Ctrl-D after a line.
typed() { printf 'typed\n\004' | script -qec "$1" /dev/null | tr -d '\r'; }
like "$(typed 'dm-send bob --text')" "*dm-send: type the message; Ctrl-D sends*bob:*" "who is to type a message is told so"
is "$(dm-tail bob -n 1 --peek | jq -r .text)" typed "and Ctrl-D sends it"
like "$(typed 'dm-send bob --draft - --text')" "*dm-send: type the draft; Ctrl-D saves*" "or a draft"
like "$(typed 'dm-send bobb')" "*dm-send: there is no user 'bobb'*" "a message to nobody"
case $(typed 'dm-send bobb') in *Ctrl-D*) no=asked ;; *) no=refused ;; esac
is "$no" refused "is refused before it is typed"
like "$(typed 'dm-send bob carol hello')" "*'carol' is a part of the text; to send to both, write --to bob --to carol*" \
  "a second name is a part of the text, as a note says"
case $(typed 'dm-send bob nobody hello') in *'a part of'*) no=said ;; *) no=quiet ;; esac
is "$no" quiet "but not if it is no name"
for call in 'dm-send -q bob' 'dm-send bob <words' 'dm-send bob 2>/dev/null' 'dm-send bob words' 'dm-send bob --attach words'; do
  echo words >"$work/words"
  case $(cd "$work" && typed "$call") in *Ctrl-D*) no=asked ;; *) no=silent ;; esac
  is "$no" silent "'$call' says nothing of typing"
done
exits 64 "standard input is not two things" sh -c "echo x | dm-send bob --attach - -"
exits 64 "nor an editor's text" sh -c "echo x | EDITOR=true dm-send bob --edit -"
exits 66 "to another conversation's" dm-send bob --reply-to carol:1 yes

printf '#!/bin/sh\nprintf "from the editor, after: " >"$1.new"; cat "$1" >>"$1.new"; mv "$1.new" "$1"\n' >"$work/editor"
chmod +x "$work/editor"
is "$(EDITOR="$work/editor" dm-send bob --edit draft | jq -r .text)" "from the editor, after: draft" \
  "an editor begins with the text that is there"
is "$(EDITOR=false VISUAL="$work/editor" dm-send bob --edit | jq -r .text)" "from the editor, after: " \
  "VISUAL comes first"
exits 65 "an editor that fails sends nothing" env EDITOR=false dm-send bob --edit
exits 65 "an editor that leaves nothing sends nothing" env EDITOR=true dm-send bob --edit
is "$(printf 'a\nb\n' | dm-send carol --lines --nonce job | jq -r .nonce | tr '\n' ' ')" "job-1 job-2 " \
  "--nonce before the number of each line of --lines"
is "$(printf 'a\nb\nc\n' | dm-send carol --lines --nonce job | jq -c .duplicate | tr '\n' ' ')" "true true null " \
  "so the lines can be sent again"
exits 1 "another text in a line is a conflict" sh -c "printf 'x\n' | dm-send carol --lines --nonce job"
exits 0 "but with --once" sh -c "printf 'x\n' | dm-send carol --lines --nonce job --once"
exits 64 "--lines takes no text" dm-send bob --lines x
exits 64 "--nonce needs a conversation" dm-send --nonce x
exits 64 "and so does what prepares a file" dm-send --as-file
done_testing
