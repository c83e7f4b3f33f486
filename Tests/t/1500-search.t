#!/bin/sh
# dm-search: what is found, in which order, and how it is shown.
. "$(dirname "$0")/lib.sh"

people
export DM_USER=alice
snippets() { dm-search "$@" | jq -r .snippet; }
dm-send -q bob 'lunch at the café?'
dm-send -q --as bob alice 'no lunch today, see https://a.example/lunch @alice'
dm-send -q bob '我昨天从北京回来了'
dm-send -q carol 'haha🤣 lunch, lunch'
dm-send -q --as bob carol 'lunch without alice'

is "$(snippets cafe)" 'lunch at the **café**?' "a word, whatever its accents"
is "$(snippets 'lun* NOT (today OR haha)')" '**lunch** at the café?' "a prefix, AND, OR, NOT, parentheses"
is "$(snippets '"lunch today"')" 'no **lunch today**, see https://a.example/lunch @alice' "a phrase"
is "$(snippets lunch today)" 'no **lunch** **today**, see https://a.example/**lunch** @alice' "words in any order"
is "$(snippets 北京)" '我昨天从**北京**回来了' "two characters of a script without spaces"
is "$(snippets haha)" '**haha**🤣 lunch, lunch' "a word with an emoji after it"
is "$(dm-search lunch | wc -l)" 3 "nothing of others' conversations"
is "$(dm-search --newest lunch | jq -r .sender | paste -sd ' ')" 'alice bob alice' "the newest first"
is "$(dm-search -n 1 --newest lunch | jq -c '[.type, .seq, .snippet]')" '["message",1,"haha🤣 **lunch**, **lunch**"]' "-n"
is "$(dm-search --limit=1 --newest lunch)" "$(dm-search -n 1 --newest lunch)" "which is also --limit"
is "$(dm-search lunch | jq -s 'map(keys_unsorted[-1]) | unique[]')" '"snippet"' "the snippet stands last"

is "$(dm-search --in bob lunch | wc -l)" 2 "--in"
is "$(dm-search --in bob --in carol lunch | wc -l)" 3 "twice"
is "$(dm-search --from bob | jq -r .seq)" 2 "--from, without words"
is "$(dm-search --from bob | jq 'has("snippet")')" false "which have no snippet then"
is "$(dm-search --has link | jq -r .seq)" 2 "--has link"
is "$(dm-search --has mention | jq -r .seq)" 2 "--has mention"
is "$(dm-search --has image)" "" "--has image"
is "$(dm-search --in bob --since 2 --before 3 | jq -r .seq)" 2 "--since and --before"
is "$(dm-search --before 1h lunch)" "" "a time"

exits 0 "what is found nowhere" dm-search breakfast
is "$out" "" "prints nothing"
for query in '' '(' 'AND' 'a AND' 'NOT a' '🤣' '*' ':)' "'" 'text:' 'C++'; do
  exits 0 "no query is an error: $query" dm-search "$query"
done
exits 64 "but none at all is" dm-search
exits 64 "and so is a quotation mark without an end" dm-search 'lunch "at one'
exits 64 "a kind that is none" dm-search --has luck
exits 67 "an unknown user" dm-search --from bbo
exits 66 "an unknown group" dm-search --in +ops lunch

like "$(dm-search --text cafe)" '20??-??-?? ??:??  bob:1 you: lunch at the \*\*café\*\*[?]' "as text"
printf 'lunch\nwith \033[31m red\n' | dm-send -q bob
like "$(dm-search --text red)" '* you: lunch with  \[31m \*\*red\*\*' "on one line, and no control of the terminal"
like "$(script -qec 'dm-search cafe' /dev/null)" "*$(printf '\033[7mcafé\033[27m')*" "reversed on a terminal"
like "$(script -qec 'dm-search caf' /dev/null)" "*matches; 'caf*' finds words that begin with 'caf'*" "a word may be a part of another"
like "$(NO_COLOR=1 script -qec 'dm-search cafe' /dev/null)" "*\*\*café\*\**" "unless there shall be no color"
done_testing
