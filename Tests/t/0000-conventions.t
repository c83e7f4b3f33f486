#!/bin/sh
# What all programs have in common: how they explain themselves, what they refuse, and how they end.
. "$(dirname "$0")/lib.sh"

for program in dm-attach dm-chat dm-conversation dm-digest dm-doctor dm-edit dm-export dm-import dm-list dm-mcp dm-preview \
  dm-read dm-search dm-send dm-tail dm-typing dm-usage dm-user; do
  exits 0 "$program --help" "$program" --help
  like "$out" "$program - *Usage:*Examples:*" "$program explains itself"
  is "$err" "" "$program --help is silent on standard error"
  exits 0 "$program -h" "$program" -h
  exits 0 "$program --version" "$program" --version
  like "$out" "$program [0-9]*" "$program says its version"
  exits 0 "$program --schema" "$program" --schema
  is "$(printf '%s' "$out" | jq -r '.["$schema"], .title')" "https://json-schema.org/draft/2020-12/schema
$program" "the schema of $program is JSON"
  is "$(printf '%s' "$out" |
    jq '[.. | objects | .["$ref"]? // empty | sub("^#/\\$defs/"; "")] - (.["$defs"] | keys) | length')" \
    0 "the schema of $program defines what it refers to"
  exits 64 "$program refuses an unknown option" "$program" --colour
  like "$err" "$program: unknown option '--colour'*" "and says so"
  is "$out" "" "and prints nothing else"
  exits 64 "$program refuses a letter that is none" "$program" -Z
  exits 64 "$program refuses a value that is missing" "$program" --store
done

exits 64 "a near miss is named" dm-list --unraed
like "$err" "*did you mean '--unread'?" "by its right name"
exits 64 "--json and --text exclude each other" dm-list --json --text

exits 66 "reading a store that was named and is not there" dm-list
like "$err" "dm-list: there is no store at '$DM_STORE'*" "names it"
exits 66 "the same with --store" dm-list --store "$work/other"
[ ! -e "$DM_STORE" ]
is $? 0 "and creates nothing"

mkdir "$work/home"
exits 0 "the default store, when absent, is empty" env -u DM_STORE HOME="$work/home" dm-list
is "$out" "" "and lists nothing"
is "$(env -u DM_STORE HOME="$work/home" dm-list --count)" 0 "and counts 0"
[ ! -e "$work/home/.local" ]
is $? 0 "and stays absent"
exits 0 "a write creates it" env -u DM_STORE HOME="$work/home" dm-send "$(id -un)" note
ok "under .local/share" test -f "$work/home/.local/share/dm/dm.sqlite"
exits 0 "or under XDG_DATA_HOME" env -u DM_STORE HOME="$work/home" XDG_DATA_HOME="$work/data" dm-send "$(id -un)" note
ok "which it creates" test -f "$work/data/dm/dm.sqlite"

people
exits 67 "an unknown user" dm-send --as alice bbo hi
like "$err" "dm-send: there is no user 'bbo'; did you mean 'bob'?" "is an error that suggests the nearest"
exits 67 "a user who was not added does not act" dm-send --as mallory bob hi
exits 66 "an unknown group" dm-send --as alice +ops hi
id=$(dm-send --as alice bob hi | jq -r .conversation_id)
exits 77 "somebody else's conversation" dm-tail --as carol "$id"
exits 66 "a message that is not there" dm-read --as bob alice --up-to 99
exits 73 "a handle that is taken" dm-user --as alice add bob
exits 65 "a handle that is none" dm-user --as alice add 'a b'
exits 65 "a time that is none" dm-tail --as bob --since noon
exits 65 "a cursor that is none" dm-list --as bob --after x
exits 78 "a store that is none" dm-list --as bob --store /dev/null
exits 74 "a full disk" sh -c 'dm-list --as bob >/dev/full'
like "$err" "dm-list: cannot write to standard output*" "is noticed"

exits 0 "options end at --" dm-send --as alice bob -- --text -q
is "$(printf '%s' "$out" | jq -r .text)" "--text -q" "and what follows is text"
exits 0 "-q prints nothing" dm-send --as alice -q bob hi
is "$out$err" "" "on either stream"
is "$(DM_USER=alice dm-send bob hi | jq -r .sender)" alice "\$DM_USER is who acts"
is "$(DM_USER=alice dm-send --as @bob alice hi | jq -r .sender)" bob "--as wins, and may bear an @"
is "$(dm-list --as bob --text | wc -l)" 1 "--text prints text into a pipe"
is "$(dm-list --as bob | jq -r .type)" conversation "a pipe gets JSON"
done_testing
