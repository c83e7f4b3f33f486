#!/bin/sh
# dm-send: quotations, empty input, and waiting for readers.
. "$(dirname "$0")/lib.sh"
people
export DM_USER=alice
dm-conversation -q create --title ops bob carol
printf 'first\n\nthird > 2\n\n' | dm-send -q --as bob alice
dm-send -q bob 'own'
quoted=$(printf '> first\n>\n> third > 2\nyes')

is "$(dm-send bob --quote 1 yes | jq -r .text)" "$quoted" "--quote puts the lines of a message before the text"
is "$(dm-tail --peek bob -n 1 | jq -r '.reply_to.seq')" 1 "and answers it"
is "$(dm-send bob --quote -2 --json ok | jq -c '[.text, .reply_to.seq]')" '["> own\nok",2]' "counted from the end"
is "$(dm-send +ops --quote bob:1 yes | jq -c '[.text, .reply_to]')" "[$(printf '%s' "$quoted" | jq -Rsc .),null]" \
  "in another conversation it answers nothing"
is "$(echo piped | dm-send bob --quote 2 | jq -r .text)" "$(printf '> own\npiped')" "before standard input"
is "$(dm-send bob --quote bob:-1 again | jq -r .text)" "$(printf '> > own\n> piped\nagain')" "of a quotation, too"
is "$(dm-send bob --quote "$(dm-tail --peek bob:2 | jq -r .id)" id | jq .reply_to.seq)" 2 "by its id"
is "$(dm-send --to bob --to +ops --quote bob:2 both | jq -c '[.is_group, .reply_to.seq]' | sort | tr '\n' ' ')" \
  '[false,2] [true,null] ' "an answer only where it was said"
is "$(EDITOR='sh -c "echo written >>\"\$0\""' dm-send bob --quote 2 --edit x | jq -r .text)" \
  "$(printf '> own\nxwritten')" "the editor begins with it"
exits 65 "a quotation alone is not sent" env EDITOR=true dm-send bob --quote 2 --edit
exits 65 "a quotation alone is no message" sh -c 'dm-send bob --quote 2 </dev/null'
exits 66 "what is not there" dm-send bob --quote 999 x
dm-edit -q delete bob:2
exits 66 "or was deleted" dm-send bob --quote 2 x
exits 77 "or is not for the user" dm-send --as carol alice --quote "$(dm-tail --peek bob:1 | jq -r .id)" x
exits 77 "by its number neither" dm-send --as carol alice --quote "$(dm-tail --peek bob:1 | jq -r .conversation_id):1" x
exits 65 "what has no text" dm-send +ops --quote 1 x
like "$err" "*no text to quote*" "which is said"
exits 64 "a number for several" dm-send --to bob --to +ops --quote 1 x
exits 64 "--reply-to is for another" dm-send bob --quote 1 --reply-to 1 x
exits 64 "lines have none" sh -c 'echo x | dm-send bob --lines --quote 1'
head -c 60000 /dev/zero | tr '\0' '\n' | sed 's/^/x/' | head -c 60000 | dm-send -q bob
exits 65 "both have 64 KiB together" dm-send bob --quote -1 "$(head -c 6000 /dev/zero | tr '\0' y)"

count() { dm-tail --peek bob -n all | wc -l; }
before=$(count)
for empty in '' ' ' '\n' '\n \t\n'; do
  # shellcheck disable=SC2016
  exits 0 "--if-any sends no empty input" sh -c 'printf "$1" | dm-send bob --if-any' sh "$empty"
  is "$out$err" "" "and says nothing"
done
exits 0 "no empty word" dm-send bob --if-any ''
exits 0 "nor what would be attached to it" sh -c 'dm-send bob --if-any --attach /etc/hostname - </dev/null'
is "$(count)" "$before" "so nothing was sent"
is "$(echo x | dm-send bob --if-any | jq -r .text)" x "but what there is"
exits 64 "with an attachment alone it has no meaning" dm-send bob --if-any --attach /etc/hostname
exits 64 "a line is not an input" sh -c 'dm-send bob --lines --if-any </dev/null'

exits 1 "--wait-read ends when the time is over" dm-send bob --wait-read 1s 'read me'
is "$(echo "$out" | jq -r .text)" "read me" "after the message was sent"
is "$err" "dm-send: sent, but not read in time by bob" "and names who has not read it"
exits 0 "without others there is nothing to wait for" dm-send alice --wait-read 1h note
follow dm-send +ops --wait-read 60s 'all of you'
seq=$(line .seq)
dm-read -q --as bob +ops "$seq"
dm-read -q --as carol +ops "$seq"
IFS= read -r rest <&3
wait "$follower"
is "$? $rest" "0 " "it ends when all have read it"
exec 3<&-
follow dm-send +ops --wait-read 60s 'who leaves'
seq=$(line .seq)
dm-read -q --as bob +ops "$seq"
dm-conversation -q --as carol leave +ops
IFS= read -r rest <&3
wait "$follower"
is "$? $rest" "0 " "who leaves is not waited for"
exec 3<&-
follow dm-send bob --wait-read 60s 'soon gone'
seq=$(line .seq)
dm-edit -q delete --for-everyone "bob:$seq"
IFS= read -r rest <&3
wait "$follower"
is "$? $rest" "1 " "nor is a message that was deleted"
exec 3<&-
exits 64 "lines are not waited for" sh -c 'echo x | dm-send bob --lines --wait-read 1s'
exits 64 "without a conversation there is none of it" sh -c 'dm-send --wait-read 1s </dev/null'
exits 65 "a time that is none" dm-send bob --wait-read soon x
done_testing
