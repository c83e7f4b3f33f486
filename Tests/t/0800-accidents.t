#!/bin/sh
# What happens to people: variables that are not set, names that are too long, a store that is cut off while it is made.
. "$(dirname "$0")/lib.sh"
export DM_USER=alice
people
cd "$work" || exit 1

exits 64 "an empty name of a store" dm-send --store "" bob hi
is "$(ls dm.sqlite store.lock 2>/dev/null)" "" "makes no store of the current folder"
export DM_STORE="$work/$(printf 'q\377')"
exits 65 "a name of a store that is not UTF-8" dm-send bob hi
export DM_STORE="$work/store"
unset HOME
exits 0 "without HOME a named store does" dm-list
HOME="$work/home"
export HOME

long=$(head -c 60000 /dev/zero | tr '\0' a)
exits 64 "a name to be matched that is too long" dm-list --match "$long"
exits 65 "a handle that is too long" dm-send "$long" hi
is "$([ ${#err} -lt 2000 ] && echo short)" short "does not stand in the error at full length"
exits 65 "a title that is too long" dm-send "+$long" hi
jq -nc '{conversation: ("a" * 900000), text: "hi"}' >"$work/line"
exits 1 "a name of a megabyte in a line" sh -c "dm-send <'$work/line'"
is "$([ ${#out} -lt 2000 ] && echo short)" short "is answered with a short line"

exits 64 "quiet and a count" dm-list -q --count
jq -nc '{conversation: "bob", text: "hi", ack: null, attachments: null, expires_in: null}' >"$work/line"
exits 0 "null is absent" sh -c "dm-send -q <'$work/line'"

accent=$(printf '\314\201x')
ok "a title may begin with a combining mark" dm-conversation -q create --title "$accent"
is "$(dm-conversation show "+$accent" | jq -r .title)" "$accent" "and is found by it"

# A text that was written in an editor outlives an error.
cat >"$work/editor" <<'X'
echo 'a long letter' >"$1"
X
exits 67 "an edited text to nobody" env VISUAL="sh $work/editor" dm-send --edit bobb
kept=$(printf '%s' "$err" | sed "s/.*what you wrote is in '\(.*\)'/\1/")
is "$(cat "$kept")" "a long letter" "is kept"
rm -f "$kept"
exits 0 "an edited text to somebody" env VISUAL="sh $work/editor" TMPDIR="$work" dm-send --edit bob
is "$(ls "$work"/dm-send-* 2>/dev/null)" "" "leaves no file"

cat >"$work/editor" <<'X'
echo 'precious words' >"$1"
exit 1
X
exits 65 "an editor that writes and fails" env VISUAL="sh $work/editor" TMPDIR="$work" dm-send --edit bob
is "$(cat "$work"/dm-send-*)" "precious words" "loses nothing"

exits 67 "a number behind a handle is not a user" dm-send bob:1 x
like "$err" "*'bob:1' is not a user*':' in it" "and nobody is told to add it"
exits 64 "a range that runs backwards" dm-read bob 57..40
like "$err" "*write 40..57" "is turned round"

# A group of thousands costs no square of them.
seq 6000 | jq -c '"m\(.)"' | jq -sc '{type: "conversation", id: "00000000-0000-7000-8000-00000000aaaa", is_group: true,
  title: "crowd", participants: .}' >"$work/line"
exits 0 "a group of 6,000 in no time to speak of" timeout 10 dm-import -q <"$work/line"

# Reading waits for nobody, not even to note what was delivered.
dm-send -q --as bob alice 'for the mark'
mkfifo "$work/held" "$work/go"
flock "$DM_STORE/store.lock" sh -c "echo >'$work/held'; read -r _ <'$work/go'" &
read -r _ <"$work/held"
exits 0 "a tail while another writes" timeout 3 dm-tail bob -n 1
echo >"$work/go"
wait

# History that comes from elsewhere.
exits 1 "a time that is far away" sh -c \
  "echo '{\"conversation\":\"q\",\"sender\":\"bob\",\"text\":\"x\",\"created_at\":\"2099-01-01T00:00:00Z\"}' | dm-import"
is "$(printf '%s' "$out" | jq -r .code)" bad_time "is refused, because all that follows would have to exceed it"
own=$(dm-conversation create bob | jq -r .id)
other=00000000-0000-7000-8000-000000000001
echo "{\"type\":\"conversation\",\"id\":\"$other\",\"is_group\":false,\"participants\":[\"alice\",\"bob\"]}" | dm-import -q
time=$(date -u -d '+1 hour' +%FT%TZ)
message="{\"conversation_id\":\"$other\",\"sender\":\"bob\",\"text\":\"from elsewhere\",\"created_at\":\"$time\",\"nonce\":\"n\"}"
is "$(echo "$message" | dm-import | jq -r .conversation_id)" "$own" "a pair keeps one conversation, in another batch too"
echo "$message" | sed 's/"sender":"bob"/"sender":"ghost"/; s/"n"/"g"/' >"$work/line"
exits 1 "a third in a direct conversation" sh -c "{ echo '$message'; cat '$work/line'; } | dm-import"
exits 67 "is not even made a user" dm-user show ghost
secret=$(dm-send --as bob carol 'between us' | jq -r .conversation_id)
echo "{\"type\":\"conversation\",\"id\":\"${other%1}2\",\"is_group\":false,\"participants\":[\"bob\",\"carol\"]}" >"$work/line"
exits 1 "the conversation of two others" sh -c "dm-import <'$work/line'"
is "$(printf '%s' "$out" | jq -r .code)" not_allowed "is theirs, by whatever id"
is "$(dm-tail --as bob "$secret" -n all | wc -l)" 1 "and nothing came into it"

exits 64 "a value that no option has" dm-send --text --color bogus bob doubled
exits 64 "and a theme that there is not" env DM_THEME=nosuch dm-send --text bob doubled
exits 64 "are refused" dm-send --color bogus bob doubled
is "$(dm-tail bob -n all --peek | jq -r .text | grep -c doubled)" 0 "before anything is done"
if [ -r /proc/version ]; then
  exits 65 "a file of the kernel, which says that it is empty" dm-attach /proc/version
  like "$err" "*is not a regular file*" "is none to attach"
fi

if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
  exits 74 "a lock that the file system does not give" \
    strace -f -o /dev/null -e inject=flock:error=ENOLCK dm-send bob unlocked
  is "$(dm-tail bob -n all --peek | jq -r .text | grep -c unlocked)" 0 "and nothing is written without it"
  echo file >"$work/file"
  exits 65 "a file that makes its reader wait, as /proc/kmsg does" \
    timeout 20 strace -f -o /dev/null -e inject=poll:retval=0 dm-attach "$work/file"
  like "$err" "*is not a regular file*" "is none to attach"
  for n in 3 4 5 6 7 8 9; do
    rm -rf "$work/cut"
    strace -f -o /dev/null -e inject=fdatasync:signal=SIGKILL:when=$n dm-user add --store "$work/cut" x >/dev/null 2>&1
    dm-send -q --store "$work/cut" --as x x hi 2>/dev/null || dm-send -q --store "$work/cut" --as y y hi
    sqlite3 "$work/cut/dm.sqlite" 'PRAGMA journal_mode'
  done >"$work/modes"
  is "$(sort -u "$work/modes")" wal "a store whose creator was killed gets its log by the next writer"
else
  echo "# skipped: strace cannot trace here"
fi

done_testing
