#!/bin/sh
# dm-search: messages by the kinds and the names of their files.
. "$(dirname "$0")/lib.sh"
people
export DM_USER=alice
photo=$(cd "$(dirname "$0")/../../examples" && pwd)/photo.jpg
cd "$work" || exit 1
cp "$photo" .
echo text >'Bericht über Öl.txt'
found() { dm-search --newest "$@" | jq -r .text | tr '\n' ' '; }
dm-send -q bob --attach 'Bericht über Öl.txt' document
dm-send -q bob --attach photo.jpg --as-file picture-as-file
dm-send -q bob --attach photo.jpg picture
dm-send -q carol --attach photo.jpg --attach 'Bericht über Öl.txt' both
dm-send -q bob 'photo.jpg and nothing'

is "$(found --has file)" "both picture-as-file document " "--has file"
is "$(found --has image)" "both picture " "--has image"
is "$(found --has image --has file)" "both " "both, in one message"
is "$(found --has video)$(found --has audio)$(found --has voice)" "" "other kinds"
is "$(found --has attachment | wc -w)" 4 "any"
is "$(found --has file --in bob)" "picture-as-file document " "in one conversation"
is "$(found --file photo)" "both picture picture-as-file " "--file finds a part of a name"
is "$(found --file 'UBER ol')" "both document " "whatever its case and accents"
is "$(found --file photo --has image --in carol)" "both " "with other conditions"
is "$(found --file photo picture)" "picture picture-as-file " "with words"
is "$(found --file 100%)$(found --file _)" "" "no character of it has a meaning"
is "$(dm-search --as carol --file photo | jq -r .text)" both "only what the user sees"
exits 0 "a name that there is not" dm-search --file nothing
is "$out" "" "finds nothing"
exits 64 "an empty one" dm-search --file ''
exits 64 "one that is too long" dm-search --file "$(head -c 256 /dev/zero | tr '\0' x)"
exits 64 "a kind that is none" dm-search --has films
dm-edit -q delete --for-everyone bob:1
is "$(found --file uber)" "both " "nor is a deleted message found"
done_testing
