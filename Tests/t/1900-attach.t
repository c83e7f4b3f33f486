#!/bin/sh
# dm-attach: files are prepared, sent, listed and fetched, with and without the tools for images and films.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
people
export DM_USER=alice
cd "$work" || exit 1
mkdir files got
cp "$examples/photo.jpg" files
head -c 300000 /dev/urandom >files/core.gz
printf 'one\ntwo\n' >files/notes.txt
# carried PLACE: of the first attachment of the last message there.
carried() { dm-tail --peek -n 1 "$@" | jq -r '.attachments[0].id'; }
# get ID [OPTION]...: what that is, on standard output.
get() { dm-attach -o - --get "$@"; }
contents() { find "$DM_STORE/attachments" -type f | wc -l; }

# A photo.
is "$(dm-attach files/photo.jpg --to bob --text look | dm-send 2>/dev/null |
  jq -c '[.seq, .text, (.attachments[0] | .type, .kind, .name, .mime_type, .width, .height)]')" \
  '[1,"look","attachment","image","photo.jpg","image/jpeg",300,400]' "a photo, as it is looked at"
is "$(dm-tail --as bob --peek alice | jq -c '.attachments | map(.name)')" '["photo.jpg"]' "reaches the other"
is "$(dm-attach --as bob --get alice:1 -o got | jq -r .path)" got/photo.jpg "who saves it into a folder"
is "$(dm-tail --peek bob | jq -r '.attachments[0].sha256')" "$(sha256sum got/photo.jpg | cut -c-64)" "whole"
is "$(stat -c %a got/photo.jpg)" 600 "for the user alone"
is "$(grep -ac Acme files/photo.jpg) $(grep -ac Acme got/photo.jpg)" "1 0" "and does not learn which camera took it"
is "$(dm-attach --keep-metadata files/photo.jpg --to bob | dm-send 2>/dev/null | jq -r '.attachments[0].id' |
  xargs dm-attach -o - --get | grep -ac Acme)" 1 "unless that was asked for"

# As it is.
is "$(dm-attach --as-file files/photo.jpg --to bob | dm-send | jq -c '.attachments[0] | [.kind, .name, .thumbnail]')" \
  '["file","photo.jpg",null]' "a photo as a file"
get bob:-1 | cmp -s - files/photo.jpg
is $? 0 "is the same byte for byte"
cp files/photo.jpg files/photo.png
is "$(dm-attach files/photo.png 2>/dev/null | jq -r .name)" photo.jpg "an extension is that of the content"
is "$(dm-attach --as-file files/photo.png | jq -r '"\(.name) \(.mime_type)"')" "photo.png image/jpeg" \
  "unless it is sent as it is"

# Several, standard input, no text.
is "$(dm-attach files/notes.txt files/core.gz --to bob | dm-send | jq -c '[.text, (.attachments | map(.name))]')" \
  '[null,["notes.txt","core.gz"]]' "several files, in their order and without a text"
dm-attach --as bob --get alice:-1 -o got >/dev/null
cmp files/core.gz got/core.gz && cmp files/notes.txt got/notes.txt
is $? 0 "are all saved"
is "$(df | dm-attach --name disks.txt --to bob - | dm-send | jq -c '.attachments[0] | [.kind, .name, .mime_type]')" \
  '["file","disks.txt","text/plain"]' "what a pipe says"
is "$(printf x | dm-attach - | jq -r '"\(.name) \(.size_bytes)"')" "file 1" "has a plain name otherwise"
is "$(dm-attach - </dev/null | jq -c '[.size_bytes, .mime_type]')" '[0,"application/octet-stream"]' "and may be empty"
is "$(dm-send bob --attach files/notes.txt --attach files/core.gz hi </dev/null |
  jq -c '[.text, (.attachments | map(.name))]')" '["hi",["notes.txt","core.gz"]]' "dm-send prepares and sends in one"
is "$(echo hi | dm-send bob --attach - | jq -c '[.text, .attachments[0].size_bytes]')" '[null,3]' \
  "where standard input may be the file"
is "$(dm-send bob --as-file --attach files/photo.jpg | jq -r '.attachments[0].kind')" file "and be told how"
is "$(dm-send --to bob --to carol --attach files/notes.txt both | jq -r '.attachments[0] | .id' | sort -u | wc -l)" 2 \
  "two that it is sent to get two attachments"
is "$(dm-attach --name '../../etc/passwd' - </dev/null | jq -r .name)" passwd "a name is no path"
is "$(dm-attach --name=-rf - </dev/null | jq -r .name) $(dm-attach --name .bashrc - </dev/null | jq -r .name)" \
  "rf bashrc" "and neither an option nor hidden"

# Equal contents are one.
before=$(contents)
dm-send -q bob --attach files/notes.txt --attach files/core.gz
dm-send -q carol --attach files/core.gz
is "$(contents)" "$before" "equal contents are kept once"
is "$(find "$DM_STORE/attachments" -type f ! -perm 600 | wc -l) $(find "$DM_STORE/attachments" -name '.work-*' | wc -l)" \
  "0 0" "for their owner alone, and nothing lies about"

# Lines.
dm-attach files/notes.txt --to bob --text once >line
is "$(jq -c 'keys_unsorted' line)" '["type","conversation","text","nonce","attachments"]' "a line for dm-send"
is "$(jq -r '.nonce == .attachments[0].id' line)" true "has a nonce"
first=$(dm-send <line | jq -r .id)
is "$(dm-send <line | jq -r '"\(.id) \(.duplicate)"')" "$first true" "and is sent once"
is "$(jq -c '.attachments = []' line | dm-send 2>/dev/null | jq -r .code)" nonce_conflict "what carries something else is not the same"
is "$(dm-attach files/notes.txt | jq -c '{conversation: "bob", attachments: [.id]}' | dm-send |
  jq '.attachments | length')" 1 "an id will do"
again=$(jq -c '{conversation: "carol", attachments}' line | dm-send | jq -c '.attachments[0] | {id, sha256}')
is "$(jq -c '.attachments[0] | {id, sha256}' line | cat - /dev/null | jq -c --argjson b "$again" \
  '[.sha256 == $b.sha256, .id == $b.id]')" '[true,false]' "what was sent can be sent again, as a copy"
is "$(jq -c '.attachments = [range(33) as $i | .attachments[0]] | del(.nonce)' line | dm-send 2>/dev/null | jq -r .code)" bad_field \
  "33 are too many"
is "$(jq -c '.attachments = [range(32) as $i | .attachments[0]] | del(.nonce)' line | dm-send |
  jq -c '.attachments | [length, (map(.id) | unique | length)]')" '[32,32]' "32 are not, also of the same"

photo() { dm-send bob --nonce photo --attach files/photo.jpg 2>/dev/null | jq -r "$1"; }
first=$(photo .id)
is "$(photo '"\(.id) \(.duplicate)"')" "$first true" "prepared anew for the same nonce, it is the same"

# Forwarding.
is "$(dm-send carol --forward bob:1 | jq -c '[.text, .attachments[0].name]')" '["look","photo.jpg"]' \
  "what is forwarded takes along what it carries"
get alice:-1 --as carol >got/forwarded
cmp -s got/forwarded got/photo.jpg
is $? 0 "which its receiver can fetch"
is "$(dm-send --as carol bob --forward alice:-1 | jq '.attachments | length')" 1 "and pass on"

# Saving.
dm-send -q bob --attach files/notes.txt notes
note=$(carried bob)
exits 0 "saved as a file of another name" dm-attach --get "$note" -o got/other
is "$(cat got/other)" "$(cat files/notes.txt)" "which is that"
echo precious >got/other
exits 73 "a file that is there stays" dm-attach --get "$note" -o got/other
is "$(cat got/other) $out" "precious " "as it was"
like "$err" "dm-attach: 'got/other' is there already; *--force" "and what to do is said"
exits 73 "also in a folder" dm-attach --get "$note" -o got
exits 0 "--force replaces it" dm-attach --get "$note" -o got/other --force
is "$(cat got/other) $(stat -c %a got/other)" "$(cat files/notes.txt) 600" "by a new one"
ln -s "$work/aim" got/link
exits 73 "a symbolic link that leads nowhere is not followed" dm-attach --get "$note" -o got/link
echo precious >aim
exits 73 "nor one to a file" dm-attach --get "$note" -o got/link
exits 0 "and --force replaces the link" dm-attach --get "$note" -o got/link --force
is "$(cat aim) $(test -L got/link; echo $?)" "precious 1" "never what it leads to"
mkfifo got/pipe
exits 73 "a pipe is there, too" dm-attach --get "$note" -o got/pipe
exits 73 "no folder, no file" dm-attach --get "$note" -o nowhere/file
exits 66 "a message that carries nothing" dm-attach --get "$(dm-send bob nothing | jq -r .id)"
exits 66 "a thumbnail that there is none of" dm-attach --get "$note" --thumbnail -o got/none
(cd got && rm notes.txt && dm-attach --get "$note" >/dev/null)
is "$(cat got/notes.txt)" "$(cat files/notes.txt)" "the folder is the one that one is in"
is "$(find got -name '.dm-attach-*' | wc -l)" 0 "nothing else lies about"
mkdir desktop
printf '#!/bin/sh\nprintf "%%s" "$1" >"%s/opened"; echo more >>"$1"\n' "$work" >desktop/xdg-open
chmod +x desktop/xdg-open
exits 0 "--open" env PATH="$work/desktop:$PATH" XDG_RUNTIME_DIR="$work" dm-attach --get "$note" --open
like "$(cat opened)" "$work/*/notes.txt" "has the desktop open a copy"
exits 0 "which its reader may change" dm-attach --get "$note" -o got/still
cmp -s got/still files/notes.txt
is $? 0 "and not what was sent"

dm-send -q bob --attach files/notes.txt --attach files/notes.txt twice
mkdir several
exits 0 "a message that carries two files of one name" dm-attach --get bob:-1 -o several
is "$(cd several && echo *)" "notes-2.txt notes.txt" "is saved as two"
exits 73 "and never as one" dm-attach --get bob:-1 -o several/one --force
exits 64 "nor printed" dm-attach --get bob:-1 -o -

# Who may.
exits 66 "who is not in it does not find it" get "$note" --as carol
exits 66 "also by the number of the message" get alice:99 --as carol
prepared=$(dm-attach files/notes.txt | jq -r .id)
exits 66 "what was not sent yet is its owner's" get "$prepared" --as bob
is "$(get "$prepared")" "$(cat files/notes.txt)" "who can look at it"
for attachment in "$note" "$prepared"; do
  is "$(printf '{"conversation":"bob","attachments":["%s"]}\n' "$attachment" | dm-send --as carol 2>/dev/null |
    jq -r .code)" unknown_attachment "and nobody else sends it"
done
dm-conversation -q create --title ops bob
secret=$(dm-send +ops --attach files/core.gz | jq -r '.attachments[0].id')
exits 0 "who is in the group" get "$secret" --as bob
dm-user -q block --as bob alice
exits 66 "does not see what is said by a user that they block" get "$secret" --as bob
is "$(dm-attach --as bob --list +ops)" "" "nor finds it in the list"
dm-user -q unblock --as bob alice
is "$(dm-attach --as bob --list +ops | jq -r .id)" "$secret" "until they do so no more"
dm-conversation -q add +ops carol
exits 66 "who comes later has none of it" get "$secret" --as carol
message=$(dm-attach --list +ops | jq -r .message_id)
dm-edit -q delete "$message"
exits 66 "what a user has deleted for themselves is gone" get "$secret"
exits 0 "but not for the others" get "$secret" --as bob
dm-send -q bob --forward alice:1 --as carol
copy=$(dm-tail --as carol --peek bob -n 1 | jq -r '.attachments[0].id')
sent=$(dm-send bob --as-file --attach files/core.gz gone | jq -r '.attachments[0].id')
dm-edit -q delete --for-everyone bob:-1
exits 66 "what was deleted for all is gone for the other" get "$sent" --as bob
exits 66 "and for who sent it" get "$sent"
is "$(dm-tail --peek --deleted bob -n 1 | jq -c '[.attachments, .text]')" '[null,null]' "nothing is left in its place"
exits 0 "a copy stays" get "$copy" --as carol

# Lists.
dm-conversation -q create --title pictures bob
for file in notes.txt photo.jpg core.gz photo.jpg; do dm-send -q +pictures --attach "files/$file" 2>/dev/null; done
dm-send -q --as bob +pictures --attach files/notes.txt
is "$(dm-attach --list +pictures | jq -r '"\(.kind) \(.seq) \(.sender) \(.name)"' | paste -sd ,)" \
  "image 5 alice photo.jpg,image 3 alice photo.jpg,file 6 bob notes.txt,file 4 alice core.gz,file 2 alice notes.txt" \
  "by kind, the newest first"
is "$(dm-attach --list +pictures)" "$(dm-attach --as bob --list +pictures)" "for both the same"
is "$(dm-attach --list +pictures | jq -r .message_id | head -n 1)" "$(dm-tail +pictures 5 --peek | jq -r .id)" \
  "with the message"
is "$(dm-attach --as carol --list +ops)" "" "where there is nothing, nothing is printed"
is "$(dm-search --in +pictures --has attachment | jq .seq | paste -sd ' ')" "6 5 4 3 2" "--has attachment finds them"
is "$(dm-search --in +pictures --has image | jq .seq | paste -sd ' ')" "5 3" "--has image finds images"

# As text.
like "$(dm-tail +pictures 2 --peek --text)" "*2 you (file 'notes.txt' 8 bytes*):*" "in a conversation"
like "$(dm-list --text +pictures)" "*bob (file 'notes.txt' 8 bytes)*" "and in the list"
like "$(COLUMNS=200 script -qec "dm-attach --list +pictures" /dev/null | tail -n 1)" 'file *+pictures:2 *you*  notes.txt  8 bytes *' \
  "and by itself"

# A signal that is ignored does not end the work half done.
mkfifo slow
(trap '' HUP; exec dm-attach --to bob files/notes.txt - <slow >line) &
worker=$!
exec 4>slow
head -c 600000 /dev/zero >&4
kill -HUP $worker
head -c 600000 /dev/zero >&4
exec 4>&-
wait $worker
is "$? $(jq -c '.attachments | map(.size_bytes)' line)" "0 [8,1200000]" "a signal that is ignored is none"
(exec dm-attach --to bob files/notes.txt - <slow >line) &
worker=$!
exec 4>slow
head -c 600000 /dev/zero >&4
kill -TERM $worker
wait $worker 2>/dev/null
is "$? $(cat line)" "143 " "one that is not ends the wait for more, and leaves nothing to be sent"
exec 4>&-
is "$(find "$DM_STORE/attachments" -name '.work-*' | wc -l)" 0 "and nothing behind"

# For a user who can be sent nothing, nothing is prepared.
before=$(sqlite3 "$DM_STORE/dm.sqlite" 'SELECT count(*) FROM attachment')
exits 67 "to nobody" dm-send nobody --attach files/notes.txt
is "$(sqlite3 "$DM_STORE/dm.sqlite" 'SELECT count(*) FROM attachment')" "$before" "nothing is prepared"

# The answer was lost, and what was forwarded is gone meanwhile.
id=$(dm-send bob --attach files/notes.txt original | jq -r '.id, .attachments[0].id' | paste -sd ' ')
line="{\"conversation\":\"carol\",\"attachments\":[\"${id#* }\"],\"nonce\":\"forwarded\"}"
printf '%s\n' "$line" | dm-send -q
dm-edit delete --for-everyone "${id% *}" -q
is "$(printf '%s\n' "$line" | dm-send | jq -c '[.duplicate, (.attachments | length)]')" '[true,1]' "the line still names it"

exits 65 "an editor that is left empty" env EDITOR=true dm-send bob --edit --attach files/notes.txt
like "$err" "*the text is empty*" "gives up"

# What cannot be sent.
mkfifo files/pipe
exits 65 "a pipe by its name" dm-attach files/pipe
exits 65 "a folder" dm-attach files
exits 65 "a device" dm-attach /dev/zero
exits 66 "what is not there" dm-attach files/none
if [ "$(id -u)" -ne 0 ]; then
  chmod 0 files/photo.png
  exits 74 "what cannot be read" dm-attach files/photo.png
fi
exits 1 "one of several" dm-attach files/notes.txt files/none files/core.gz
is "$(printf '%s' "$out" | jq -r '.name // "\(.line):\(.code)"' | paste -sd ' ')" "notes.txt 2:unknown_file core.gz" \
  "is answered in its place"
exits 66 "a line has all of them" dm-attach --to bob files/notes.txt files/none
is "$out" "" "or is none"
number=$(dm-tail --peek bob -n 1 | jq .seq)
exits 66 "and so has a message" dm-send bob --attach files/notes.txt --attach files/none
is "$(dm-tail --peek bob -n 1 | jq .seq)" "$number" "or it is not sent"
exits 0 "without any tools" env PATH="$work/desktop" "$(command -v dm-attach)" files/photo.jpg
is "$(printf '%s' "$out" | jq -c '[.kind, .width, .height, .thumbnail]')" '["image",300,400,null]' \
  "an image has no thumbnail"
like "$err" "dm-attach: *install libvips-tools*" "and what to install is said"
is "$(get "$(printf '%s' "$out" | jq -r .id)" | grep -ac Acme)" 0 "but its metadata goes"
done_testing
