#!/bin/sh
# dm-import --from: the importers, as an installation has them beside the programs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/import.sh"

# A program finds the importers by the folder of its own file.
mkdir -p "$work/prefix/bin" "$work/prefix/share/dm"
ln -s "$import" "$work/prefix/share/dm/import"
cp "$(readlink -f "$(command -v dm-import)")" "$work/prefix/bin/dm-import" || exit 1
PATH="$work/prefix/bin:$PATH"

exits 0 "--from without a name" dm-import --text --from
is "$(printf '%s\n' "$out" | cut -d ' ' -f 1)" "$(find "$import/" -type f ! -name '*.*' | sed 's,.*/,,' | sort)" "lists the importers"
for empty in '' =; do
  exits 64 "--from with an empty name" dm-import "--from$empty" ''
  like "$err" "dm-import: '--from' needs a value: NAME; *" "is an error"
done
exits 64 "--from after a file" dm-import history.jsonl --from
like "$err" "dm-import: '--from' needs a value: NAME; *" "needs a name"
is "$out" "" "and lists nothing"
exits 64 "an unknown name" dm-import --from icq x
like "$err" "*no importer is named 'icq'; one of: discord, *" "is an error with the names"
exits 64 "an option of an importer without --from" dm-import --direct x
exits 0 "the help of an importer" dm-import --from whatsapp -- --help
like "$out" "usage: whatsapp *" "is printed"

printf '12/31/21, 10:00 - Bob: one\n12/31/21, 10:01 - Ann: two\n' >'WhatsApp Chat with Bob.txt'
exits 0 "--dry-run" dm-import --from whatsapp 'WhatsApp Chat with Bob.txt' --direct --dry-run
like "$err" "*conversations: 1*ann and bob (direct): messages: 2, from 2021-12-31 to 2021-12-31*" "prints what would be made"
is "$(printf '%s\n' "$out" | jq -r 'select(.type == "message") | .text' | paste -sd ' ') $(messages)" "one two 0" "and makes nothing"

# The map.
printf 'Zoe\tzoe\n\nAnn ann\n' >names.tsv
exits 65 "a wrong line of a map" dm-import --from whatsapp 'WhatsApp Chat with Bob.txt' --map names.tsv
like "$err" "whatsapp: 'names.tsv', line 3: expected a name of the export, a tab and a handle; *" "is an error"
is "$out" "" "and adds nothing"
printf 'Ann\tann\r\nAnn\tann\nAnn\tanna\n' >names.tsv
exits 65 "a name with two handles" dm-import --from whatsapp 'WhatsApp Chat with Bob.txt' --map names.tsv
like "$err" "whatsapp: 'names.tsv', line 3: line 1 has another handle for this name; *" "is an error"
printf 'Zoe\tzoe\nAnn\talice\n' >names.tsv
exits 0 "a name that the export does not have" dm-import --dry-run --from whatsapp 'WhatsApp Chat with Bob.txt' --map names.tsv
like "$err" "*whatsapp: names of the map are not in the export: 1; the first: names.tsv, line 1*" "is counted"
is "$(printf %s "$err" | grep -c 'you are not in')" 0 "and a user in the map is in the conversation"
exits 66 "standard input as an export" dm-import --from whatsapp -
like "$err" "whatsapp: an export cannot be read from standard input; save it to a file, and name that" "is an error"

exits 0 "an export" dm-import --from whatsapp 'WhatsApp Chat with Bob.txt' --text
like "$err" "*dm-import: you are not in '+Bob'; 'dm-list --as bob' lists it; to be in it, give your name there and 'alice' to *" \
  "a hint says how the user can see what it made"
is "$(dm-list --as bob | jq -r .title)" Bob "which is so"
is "$out" "2 messages added, 0 there already" "is imported"
like "$err" "*read: 2, kept: 2, left out: 0*" "and the importer reports"
exits 66 "an export that is not there" dm-import --from whatsapp absent
like "$err" "whatsapp: cannot read 'absent'*" "ends with the exit status of the importer"
exits 64 "an option that the importer does not have" dm-import --from whatsapp --frob x
like "$err" "*unrecognized arguments: --frob*" "is its error"
mkdir "$work/tools"
ln -s "$(command -v env)" "$(command -v sh)" "$(command -v cat)" "$(command -v rm)" "$work/tools"
exits 66 "without Python" env PATH="$work/tools" "$work/prefix/bin/dm-import" --from whatsapp x
like "$err" "*need 'python3'*install Python*" "an error says what to install"
rm "$work/prefix/share/dm/import"
exits 66 "an installation without importers" dm-import --from whatsapp x
like "$err" "*the importers are not installed; they belong into '*share/dm/import/'*" "says where they belong"
ln -s "$import" "$work/prefix/share/dm/import"

# Files of a ZIP file are unpacked for the time of the import.
mkdir "$work/tmp"
printf '[27.03.22, 21:00:02] Ann: <attached: photo.jpg>\n' >_chat.txt
python3 -c 'import zipfile
with zipfile.ZipFile("WhatsApp Chat - Two.zip", "w") as file:
    file.write("_chat.txt"), file.write("whatsapp/photo.jpg", "photo.jpg")'
exits 0 "a ZIP file" env TMPDIR="$work/tmp" dm-import --same-users --from whatsapp 'WhatsApp Chat - Two.zip'
is "$(printf '%s\n' "$out" | jq -r 'select(.type == "message") | .attachments[].name')" photo.jpg "has its files"
tries=0
while [ -n "$(ls -A "$work/tmp")" ] && [ $tries -lt 500 ]; do tries=$((tries + 1)); sleep 0.01; done
is "$(ls -A "$work/tmp")" "" "whose copies are removed"

# History behind messages that are there.
dm-user -q add nia
dm-send -q nia hi
printf '%s\n' '{"envelope":{"source":"+12345","sourceName":"Nia","timestamp":1600000000000,"dataMessage":{"timestamp":1600000000000,"message":"years ago"}}}' >old
exits 1 "older history of a direct conversation" dm-import --same-users --from signal old
like "$err" "*history goes only after what is there; import the conversation as a group, with the importer's --as-groups*" "says what to do"
exits 0 "--as-groups" dm-import --same-users --from signal old --as-groups
is "$(dm-tail --as nia +Nia --peek 2>/dev/null | jq -r .text; dm-tail --as nia alice --peek | jq -r .text)" "years ago
hi" "makes a group of it"
done_testing
