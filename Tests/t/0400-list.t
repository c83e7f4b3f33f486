#!/bin/sh
# The list: order, filters, the number for a status bar, pages.
. "$(dirname "$0")/lib.sh"
people
titles() { dm-list "$@" | jq -r '.title // (.participants | join("-"))' | tr '\n' ' '; }

for n in $(seq 12); do dm-conversation -q --as alice create --title "g$n" bob; done
dm-send -q --as alice +g3 one
dm-send -q --as alice +g3 two
dm-send -q --as carol bob hi
export DM_USER=bob
is "$(titles)" "bob-carol g3 g12 g11 g10 g9 g8 g7 g6 g5 g4 g2 g1 " "the newest activity comes first"
is "$(titles --unread)" "bob-carol g3 " "--unread"
is "$(dm-list --count)" 3 "--count counts messages"
is "$(dm-list --count +g3)" 2 "of one that is named"
is "$(titles --match g1)" "g12 g11 g10 g1 " "--match finds a part of a title"
is "$(titles --match CAR)" "bob-carol " "in either case, also of people"
is "$(titles carol +g3)" "bob-carol g3 " "those that are named"
is "$(titles --limit 2)" "bob-carol g3 " "--limit"
is "$(titles -n 2)" "bob-carol g3 " "which is also -n"
is "$(titles --limit 0)" "" "--limit 0"
is "$(dm-list +g3 |
  jq -c '[.unread_count, .first_unread_seq, .last_read_seq, .last_message.text, .is_pinned, .is_archived]')" \
  '[2,2,1,"two",false,false]' "what is to be known"
is "$(dm-list | jq -s 'map(has("page_cursor")) | all')" true "each has the cursor of its page"

# A person's loop over the pages.
cursor=
: >"$work/pages"
while page=$(dm-list --limit 5 ${cursor:+--after "$cursor"}) && [ -n "$page" ]; do
  printf '%s\n' "$page" >>"$work/pages"
  cursor=$(printf '%s\n' "$page" | tail -n 1 | jq -r .page_cursor)
done
ok "pages laid one after the other are the whole list" sh -c "dm-list --limit all | cmp - '$work/pages'"

dm-read -q +g3 --all
is "$(titles --unread)" "bob-carol " "what was read is unread no more"
is "$(titles --archived)" "" "nothing is archived"
is "$(titles --all | wc -w)" 13 "--all"
like "$(dm-list --text --limit 1)" "    1  carol *  hi" "as text"
dm-conversation -q mute carol
is "$(titles --unmuted | wc -w) $(titles --unread --unmuted)" "12 " "--unmuted"
is "$(dm-list --count) $(dm-list --count --unmuted)" "1 0" "--count --unmuted leaves out what is muted"
dm-conversation -q unmute carol
is "$(dm-list --count --unmuted)" 1 "until it is not muted any more"
dm-conversation -q mute carol
dm-conversation -q mute +g7 --for 1h
dm-conversation -q pin +g3
is "$(titles --muted)" "bob-carol g7 " "--muted lists only what is muted"
is "$(titles --pinned) $(titles --pinned --muted)" "g3  " "--pinned what is pinned"
is "$(dm-list --count --muted) $(dm-list --count --pinned)" "1 0" "of which --count counts"
is "$(titles --idle-since 1h)" "" "nothing was idle for an hour"
is "$(titles --idle-since 0s | wc -w)" 13 "but all for no time"
time=$(dm-list +g3 | jq -r .last_activity_at)
is "$(titles --idle-since "$time" -n all | wc -w)" 11 "--idle-since takes a time, which is not idle itself"
is "$(titles --idle-since "$time" --muted)" "g7 " "both"
exits 64 "--muted and --unmuted exclude each other" dm-list --muted --unmuted
exits 65 "a time that is none" dm-list --idle-since yore
dm-conversation -q unmute carol +g7
dm-conversation -q unpin +g3
exits 64 "--all and --archived exclude each other" dm-list --all --archived
exits 64 "a limit that is none" dm-list --limit x
exits 66 "a group that is not there" dm-list +a
exits 67 "a user who is not there" dm-list --count x
dm-user -q --as bob --store "$work/two" add bob
exits 65 "another store's cursor" dm-list --store "$work/two" --after "$cursor"
done_testing
