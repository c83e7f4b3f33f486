#!/bin/sh
# The store's upkeep: checking, copying, carrying, clearing.
. "$(dirname "$0")/lib.sh"
people
seq 1 50 | sed 's/^/number /' | dm-send --as alice -q --lines bob
dm-read --as bob -q alice 1..10

exits 0 "a sound store" dm-doctor check --deep
is "$out$err" "" "of which there is nothing to say"
like "$(dm-doctor check --deep --text)" "no fault found; used last 2*" "but to people, and when it was last checked"
is "$(dm-doctor stats | jq -c '[.type, .rows.message, .rows.user, (.consumers | length)]')" '["statistics",50,3,0]' \
  "rows are counted"
is "$(dm-doctor stats | jq -r '.upkeep[].tool' | tr '\n' ' ')" 'check --deep stats ' "and uses are told"
like "$(dm-doctor stats --text)" "store *schema*SQLite*rows*message 50*" "as text, too"
dm-tail --as bob --consumer echo --cursor start >/dev/null
is "$(dm-doctor stats | jq -c '.consumers[] | [.user, .name, .behind_count]')" '["bob","echo",50]' "a consumer lags behind"

cd "$work" || exit 1
is "$(dm-doctor backup day | jq -c '[.type, .path, .message_count, has("last_used_at")]')" '["backup","day",50,false]' \
  "a backup is made"
is "$(stat -c %a day)" 600 "for its owner alone"
is "$(dm-doctor backup day | jq 'has("last_used_at")')" true "it may be replaced by another"
echo text >notes
exits 73 "another file may not" dm-doctor backup notes
is "$(cat notes)" text "and stays as it was"
ok "unless that is asked for" dm-doctor backup --force notes
exits 73 "the store itself never" dm-doctor backup --force "$DM_STORE/dm.sqlite"
exits 64 "a backup needs a file" dm-doctor backup

ok "a backup goes to standard output" sh -c 'dm-doctor backup - >stream'
is "$(find "$DM_STORE" -name '.*backup*')" "" "of which nothing stays in the store"
is "$(dm-doctor --store streamed restore stream | jq .message_count)" 50 "and is restored like any other"
ok "whole" dm-doctor --store streamed check --deep
rm stream
exits 64 "but not to a terminal" script -qec 'dm-doctor backup -' /dev/null
exits 64 "where --force has nothing to do" dm-doctor backup --force -
exits 74 "a disk that is full is an error" sh -c 'dm-doctor backup - >/dev/full'

is "$(dm-doctor --store one restore day | jq -c '[.type, .message_count]')" '["restore",50]' "a backup is restored"
exits 73 "but not over what is there" dm-doctor --store one restore day
is "$(dm-tail --store one --as bob alice -n 1 --peek | jq -r .text)" "number 50" "what was said is in it"
dm-doctor dump >dump
is "$(head -n 1 dump | jq -c '[.type, .schema > 2]')" '["dump",true]' "a dump begins with what it is of"
is "$(tail -n 1 dump | jq -c '[.type, .rows]')" "[\"dump_end\",$(($(wc -l <dump) - 2))]" "and ends with its rows"
ok "it is restored" dm-doctor --store two restore dump
dm-doctor --store two dump | tail -n +2 >again
is "$(tail -n +2 dump | cmp - again 2>&1)" "" "and dumped again, is the same"
ok "whole, too" dm-doctor --store two check --deep
jq -c . dump >through
ok "a dump that has gone through jq is the same" dm-doctor --store three restore through
ok "to its digests" dm-doctor --store three check --deep
exits 65 "half of a dump is refused" sh -c 'head -n 30 dump | dm-doctor --store four restore'
exits 65 "and a wrong line" sh -c '{ head -n 5 dump; echo nonsense; } | dm-doctor --store four restore'
like "$err" "dm-doctor: line 6: *" "which is named"
exits 66 "nothing is left behind" dm-list --store four
exits 66 "a file that is absent" dm-doctor --store four restore nothing

head -c 300000 /dev/zero | tr '\0' 'a' >photo
dm-attach --as-file --as alice --to bob photo | dm-send --as alice -q
is "$(dm-doctor stats | jq -c '[.contents_count, .contents_bytes]')" '[1,300000]' "contents are counted"
ok "they are looked at, too" dm-doctor check --deep
dm-doctor backup day >/dev/null
dm-doctor dump >dump
is "$(grep -c '"type":"content"' dump)" 2 "a dump has them by pieces"
is "$(tail -n 1 dump | jq .contents)" 2 "which are counted"
for copy in five:day six:dump; do
  ok "a ${copy#*:} has them" dm-doctor --store "${copy%:*}" restore "${copy#*:}"
  is "$(dm-attach --store "${copy%:*}" --as bob --get alice:-1 -o - | cmp - photo 2>&1)" "" "just as they were"
done
content=$(find "$DM_STORE/attachments" -type f)
printf 'b' | dd of="$content" conv=notrunc 2>/dev/null
exits 78 "one that a disk has changed" dm-doctor check --deep
is "$(echo "$out" | jq -r 'select(.type == "finding") | .check + " " + .subject')" \
  "attachments ${content#"$DM_STORE/"}" "is found and named"
exits 78 "of that there is no backup" dm-doctor backup day
ok "unless it may be left out" dm-doctor backup --damaged day
exits 78 "then it is missing" dm-doctor --store seven restore day
dm-attach --store five --as bob --get alice:-1 -o - >"$content"
ok "until it is put back" dm-doctor check --deep
dm-edit --as alice delete -q --for-everyone bob:-1
is "$(dm-doctor purge | jq .contents_count)" 0 "what was deleted is kept for a day"
touch -d '25 hours ago' "$content"
is "$(dm-doctor purge | jq -c '[.contents_count, .freed_bytes >= 300000, .is_complete]')" '[1,true,true]' "and then removed"

is "$(dm-doctor purge | jq -c '[.type, .expired_count, .is_complete]')" '["purge",0,true]' "it is purged"
is "$(dm-doctor repair | jq -c '[.type, .indexed_count, .participants_count]')" '["repair",50,0]' "and repaired"
is "$(dm-doctor reports)" "" "nothing was reported"
# levels COUNT STORE: adds levels to the structure of the search index, as many purges do.
levels() {
  python3 -c 'import sqlite3, sys
def number(n): return bytes([n]) if n < 128 else bytes([0x80 | n >> 7, n & 0x7f])
db = sqlite3.connect(sys.argv[2] + "/dm.sqlite")
block = db.execute("SELECT block FROM search_data WHERE id = 10").fetchone()[0]
count, rest, more = block[4], block[5:], int(sys.argv[1])
# The numbers of segments and of writes, and then the levels.
head = 2 if rest[1] < 128 else 3
block = block[:4] + number(count + more) + rest[:head] + bytes(2 * more) + rest[head:]
db.execute("UPDATE search_data SET block = ? WHERE id = 10", (block,))
db.commit()' "$@"
}
levels 1500 "$DM_STORE"
ok "the structure of an index after 1,500 purges" dm-doctor check --deep
dm-doctor purge >purged
is "$(sqlite3 "$DM_STORE/dm.sqlite" 'SELECT length(block) < 100 FROM search_data WHERE id = 10')" 1 "is made anew by the next"
ok "and finds what it did" dm-doctor check --deep
cp -a "$DM_STORE" full
levels 2001 full
exits 78 "an index that cannot be opened" dm-search --store full --as alice more
like "$err" "*the search index is damaged*'dm-doctor repair'*" "names the cure"
ok "a message that the index gets later is sent" dm-send -q --store full --as alice bob more
exits 78 "and is found" dm-doctor --store full check --deep
dm-doctor --store full repair >repaired
ok "which makes it anew" dm-doctor --store full check --deep
is "$(dm-search --store full --as alice more | jq -r .text)" more "so that searches find it"
cp -a "$DM_STORE" entered
seq 3000 | sed 's/^/word/' | dm-send --store entered --lines -q bob
sqlite3 entered/dm.sqlite "UPDATE search_idx SET term = x'01' || term WHERE length(term) > 0"
exits 78 "an index that is entered at the wrong place" dm-doctor --store entered check --deep
like "$out" "*words are in the search index and not found there*" "does not find words that it has"
dm-doctor --store entered repair >repaired
ok "and is made anew" dm-doctor --store entered check --deep
sqlite3 "$DM_STORE/dm.sqlite" "UPDATE message SET text = 'changed' WHERE seq = 7; UPDATE participant SET read_count = 0"
exits 0 "what a quick look does not see" dm-doctor check
exits 78 "a deep one does" dm-doctor check --deep
is "$(echo "$out" | jq -r 'select(.type == "finding").check' | sort -u | tr '\n' ' ')" 'counts digests search ' "all of it"
exits 78 "of that there is no backup" dm-doctor backup day
is "$(dm-doctor repair | jq .participants_count)" 2 "counts can be repaired"
exits 78 "a text cannot" dm-doctor check --deep
is "$(echo "$out" | jq -r .check)" digests "as its digest says"
exits 66 "a store that is absent" dm-doctor --store none check
exits 64 "a tool that there is not" dm-doctor heal
done_testing
