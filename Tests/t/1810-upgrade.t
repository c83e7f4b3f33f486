#!/bin/sh
# A store of the version before is upgraded by the first program that opens it.
. "${0%/*}/lib.sh"
people
export DM_USER=alice
db=$DM_STORE/dm.sqlite

# older: gives the store the schema of the version before, in which all messages are in the search index.
older() {
  dm-doctor repair -q
  sqlite3 "$db" 'DROP TABLE search_end; DROP INDEX participant_unread;
    ALTER TABLE participant DROP COLUMN is_unread; PRAGMA user_version = 17'
}
schema() { sqlite3 "$db" 'PRAGMA user_version'; }

dm-send bob 'lunch?' >/dev/null
now=$(schema)
older
exits 0 "a program that only reads upgrades the store" dm-tail bob -n all
like "$err" "dm-tail: the store '$DM_STORE' was upgraded to schema $now, and earlier versions of dm cannot open it; the copy \
from before is '$DM_STORE/upgrades/schema-17.sqlite', and is removed after 30 days; UPGRADING in dm-store(5) *" "and says so"
exits 0 "the next program" dm-tail bob -n all
is "$err" "" "has nothing to say"
is "$(stat -c %a "$DM_STORE/upgrades/schema-17.sqlite")" 600 "only the owner can read the copy"
ok "a check finds no fault" dm-doctor check --deep
ok "a backup is made" dm-doctor backup -q "$work/backup"
exits 73 "a backup in the folder of copies" dm-doctor backup "$DM_STORE/upgrades/mine"

older
i=0
while [ $i -lt 8 ]; do
  dm-list -q 2>>"$work/said" &
  i=$((i + 1))
done
wait
is "$(grep -c upgraded "$work/said")" 1 "of many programs at once, one says it"
is "$(ls "$DM_STORE/upgrades" | wc -l)" 2 "and one copy is made"

# The way back, as dm-store(5) describes it.
dm-send bob 'from the newer version' >/dev/null
mkdir "$work/newer"
mv "$db"* "$work/newer/"
cp -p "$DM_STORE/upgrades/schema-17.sqlite" "$db"
is "$(schema)" 17 "the copy has the schema of before"
exits 0 "the store can be read again" dm-tail bob -n all
is "$(printf '%s\n' "$out" | jq -r 'select(.type == "message").text')" 'lunch?' "and has what it had"
exits 78 "a write is refused, because changes are missing" dm-send bob hello
like "$err" "*'dm-doctor repair'*" "and names the next step"
ok "a repair accepts that" dm-doctor repair -q
ok "and then writes are possible" dm-send bob hello -q
ok "and the store is sound" dm-doctor check --deep

older
exits 0 "a completion" dm-send --complete bash "dm-send " ""
is "$err$(printf '%s\n' "$out" | grep bob)" "" "completes nothing and says nothing"
is "$(schema)" 17 "and upgrades nothing"

copies=$(ls "$DM_STORE/upgrades")
exits 74 "without room for a copy" sh -c 'ulimit -f 100; exec dm-list'
like "$err" "*before its upgrade, which needs 1 MiB (*); nothing was changed; free some space, or set DM_UPGRADE_COPY=off *" \
  "the error says what to do"
is "$(schema)" 17 "nothing is upgraded"
is "$(ls -A "$DM_STORE/upgrades")" "$copies" "nothing is left"
exits 64 "a wrong value of the variable" env DM_UPGRADE_COPY=maybe dm-list
exits 0 "without a copy" env DM_UPGRADE_COPY=off dm-list
like "$err" "*; no copy was kept; *" "the program says that there is none"

touch -d '29 days ago' "$DM_STORE/upgrades/schema-17.sqlite"
touch -d '31 days ago' "$DM_STORE/upgrades/schema-17-2.sqlite"
is "$(dm-doctor purge --json | jq .copies_count)" 1 "a purge removes copies after 30 days"
is "$(ls "$DM_STORE/upgrades" | grep -c '^schema-17.sqlite$')" 1 "and no earlier"

done_testing
