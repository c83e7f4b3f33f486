#!/bin/sh
# The sessions of the manual and of the README: each command is typed in a terminal, and prints what the page shows.
#
# In a session a line that begins with '$ ' is a command, which goes on while the shell would wait for its end. The lines
# after it are what it prints. A command that follows stays; a block without a command is what it prints next.
. "$(dirname "$0")/lib.sh"
pages=$(cd "$(dirname "$0")/../.." && pwd)
export HOME="$work" SHELL=/bin/sh NO_COLOR=1
unset COLUMNS
cd "$work" || exit 1
cp "$pages/examples/photo.jpg" .

# unescaped: blocks as a terminal shows them; a line '---' ends each.
unescaped() {
  sed -e '/^\.Bd/d' -e 's/^\.Ed.*/---/' -e 's/\\&//g' -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\(ti/~/g' -e 's/\\(ha/^/g' \
    -e 's/\\(ga/`/g' -e 's/\\(dq/"/g' -e 's/\\\[u1F440\]/👀/g' -e 's/\\\[u1F44D\]/👍/g' -e 's/\\\[u2713\]/✓/g' \
    -e 's/\\\[u2026\]/…/g' -e 's/\\\[u2500\]/─/g' -e 's/\\e/\\/g'
}

# introduction PAGE: the blocks of its section INTRODUCTION.
introduction() {
  sed -n '/^\.Sh INTRODUCTION/,/^\.Sh [^I]/p' "$1" | sed -n '/^\.Bd -literal/,/^\.Ed/p' | unescaped
}

# examples PAGE: the sessions of a page, which are its blocks that begin with a command after '$ '.
examples() {
  sed -n '/^\.Bd -literal/,/^\.Ed/p' "$1" | sed -n '/^\.Bd/{n;/^\$ /!b;:line
p;n;/^\.Ed/!b line
p}' | unescaped
}

# sessions PAGE: the blocks of a page in Markdown that are sessions.
sessions() {
  sed -n '/^```console/,/^```$/p' "$1" | sed -e '/^```console/d' -e 's/^```$/---/'
}

# picture FILE: the session in a picture that docs/make-terminal-svg has made.
picture() {
  sed -n 's/^<text/&/p' "$1" | sed -e 's/<[^>]*>//g' -e 's/&lt;/</g' -e 's/&gt;/>/g' -e 's/&amp;/\&/g' |
    sed -E 's/^([a-z]+)\$ (.*)/$ export DM_USER=\1\n$ \2/'
  echo ---
}

# Without what differs from run to run: dates and times.
masked() {
  sed -E -e 's/── [A-Z][A-Za-z0-9 ]+ ──+/── DAY ──/' -e 's/( new ──)─+/\1/' -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}/DATE/g' -e 's/[0-9]{2}:[0-9]{2}(:[0-9]{2}\.[0-9]{6})?/TIME/g'
}

# in_terminal COMMAND: prints what a terminal of 80 columns shows, without hints about programs that are not installed.
in_terminal() {
  timeout 90 script -qec "stty cols 80 rows 24; $1" /dev/null </dev/null >"$work/.screen" 2>&1
  status=$?
  tr -d '\r' <"$work/.screen" | grep -v '; install '
  return $status
}

# next: the next line of the command that follows.
next() { IFS= read -r line <&3 && printf '%s\n' "$line" | tr -d '\r'; }

run() {
  [ -n "$command" ] || return
  commands=$((commands + 1))
  name=$(printf '%s\n' "$command" | head -n 1 | tr -d '\\')
  case $command in
    'export '*) eval "$command" ;;
    dm-*' -f '*)
      follow script -qec "stty cols 80 rows 24; $command" /dev/null
      got=$(printf '%s' "$shown" | while read -r _; do next; done)
      is "$(printf '%s\n' "$got" | masked)" "$(printf '%s' "$shown" | masked)" "$name"
      ;;
    *)
      got=$(in_terminal "$command")
      is "$? $(printf '%s\n' "$got" | masked)" "0 $(printf '%s' "$shown" | masked)" "$name"
      ;;
  esac
  command='' shown=''
}

# play BLOCKS: runs them in order.
play() {
  commands=0 command='' shown=''
  while IFS= read -r text; do
    case $text in
      '$ '*)
        run
        command=${text#??}
        until sh -n -c "$command" 2>/dev/null; do
          IFS= read -r text || break
          command="$command
$text"
        done
        ;;
      ---)
        if [ -z "$command" ]; then
          got=$(printf '%s' "$shown" | while read -r _; do next; done)
          is "$(printf '%s\n' "$got" | masked)" "$(printf '%s' "$shown" | masked)" "what follows prints it as it happens"
          shown=''
          leave
        fi
        run
        ;;
      *)
        shown="$shown$text
"
        ;;
    esac
  done <"$1"
}

introduction "$pages/man/dm.7" >"$work/introduction"
play "$work/introduction"
[ "$commands" -ge 20 ]
is $? 0 "dm(7) shows $commands commands"

sessions "$pages/README.md" >"$work/readme"
play "$work/readme"
[ "$commands" -ge 5 ]
is $? 0 "the README shows $commands commands"

# The sessions of the other pages, each in a store of its own, in which alice has written with bob and in a group.
shown_pages=0
for page in "$pages"/man/dm-*.[158]; do
  examples "$page" >"$work/session"
  [ -s "$work/session" ] || continue
  shown_pages=$((shown_pages + 1))
  name=${page##*/}
  export DM_STORE="$work/${name%.*}" DM_USER=alice
  people
  dm-send -q bob 'lunch?'
  dm-send -q --as bob alice 'at noon?'
  dm-send -q bob 'the usual place'
  dm-conversation create -q --title ops bob carol
  dm-send -q --as bob +ops 'the backup is done'
  dm-send -q --as carol +ops thanks
  mkdir "$work/in-${name%.*}" && cd "$work/in-${name%.*}" || exit 1
  play "$work/session"
  cd "$work" || exit 1
done
[ "$shown_pages" -ge 14 ]
is $? 0 "$shown_pages other pages have a session"

# dm-tutorial(7) is another name of dm(7), by a path of an installation.
is "$(cat "$pages/man/dm-tutorial.7")" ".so man7/dm.7" "dm-tutorial(7) is dm(7)"
for page in "$pages"/man/*; do
  [ "${page##*/}" != dm-tutorial.7 ] || continue
  is "$(mandoc -Tlint -W warning "$page" 2>&1)" "" "mandoc warns about nothing in ${page##*/}"
done

export DM_STORE="$work/picture"
people
dm-user -q --as alice add clock
picture "$pages/docs/terminal.svg" >"$work/session"
play "$work/session"
[ "$commands" -ge 20 ]
is $? 0 "the picture shows $commands commands"

export DM_STORE="$work/digest"
people
picture "$pages/docs/digest.svg" >"$work/session"
play "$work/session"
[ "$commands" -ge 16 ]
is $? 0 "the picture of a digest shows $commands commands"
done_testing
