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

say() { printf '\n# %s\n' "$*"; }
run() {
  printf '$ %s' "$1"
  if [ -t 0 ] && [ -t 1 ]; then read -r _ || exit 0; else echo; fi
  sh -c "$1"
}

[ ! -t 1 ] || echo 'Enter plays the next command, Ctrl-C ends the tour.'

say 'Alice, Bob and a bot are users of a store; nothing runs in the background.'
run "dm-user add alice --text"
run "dm-user add bob --display-name 'Bob B.' --text"
run "dm-user add clock --bio 'tells the time' --text"

say 'Alice writes to Bob. The answer of dm-send is the message as it is stored: here as text, in a pipe as a line of JSON.'
run "dm-send --as alice bob 'lunch?' --text"
run "printf 'at noon?\nthe usual place\n' | dm-send --as alice --lines bob -q"

say 'Bob lists the unread messages: there are three.'
run "dm-list --as bob --text"
run "dm-list --as bob --count"

say 'Bob reads two of them, and marks exactly these two as read.'
run "dm-tail --as bob alice 1..2 --text"
run "dm-tail --as bob alice 1..2 | dm-read --as bob --text"
run "dm-list --as bob --count"

say 'Alice sees which of the messages were delivered and read.'
run "dm-tail --as alice bob --text"
run "dm-read --as alice --receipts bob:1 --text"

say 'A bot is a pipe of three programs. Each answer also acknowledges the event that it answers, in one transaction: after
# a kill at any time the bot can be run again, and answers each message exactly once.'
run "dm-send --as alice clock 'what time is it?' -q"
if command -v jq >/dev/null; then
  bot="dm-tail --as clock --others --consumer time --cursor start |
  jq -c '{ack: .cursor} + if .type == \"message\" and .text then {conversation: .conversation_id, reply_to: .id,
    text: \"it is \(now | strftime(\"%H:%M\")) UTC\", nonce: .id} else {} end' |
  dm-send --as clock --consumer time --text"
  run "$bot"
  run "$bot"
else
  say '(The bot of this tour needs jq, which is not installed; Clock answers by hand.)'
  run "dm-send --as clock alice \"it is \$(date -u +%H:%M) UTC\" -q"
fi
run "dm-tail --as alice clock --text"

say 'A group, a reply, and all unread messages marked as read at once.'
run "dm-conversation create --as alice --title ops bob clock --text"
run "dm-send --as bob +ops 'all green' -q"
run "dm-send --as alice +ops --reply-to -1 'thanks' -q"
run "dm-read --as bob --everywhere --all --text"
run "dm-list --as bob --text"

say 'An edit, a reaction, a draft, a message that expires after an hour, and a search.'
run "dm-edit text --as bob +ops:2 'all green again' --text"
run "dm-edit react --as alice 👍 +ops:2 --text"
run "dm-send --as bob +ops --draft 'lunch, anyone?' -q"
run "dm-send --as bob +ops --from-draft -q"
run "dm-send --as bob +ops --expires-in 1h 'the code is 4711' -q"
run "dm-tail --as alice +ops --text"
run "dm-search --as alice 'green OR lunch' --text"

say 'A file: here the output of a pipe. Bob fetches it.'
run "df -h / | dm-attach --as alice --name disks.txt --to bob --text 'as promised' - | dm-send --as alice --text"
run "dm-attach --as bob --get alice:-1 -o -"

say 'The bot leaves the group, which is announced in the group.'
run "dm-conversation leave --as clock +ops -q"
run "dm-tail --as alice +ops:-1 --text"

say 'That was the tour. Its store stays; type the next messages yourself:'
case $store in *[!A-Za-z0-9/._-]*) shown="'$store'" ;; *) shown=$store ;; esac
cat <<END
  export DM_STORE=$shown DM_USER=alice
  dm-send bob 'and now by hand'
  dm-tail -f bob                 # Ctrl-C ends it; answer in a second terminal: dm-send --as bob alice hi
  dm-list --as bob --unread
  unset DM_STORE DM_USER         # back to your own store: dm-user add, dm-send; dm help send
END
