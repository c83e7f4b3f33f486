#!/bin/sh
# History from JSON lines: its own times, senders and replies; again and again.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
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
exits 64 "several operands" dm-import file file

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

# A file, users, equal times, attachments, and what failed.
export DM_STORE="$work/second"
dm-user -q --as alice add alice
cd "$work" || exit 1
mkdir files
cp "$examples/photo.jpg" files
printf 'some notes\n' >files/notes.txt
cat >mixed <<'LINES'
{"type":"user","handle":"bob","display_name":"Bob Smith"}
{"conversation":"+log","sender":"bob","text":"one","created_at":"2020-01-01T10:00:00Z","nonce":"1"}
{"conversation":"+log","sender":"cem","text":"two","created_at":"2020-01-01T10:00:00Z","nonce":"2"}
{"conversation":"+log","sender":"bob","text":"three","created_at":"2020-01-01T10:00:00Z","nonce":"3"}
{"conversation":"+log","sender":"bob","text":"earlier","created_at":"2020-01-01T09:59:59Z","nonce":"4"}
{"conversation":"+log","sender":"bob","attachments":[{"path":"photo.jpg"},{"path":"notes.txt","name":"list.txt"}],"created_at":"2020-01-01T10:01:00Z","nonce":"5"}
{"conversation":"+log","sender":"bob","text":"look","attachments":[{"path":"absent.jpg"}],"created_at":"2020-01-01T10:02:00Z","nonce":"6"}
LINES
exits 1 "a file with two lines that fail" dm-import --folder files mixed
is "$(printf '%s' "$out" | jq -r '.text // .handle // .code // (.attachments | map(.name) | join(" "))' | paste -sd ,)" \
  "bob,one,two,three,out_of_order,photo.jpg list.txt,unknown_file" "is answered line by line"
is "$(printf '%s\n' "$err" | tail -n 1)" \
  "dm-import: 4 messages added, 0 there already; 2 lines failed: 1 out_of_order, 1 unknown_file" "and summed up at the end"
is "$(printf '%s' "$out" | jq -r 'select(.code) | .nonce' | paste -sd ' ')" "4 6" "what failed is named by its nonce"
{
  printf '{"type":"user","handle":"bob"}\n'
  for i in 1 2 3 4 5; do
    printf '{"conversation":"+flood","sender":"bob","text":"%s","created_at":"2020-01-01T10:00:0%sZ","nonce":"f%s"}\n' $i $i $i
  done
} >flood
dm-user -q --as ann --store "$work/flooded" add ann
dm-user -q --as ann --store "$work/flooded" add bob
exits 1 "lines that fail because one before them failed" dm-import --as ann --store "$work/flooded" flood
is "$(printf '%s\n' "$err" | sed 's/may be somebody else.*/…/')" "dm-import: line 2: the store has a user 'bob', who …
dm-import: line 3: a line of the conversation '+flood' failed, so those after it do, too
dm-import: 3 more lines: a line of the conversation '+flood' failed, so those after it do, too
dm-import: 0 messages added, 0 there already; 5 lines failed: 5 handle_taken" "are counted"
is "$(printf '%s\n' "$out" | jq -r 'select(.code).line' | paste -sd ' ')" "2 3 4 5 6" "and each is answered"
is "$(tail -n 1 flood | dm-import --as ann --store "$work/flooded" --same-users --text)" "1 message added, 0 there already" \
  "one message is not several"
is "$(dm-tail --as cem +log -n all --peek | jq -r '[.sender_name // .sender, .text, .created_at[11:]] | join(" ")')" \
  "Bob Smith one 10:00:00.000000Z
cem two 10:00:00.000001Z
Bob Smith three 10:00:00.000002Z
Bob Smith  10:01:00.000000Z" "equal times keep the order of the lines"
mkdir got
dm-attach -q --as cem --get +log:4 -o got
is "$(cat got/list.txt) $(grep -ac Acme got/photo.jpg)" "some notes 0" "files are attachments, prepared as dm-attach does"
contents() { find "$DM_STORE/attachments" -type f | wc -l; }
before=$(contents)
is "$(dm-import --folder files <mixed 2>/dev/null | jq -c 'select(.type == "message") | .duplicate' | paste -sd ' ')" \
  "true true true true" "again, all that was added is there"
is "$(contents)" "$before" "and no file is prepared again"
is "$(sqlite3 "$DM_STORE/dm.sqlite" 'SELECT count(*) FROM attachment')" 2 "nor kept for nothing"
rm files/photo.jpg
is "$(sed -n 6p mixed | dm-import --text)" "0 messages added, 1 there already" "even when it is gone"
exits 1 "without an option, paths begin in the working directory" sh -c \
  'sed -n 6p mixed | sed "s/:01:00/:03:00/; s/nonce\":\"5/nonce\":\"7/" | dm-import'
is "$(printf '%s' "$out" | jq -r '"\(.code) \(.subject)"')" "unknown_file photo.jpg" "and one that is absent is named"
exits 1 "a file with the name of standard input" sh -c \
  'sed -n 6p mixed | sed "s/:01:00/:03:00/; s/nonce\":\"5/nonce\":\"7/; s/photo.jpg/-/" | dm-import'
is "$(printf '%s' "$out" | jq -r '"\(.code) \(.subject)"')" "unknown_file ./-" "is a file"
exits 66 "a file that is absent" dm-import absent
like "$err" "dm-import: cannot read 'absent'*" "is named, too"
exits 0 "a dash is standard input" sh -c 'sed -n 2p mixed | dm-import --text -'
is "$(dm-user list --as alice | dm-import --as eve --store "$work/third" | jq -r '.display_name // .handle' | paste -sd ' ')" \
  "alice Bob Smith cem" "users are copied with their names"
is "$(dm-doctor --as alice check --deep)" "" "no fault was found"
# What would be added.
printf '%s\n' '{"type":"user","handle":"zoe"}' \
  '{"conversation":"later","sender":"zoe","text":"hi","created_at":"2019-01-01T00:00:00Z","nonce":"z1"}' \
  '{"conversation":"later","sender":"z oe","text":"hi","created_at":"2019-01-01T00:00:01Z"}' >"$work/tried"
before=$(sqlite3 "$DM_STORE/dm.sqlite" .dump)
exits 1 "--dry-run" dm-import --dry-run --text "$work/tried"
is "$out" "1 message would be added, 0 there already" "says what would be added"
like "$err" "*line 3: *'z oe'*" "and which line is wrong"
is "$(sqlite3 "$DM_STORE/dm.sqlite" .dump)" "$before" "and changes nothing"
is "$(dm-import --dry-run "$work/tried" 2>"$work/err" | jq -r '.type + " " + (.handle // .sender // .code)' | paste -sd ,)" \
  "user zoe,message zoe,error bad_handle" "as the lines of an import"
mkdir "$work/folder"
yes "$(sed -n 1p "$work/tried")" | head -n 5000 >"$work/many"
TMPDIR="$work/folder" dm-import --dry-run "$work/many" 2>"$work/err" | head -n 1 >"$work/first"
i=0
while [ -n "$(ls -A "$work/folder")" ] && [ $i -lt 1000 ]; do i=$((i + 1)); sleep 0.01; done
is "$(ls -A "$work/folder")" "" "nothing is left when its reader ends"
exits 0 "in a store that is not there" sh -c "head -n 2 '$work/tried' | dm-import --store '$work/none' --as zed --dry-run"
is "$(ls "$work/none" 2>&1 | grep -c 'No such')" 1 "nothing is made"

done_testing
