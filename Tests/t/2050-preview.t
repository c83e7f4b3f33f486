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
is "$(printf '%s\n' "$err" | wc -l)" 4 "and are named"
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
done_testing
