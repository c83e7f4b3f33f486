#!/bin/sh
# History from JSON lines: its own times, senders and replies; again and again.
. "$(dirname "$0")/lib.sh"
people
export DM_USER=alice

cat >"$work/history" <<'LINES'
{"conversation":"+old","sender":"ann","text":"one","created_at":"2019-03-01T09:00:00Z","nonce":"n1"}
{"conversation":"old","sender":"ben","text":"two","created_at":"2019-03-01T10:00:00+01:00","reply_to_nonce":"n1"}
{"conversation":"+old","sender":"ben","text":"three","created_at":"2019-03-01T09:00:01Z","nonce":"n3"}
{"conversation":"+old","sender":"ann","text":
{"conversation":"+old","sender":"cem","text":"four","created_at":"2019-03-02T09:00:00.000001Z","nonce":"n4"}
LINES
exits 1 "an import with a line out of order and a malformed one" sh -c "dm-import <'$work/history'"
is "$(printf '%s' "$out" | jq -r '.text // "\(.line):\(.code)"' | tr '\n' ' ')" \
  "one 2:out_of_order three 4:malformed_line four " "does the others"
is "$(dm-tail --as ann +old --peek | jq -r '[.seq, .sender, .text, .created_at] | join(" ")')" \
  "1 ann one 2019-03-01T09:00:00.000000Z
2 ben three 2019-03-01T09:00:01.000000Z
3 cem four 2019-03-02T09:00:00.000001Z" "with their own times and senders"
is "$(dm-conversation --as cem show +old | jq -c '[.participants, .unread_count]')" '[["ann","ben","cem"],0]' \
  "senders join, and all of it counts as read"
exits 66 "the importer does not join" dm-tail +old
sed -n '1p;3p;5p' "$work/history" >"$work/clean"
is "$(dm-import <"$work/clean" | jq -s 'map(.duplicate) | all')" true "again, everything is there"
is "$(dm-import --text <"$work/clean")" "0 messages added, 3 there already" "as text"
is "$(dm-tail --as ann +old -n all --peek | wc -l)" 3 "and nothing was added"
line() { jq -nc --arg at "$1" "{sender: \"ann\", text: \"x\", created_at: \$at} + $2"; }
line 2019-03-03T09:00:00Z '{conversation: "+old", reply_to_nonce: "n3"}' | dm-import -q
is "$(dm-tail --as ann +old -n 1 --peek | jq -r .reply_to.id)" "$(dm-tail --as ann +old 2 --peek | jq -r .id)" \
  "a reply finds what it answers by nonce"
line 2020-01-01T00:00:00Z '{conversation: "old", reply_to_nonce: "nix"}' >"$work/line"
exits 1 "a reply to nothing" sh -c "dm-import <'$work/line'"
is "$(printf '%s' "$out" | jq -r .code)" unknown_message "is not added"
dm-conversation -q create --title ops bob
echo '{"conversation":"+ops","sender":"bob","text":"x","created_at":"2019-03-03T09:00:00Z"}' | dm-import -q
is "$(dm-tail +ops -n all | jq -r .system_kind)" conversation_created "a title matches no group that an import did not make"
id=$(dm-send bob hi | jq -r .conversation_id)
line "$(date -u -d "+1 hour" +%FT%TZ)" "{conversation_id: \"$id\"}" >"$work/line"
exits 1 "a conversation that one is not in" sh -c "dm-import --as carol <'$work/line'"
is "$(printf '%s' "$out" | jq -r .code)" not_allowed "is not imported into"
exits 64 "operands" dm-import file

# An imported group that people have chatted in.
dm-send -q --as ben +old "between us"
line "$(date -u -d "+1 hour" +%FT%TZ)" '{conversation: "+old", sender: "carol"}' >"$work/line"
exits 1 "a stranger's line into a group in use" sh -c "dm-import --as carol <'$work/line'"
is "$(printf '%s' "$out" | jq -r .code)" not_allowed "is refused"
exits 66 "and nobody has joined" dm-tail --as carol +old
line "$(date -u -d "+1 hour" +%FT%TZ)" '{conversation: "+old"}' | dm-import -q --as ann
is "$(dm-tail --as ben +old -n 2 --peek --text | sed -n 's/^[0-9:]*  //p')" "6 -- ann imported history --
7 ann: x" "what a member imports is announced"
is "$(dm-import --as ann --text <"$work/clean")" "0 messages added, 3 there already" "and the old history is still known"

# A copy of what one sees, into another store.
{ dm-list --all --limit all; dm-tail -n all --peek; } | dm-import --store "$work/copy" >/dev/null
is "$(dm-tail -n all --peek --store "$work/copy" | jq -c '[.id, .seq, .sender, .text, .created_at]')" \
  "$(dm-tail -n all --peek | jq -c '[.id, .seq, .sender, .text, .created_at]')" "a copy has the same messages"
is "$(dm-list --store "$work/copy" --all | jq -r .id | sort)" "$(dm-list --all | jq -r .id | sort)" \
  "in the same conversations"
{ dm-list --all --limit all; dm-tail -n all --peek; } | dm-import --store "$work/copy" >"$work/again"
is "$(jq -s 'map(select(.type == "message") | .duplicate) | all' "$work/again")" true "and again adds nothing"
dm-send -q --store "$work/copy" bob later
is "$(dm-tail bob --store "$work/copy" -n 1 --peek | jq -r .seq)" 2 "it goes on where it ended"
done_testing
