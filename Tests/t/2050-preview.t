#!/bin/sh
# dm-preview: lines pass, whatever happens to their links. What is fetched has tests of its own, with a server.
. "$(dirname "$0")/lib.sh"
people
export DM_USER=alice

# Lines without a link.
printf '%s\n' '{"conversation":"bob","text":"no link"}' '{"conversation": "bob" , "text":"x", "nonce":"1"} ' \
  '{"type":"typing","text":"http://127.0.0.1/"}' '{"text":"http://127.0.0.1/","link_preview":null}' \
  '{"type":"message","id":"x","system_kind":"user_joined"}' >"$work/plain"
exits 0 "lines without a link, of other records, or with a preview" dm-preview <"$work/plain"
is "$out" "$(cat "$work/plain")" "pass unchanged, byte for byte"
is "$err" "" "without a word"
exits 0 "no lines are no lines" dm-preview </dev/null
is "$out" "" "and nothing comes"
exits 0 "with -q" dm-preview -q <"$work/plain"
is "$out" "" "nothing is printed"

# Links that are refused, or lead nowhere.
tricks='http://127.0.0.1/ http://127.1/ http://2130706433/ http://0x7f000001/ http://0177.0.0.1/ http://localhost/
http://[::1]/ http://[::ffff:127.0.0.1]/ http://169.254.169.254/latest/meta-data/ http://10.0.0.1/ http://192.168.1.1/
http://user:word@127.0.0.1/ https://127.0.0.1:8443/ http://127.0.0.1:22/ http://[fd00:ec2::254]/ http://0/'
for trick in $tricks; do printf '{"conversation":"bob","text":"see %s."}\n' "$trick"; done >"$work/tricks"
exits 1 "links to this machine and its network" dm-preview <"$work/tricks"
is "$out" "$(cat "$work/tricks")" "leave their lines unchanged"
is "$(printf '%s\n' "$err" | wc -l)" "$(wc -l <"$work/tricks")" "and each has one line on standard error"
is "$(printf '%s\n' "$err" | grep -c 'not public\|port that is not\|name or password')" "$(wc -l <"$work/tricks")" \
  "which says why"
is "$(printf '%s\n' "$err" | grep -c 'meta-data\|:word')" 0 "but not the link"
is "$(printf '%s\n' "$err" | head -1)" \
  "dm-preview: line 1: '127.0.0.1' has an address that is not public, so nothing is fetched from it" "in these words"

# Lines that cannot be read.
printf '%s\n' '{"text":' 'hello' '[]' '{"text":7}' >"$work/broken"
exits 1 "lines that cannot be read" dm-preview <"$work/broken"
is "$out" "$(cat "$work/broken")" "pass too"
is "$(printf '%s\n' "$err" | wc -l)" 3 "and are named, but for those after the first that are no JSON"
exits 1 "half a line" sh -c "printf '{\"text\":\"x\"}' | dm-preview"
is "$out" "" "does not pass, because it may be half of one"
like "$err" "dm-preview: line 1: the last line has no line feed*" "and is named"

# The program.
exits 64 "an operand is wrong" dm-preview http://a.test/ </dev/null
like "$err" "*unexpected 'http://a.test/'*" "and is named"
exits 0 "without images, no store is needed" dm-preview --no-image --store "$work/none" <"$work/plain"
ok "no store was made" test ! -e "$work/none"

# A pipeline.
is "$(echo '{"conversation":"bob","text":"http://127.0.0.1/"}' | dm-preview 2>/dev/null | dm-send | jq -c '[.seq, .text]')" \
  '[1,"http://127.0.0.1/"]' "a message whose link is refused is sent all the same"
is "$(dm-tail bob | dm-preview 2>/dev/null | jq -c '[.type, .text]' | head -1)" '["message","http://127.0.0.1/"]' \
  "the lines of dm-tail pass"

# A line with a preview, as dm-preview makes it.
line='{"conversation":"carol","text":"look: https://a.test/x.","nonce":"n","link_preview":{"url":"https://a.test/x",
"title":"A page","description":"about it","site":"Example","more":1}}'
say() { printf '%s' "$line" | tr -d '\n' | sed "$1" | sed 's/$/\n/' | dm-send 2>/dev/null; }
preview='{"url":"https://a.test/x","title":"A page","description":"about it","site":"Example"}'
is "$(say '' | jq -c .link_preview)" "$preview" "a preview is sent with its message"
is "$(dm-tail --as carol --peek alice | jq -c .link_preview)" "$preview" "and shown to the others"
is "$(dm-tail --as carol --peek --text alice | tail -1)" "       ↳ A page (Example)" "as a line under the text"
like "$(dm-tail --as carol --peek --plain alice | tail -1)" "*preview 'A page'*: look: *" "in a sentence for screen readers"
is "$(say 's/A page/Another/' | jq -c '[.duplicate, .link_preview.title]')" '[true,"A page"]' \
  "sent again with its nonce, it stays as it was"
is "$(say 's/"n"/"m"/; s/x",/y",/' | jq -r '.code, .subject')" "bad_field
link_preview.url" "a preview of another link is refused"
is "$(say 's/"n"/"m"/; s/"A page"/""/' | jq -r '.code, .subject')" "bad_field
link_preview.title" "and so is one without a title"
is "$(say 's/"n"/"m"/; s/"A page"/"a\\u202Eb"/' | jq -r .code)" "bad_field" "or with one that reorders text"
is "$(say 's/"n"/"m"/; s/{"url.*}}/7}/' | jq -r .code)" "bad_field" "or that is a number"
is "$(dm-send bob --forward carol:1 | jq -r .link_preview.title)" "A page" "a forwarded message has it, too"
image=$(printf 'GIF89a\1\0\1\0\200\0\0\0\0\0\377\377\377,\0\0\0\0\1\0\1\0\0\2\2D\1\0;' | dm-attach - 2>/dev/null | jq -r .id)
is "$(say "s/\"n\"/\"i\"/; s/\"more\":1/\"attachment_id\":\"$image\"/" |
  jq -c "[.link_preview.attachment_id == \"$image\", (.attachments | map(.id == \"$image\"))]")" '[true,[true]]' \
  "its image is an attachment of the message"
dm-edit text carol:1 'see https://a.test/x' -q
is "$(dm-tail --peek carol 1 | jq -r .link_preview.title)" "A page" "an edit keeps it while the text has the link"
dm-edit text carol:1 'no link' -q
is "$(dm-tail --peek carol 1 | jq -c .link_preview)" null "and removes it otherwise"
dm-doctor dump >"$work/dump"
is "$(dm-doctor restore --store "$work/restored" <"$work/dump" >/dev/null &&
  dm-tail --store "$work/restored" --peek carol | jq -c .link_preview.title)" "$(dm-tail --peek carol | jq -c .link_preview.title)" \
  "a dump has the previews"
is "$(dm-doctor check --deep | jq -r 'select(.type == "finding")')" "" "and the store is sound"
dm-user list >"$work/history"
dm-list --all >>"$work/history"
dm-tail --peek bob -n all >>"$work/history"
is "$(dm-import --same-users --store "$work/imported" "$work/history" 2>/dev/null | jq -r 'select(.link_preview) | .link_preview.title')" "A page" \
  "an import has them"
dm-edit delete --for-everyone carol:2 -q
is "$(dm-tail --peek carol | jq -c 'select(.seq == 2) | .link_preview')" "" "a deleted message has none"

# dm-send --preview.
exits 0 "a message whose link is refused" dm-send bob --preview 'http://127.0.0.1/'
is "$(printf '%s\n' "$out" | jq -c '[.text, .link_preview]')" '["http://127.0.0.1/",null]' "is sent without a preview"
is "$err" "dm-send: sent without a preview: '127.0.0.1' has an address that is not public, so nothing is fetched from it" \
  "and standard error says why"
exits 0 "without a link" dm-send bob --preview hello
is "$err" "" "there is nothing to say"
exits 0 "lines, too" sh -c 'echo http://10.0.0.1/ | dm-send --lines bob --preview'
like "$err" "dm-send: sent without a preview: '10.0.0.1' has *" "are asked about"
exits 0 "and JSON lines" sh -c 'echo "{\"conversation\":\"bob\",\"text\":\"http://10.0.0.1/\"}" | DM_PREVIEW=on dm-send'
like "$err" "dm-send: sent without a preview: '10.0.0.1' has *" "with DM_PREVIEW=on"
exits 0 "a message with a nonce" dm-send bob --preview --nonce once 'http://127.0.0.1/'
like "$err" "dm-send: sent without a preview: *" "is asked about"
exits 0 "that is sent again" dm-send bob --preview --nonce once 'http://127.0.0.1/'
is "$(printf '%s\n' "$out" | jq -c .duplicate) $err" "true " "is not asked about again"
exits 0 "nor if it is a line" sh -c 'echo "{\"conversation\":\"bob\",\"text\":\"http://127.0.0.1/\",\"nonce\":\"once\"}" |
  dm-send --preview'
is "$(printf '%s\n' "$out" | jq -c .duplicate) $err" "true " "of JSON"
exits 0 "to a second conversation" dm-send --to bob --to carol --preview --nonce once 'http://127.0.0.1/'
like "$err" "dm-send: sent without a preview: *" "it is asked about"
exits 73 "another text with the nonce" dm-send bob --preview --nonce once 'http://127.0.0.1/other'
is "$(printf '%s\n' "$err" | grep -c 'without a preview')" 0 "is refused before"
exits 0 "with DM_PREVIEW=off" env DM_PREVIEW=off dm-send bob 'http://10.0.0.1/'
is "$err" "" "nothing is asked"
exits 64 "another value of DM_PREVIEW is wrong" env DM_PREVIEW=yes dm-send bob x
like "$err" "*'yes' is not a value of DM_PREVIEW; write on or off*" "and is named"
exits 64 "--preview and a draft do not go together" dm-send bob --preview --draft x
exits 66 "what may not be sent is not fetched" dm-send +nowhere --preview http://127.0.0.1/
is "$(printf '%s\n' "$err" | grep -c 'without a preview')" 0 "and nothing is said about it"
done_testing
