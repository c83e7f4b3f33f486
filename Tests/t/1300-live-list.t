#!/bin/sh
# The list, kept up to date.
. "$(dirname "$0")/lib.sh"
people
dm-send -q --as alice bob hi
dm-conversation -q create --as carol --title ops alice bob
what='"\(.title // .participants[0]) \(.unread_count) \(.last_message.text)"'

follow dm-list -f --as bob
is "$(line "$what") $(line "$what")" "ops 0 null alice 1 hi" "the list"
dm-send -q --as alice bob again
is "$(line "$what")" "alice 2 again" "and a conversation that changes, as it is then"
seq 1 20 | dm-send -q --as carol --lines +ops
is "$(line "$what")" "ops 20 20" "twenty messages at once are one line"
dm-conversation -q create --as carol --title new bob
is "$(line "$what")" "new 0 null" "and one that is new"
dm-read -q --as bob +ops 1..6
is "$(line "$what")" "ops 15 20" "what the user reads"
leave
is "$(cat "$work/follow.err")" "" "and nothing to complain of"

follow dm-list -f --as bob --unread
is "$(line "$what") $(line "$what")" "ops 15 20 alice 2 again" "only what is unread"
dm-read -q --as bob alice --all
is "$(line "$what")" "alice 0 again" "one that is read now is told of once more"
dm-send -q --as bob alice mine
dm-read -q --as bob +ops --all
is "$(line "$what")" "ops 0 20" "and then no more"
leave
follow dm-list -f --as bob +ops
is "$(line .title)" ops "a conversation that is named"
dm-send -q --as alice bob elsewhere
dm-send -q --as alice +ops here
is "$(line "$what")" "ops 1 here" "is followed alone"
dm-conversation -q --as alice title +ops later
is "$(line .title)" later "whatever its title becomes"
dm-conversation -q --as alice title +later ops
is "$(line .title)" ops "or was"
leave
follow dm-list -f --as bob --match OPS
is "$(line .title)" ops "--match"
dm-send -q --as alice bob 'not here'
dm-send -q --as alice +ops 'here again'
is "$(line "$what")" "ops 2 here again" "has its conversations only"
dm-read -q --as bob alice --all; dm-send -q --as alice bob one
leave

follow dm-list -f --as bob --count
is "$(line)" 3 "a count"
dm-send -q --as alice bob three
is "$(line)" 4 "when it changes"
dm-send -q --as bob alice mine
dm-read -q --as bob --everywhere --all
is "$(line)" 0 "and only then"
leave

follow dm-list -f --as bob --text
IFS= read -r text <&3
like "$text" "*alice  *  you: mine" "as text"
leave
is "$({ timeout 10 dm-list -f --as bob; echo $? >"$work/status"; } | head -n 1 | wc -l; cat "$work/status")" "1
141" "it dies with its reader"
exits 64 "pages do not follow" dm-list -f --as bob --after x
exits 64 "--invisible is for those who follow" dm-list --as bob --invisible
done_testing
