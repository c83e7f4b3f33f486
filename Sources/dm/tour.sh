# The tour of 'dm tour': two people and a bot hold a conversation through pipes.
#
# sh -c SCRIPT NAME STORE again|'' FOLDER: FOLDER has the programs. On a terminal each command waits for Enter.
set -eu
store=$1 again=$2
PATH="$3:$PATH"
if [ -e "$store/dm.sqlite" ] && [ -n "$again" ]; then rm -rf -- "$store"; fi
if [ -e "$store" ]; then
  echo "$0: the tour was played in '$store'; 'dm tour --again' removes that store and begins anew" >&2
  exit 73
fi
mkdir -p -- "$(dirname -- "$store")"
export DM_STORE="$store"
unset DM_USER

# say TEXT: a comment, wrapped at the width of the terminal, at most 80 columns.
width=$({ stty size </dev/tty; } 2>/dev/null | cut -d ' ' -f 2)
[ "${width:-0}" -ge 20 ] && [ "$width" -lt 80 ] || width=80
say() {
  echo
  printf '%s\n' "$*" | fold -s -w $((width - 3)) | sed 's/^/# /; s/ *$//'
}
# run COMMAND: shows it, and runs it. show COMMAND: the same, but prints text also where the tour goes into a pipe.
run() {
  printf '$ %s' "$1"
  if [ -t 0 ] && [ -t 1 ]; then read -r _ || exit 0; else echo; fi
  sh -c "$1${2-}"
}
show() { if [ -t 1 ]; then run "$1"; else run "$1" ' --text'; fi; }

[ ! -t 1 ] || echo 'Enter plays the next command, Ctrl-C ends the tour.'

say 'Alice, Bob and a bot are users of a store; nothing runs in the background.'
show "dm-user add alice"
show "dm-user add bob --display-name 'Bob B.'"
show "dm-user add clock --bio 'tells the time'"

say 'Alice writes to Bob. dm-send prints the stored message: a reference on a terminal, a line of JSON in a pipe.'
show "dm-send --as alice bob 'lunch?'"
run "printf 'at noon?\nthe usual place\n' | dm-send --as alice --lines bob -q"

say 'Bob lists the unread messages: there are three.'
show "dm-list --as bob"
run "dm-list --as bob --count"

say 'Bob reads two of them, and marks exactly these two as read.'
show "dm-tail --as bob alice 1..2"
show "dm-tail --as bob alice 1..2 | dm-read --as bob"
run "dm-list --as bob --count"

say 'Alice sees which of the messages were delivered and read.'
show "dm-tail --as alice bob"
show "dm-read --as alice --receipts bob:1"

say 'A bot is a pipe of three programs. Each answer also acknowledges the event that it answers, in one transaction.' \
  'So the bot may be killed at any time and run again, as here: it answers each message exactly once.'
run "dm-send --as alice clock 'what time is it?' -q"
if command -v jq >/dev/null; then
  bot="dm-tail --as clock --others --consumer time --cursor start |
  jq -c '{ack: .cursor} + if .type == \"message\" and .text then
    {conversation: .conversation_id, reply_to: .id, nonce: .id,
     text: \"it is \(now | strftime(\"%H:%M\")) UTC\"} else {} end' |
  dm-send --as clock --consumer time -q"
  run "$bot"
  run "$bot"
else
  say '(The bot of this tour needs jq, which is not installed; Clock answers by hand.)'
  run "dm-send --as clock alice \"it is \$(date -u +%H:%M) UTC\" -q"
fi
show "dm-tail --as alice clock"

say 'A group, a reply, and all unread messages marked as read at once.'
show "dm-conversation create --as alice --title ops bob clock"
run "dm-send --as bob +ops 'all green' -q"
run "dm-send --as alice +ops --reply-to -1 'thanks' -q"
show "dm-read --as bob --everywhere --all"
show "dm-list --as bob"

say 'An edit, a reaction, a draft, a message that expires after an hour, and a search.'
show "dm-edit text --as bob +ops:2 'all green again'"
show "dm-edit react --as alice 👍 +ops:2"
run "dm-send --as bob +ops --draft 'lunch, anyone?' -q"
run "dm-send --as bob +ops --from-draft -q"
run "dm-send --as bob +ops --expires-in 1h 'the code is 4711' -q"
show "dm-tail --as alice +ops"
show "dm-search --as alice 'green OR lunch'"

say 'A file: here the output of a pipe. Bob fetches it.'
show "df -h / | dm-attach --as alice --name disks.txt --to bob - |
  dm-send --as alice"
run "dm-attach --as bob --get alice:-1 -o -"

say 'The bot leaves the group, which is announced in the group.'
run "dm-conversation leave --as clock +ops -q"
show "dm-tail --as alice +ops:-1"

if [ -t 0 ] && [ -t 1 ]; then
  say 'All this is also in a window, in which you now are Alice. /help shows its commands and keys, Ctrl-D ends it.'
  run "dm-chat --as alice bob"
fi

say 'That was the tour. Its store stays; type the next messages yourself:'
case $store in *[!A-Za-z0-9/._-]*) shown="'$store'" ;; *) shown=$store ;; esac
cat <<END
  export DM_STORE=$shown DM_USER=alice
  dm-send bob 'and now by hand'
  dm-chat bob                    # in a second terminal: dm-chat --as bob alice
  dm-list --as bob --unread
  unset DM_STORE DM_USER         # back to your own store; see dm-tutorial(7)
END
