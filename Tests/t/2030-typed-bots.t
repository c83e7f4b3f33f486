#!/bin/sh
# The bots of the examples in Python and TypeScript, and their types, which are made from the schemas.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
fixtures=$(cd "$(dirname "$0")/../Fixtures" && pwd)
people
cd "$work" || exit 1
export DM_USER=echo PYTHONDONTWRITEBYTECODE=1
dm-user -q --as alice add echo
hostile="-n \$(touch $work/code) \`touch $work/code\` '\"; touch $work/code; \\n %s $(printf '\033')[2J
second line é"

# The types.
schemas() { dm-tail --schema; dm-send --schema; }
schemas | "$examples/schema-types" python >dm.py
ok "the types for Python are those of the schemas" diff dm.py "$examples/python/dm.py"
schemas | "$examples/schema-types" typescript >dm.d.ts
ok "those for TypeScript, too" diff dm.d.ts "$examples/typescript/dm.d.ts"
exits 1 "there are no other languages" "$examples/schema-types" cobol
cp "$examples/python/bot.py" .
ok "the bot in Python uses them right" mypy --strict --cache-dir=.mypy bot.py
sed -i 's/event\["conversation_id"\]/event["conversation_uid"]/' bot.py
exits 1 "and a field that there is not is found" mypy --strict --cache-dir=.mypy bot.py
# Debian's package of Node has its types; beside another Node, those that the bot uses stand in for them.
types=/usr/share/nodejs/@types
[ -d $types/node ] || types=$fixtures/node-types
cp "$examples/typescript/bot.ts" .
sed 's/reply_to: id/reply_to: 7/' bot.ts >wrong.ts
exits 2 "a value of another type is found in TypeScript" tsc --strict --target es2020 --module commonjs --skipLibCheck \
  --typeRoots "$types" bot.ts wrong.ts
like "$out" "wrong.ts*'number' is not assignable to type*" "and named"
is "$(printf '%s\n' "$out" | grep -c '^bot.ts')" 0 "and the bot uses the types right"

# The bots. The programs leave their ids, to be killed by them.
mkdir bin
for part in dm-tail dm-send; do
  printf '#!/bin/sh\necho $$ >"%s"\nexec "%s" "$@"\n' "$work/$part.pid" "$(command -v "$part")" >bin/$part
done
chmod +x bin/*
# bot COMMAND...: runs it again whenever it ends; a line 'started' for each.
bot() { # shellcheck disable=SC2016
  PATH="$work/bin:$PATH" follow sh -c \
    'while echo "\"started\""; do "$@" & echo $! >bot.pid; wait $!; done' sh "$@" 2>/dev/null
  line >/dev/null
}
ask() { dm-send --as alice -- echo "$@" | jq -r .id; }
# answered TEXT: waits for that answer.
answered() { first "\"text\":\"echo: $1" dm-tail -f --as alice --peek echo --json | jq -r .text; }

# killed NAME COMMAND...
killed() {
  name=$1
  shift
  start=$(dm-tail -n all --peek | wc -l)
  dm-tail -q --consumer echo --cursor now
  bot "$@"
  ask "$name" >asked
  is "$(answered "$name")" "echo: $name" "the bot in $name answers"
  for part in dm-tail dm-send bot; do
    dm-send -q --as alice echo "$name before $part"
    # shellcheck disable=SC2046
    case $part in bot) kill -9 "$(cat bot.pid)" ;; *) kill -9 $(tree "$(cat $part.pid)") ;; esac
    dm-send -q --as alice echo "$name after $part"
    is "$(line) $(answered "$name after $part")" "started echo: $name after $part" "and again after $part was killed"
  done
  dm-send -q --as alice -- echo "$hostile"
  head -c 65000 /dev/zero | tr '\0' '\001' | dm-send -q --as alice echo
  jq -nr '"🙂" * 1500' | dm-send -q --as alice echo
  dm-send -q --as alice echo "$name ends"
  is "$(answered "$name ends")" "echo: $name ends" "after the longest line, too"
  leave
  dm-tail --peek -n all alice | jq -c --argjson start "$start" 'select(.seq > $start)' >all
  is "$(jq -r 'select(.is_mine) | .reply_to.id' all)" "$(jq -r 'select(.is_mine | not).id' all)" \
    "each message is answered once, in order"
  is "$(jq -s --arg text "echo: $hostile" 'map(select(.text == $text)) | length' all)" 1 "whatever its text"
  is "$(jq -r 'select(.is_mine) | .text | length' all | sort -n | tail -n 2 | tr '\n' ' ')" "1006 1006 " \
    "cut between characters"
}
killed Python python3 "$examples/python/bot.py"
dm-tail -q --forget echo
killed TypeScript node "$work/bot.js"
is "$(find . -name code)" "" "and no text becomes code"
done_testing
