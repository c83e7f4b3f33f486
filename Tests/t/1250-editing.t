#!/bin/sh
# The line that is typed for dm-typing: what is seen is what is sent, whatever was edited; and the terminal afterwards.
. "$(dirname "$0")/lib.sh"
people
dm-send -q --as alice bob hi
esc=$(printf '\033')

# begin WIDTH COMMAND: starts a command in a terminal of tmux, whose output is recorded in 'raw'.
begin() {
  server=$$-$count
  : >"$work/raw"
  # The recording begins before the command does.
  tmux -L "$server" -f /dev/null new-session -d -x "$1" -y 10 "read -r go; $2"
  tmux -L "$server" pipe-pane "cat >>'$work/raw'"
  keys Enter
}
# taken: waits until the program takes the keys.
taken() {
  tries=0
  until stty -a -F "$(tmux -L "$server" display-message -p '#{pane_tty}')" | grep -q -e -icanon; do
    tries=$((tries + 1))
    [ $tries -lt 2000 ] || break
  done
}
# terminal WIDTH COMMAND: starts dm-typing there.
terminal() {
  begin "$@"
  taken
}
keys() { tmux -L "$server" send-keys "$@"; }
text() { keys -l "$1"; }
paste() {
  tmux -L "$server" set-buffer "$1"
  tmux -L "$server" paste-buffer -p
}
closed() { tmux -L "$server" kill-server 2>/dev/null; }
# The cursor, counted from 0: its column and its row.
cursor() { tmux -L "$server" display-message -p '#{cursor_x} #{cursor_y}'; }
# now FILE PATTERN: waits until the file has a text of that pattern, or for a time; prints it.
now() {
  tries=0
  while
    content=$(cat "$work/$1" 2>/dev/null)
    tries=$((tries + 1))
    [ $tries -lt 2000 ]
  do
    # shellcheck disable=SC2254
    case $content in $2) break ;; esac
  done
  printf '%s\n' "$content"
}
# rows: what is on the screen, without the empty rows below and the Enter that started the command.
rows() { printf '%s\n' "$shown" | sed 1d | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'; }
typing="dm-typing --as alice bob"
told="$typing >'$work/entered'; echo \"status \$?\"; read -r go"

# One line.
terminal 40 "$typing | tee '$work/entered' | dm-send -q --as alice --lines bob; echo gone; read -r go"
text 'one two three 你好'
seen '*你好*'
is "$(cursor)" "18 1" "a wide character takes two columns"
keys C-w
seen '*three*'
text X
seen '*X*'
is "$(rows)" "one two three X" "Ctrl-W erases a word of wide characters"
keys Enter
is "$(now entered '*X')" "one two three X" "what is seen is what is sent"
text 'helo'
keys Left
text l
seen '*hello*'
is "$(cursor)" "4 2" "an arrow moves the cursor"
keys Tab BSpace Home
text '👨‍👩‍👧‍👦é'
keys BSpace BSpace End
text '!'
keys Enter
seen '*hello!*'
is "$(now entered '*!')" "one two three X
hello!" "a character of several is deleted as one"
keys Up Up
seen '*X*X*'
keys C-u
text 'last'
keys C-y Enter
is "$(now entered '*last*' | tail -n 1)" "lastone two three X" "the history, and what was deleted"
keys Enter
text 'no'
seen '*last*no*'
is "$(rows | tail -n 2)" "lastone two three X
no" "Enter on an empty line does nothing"
keys C-u C-d
seen '*gone*'
is "$(dm-tail --as bob alice --peek -n 3 --json | jq -r .text)" "one two three X
hello!
lastone two three X" "all of it is sent"
closed

# A paste, and a terminal of another size.
terminal 40 "$told"
paste "$(printf 'eins\ndue 你好\n\n三')"
seen '*三*'
is "$(rows)" "eins
due 你好

三" "a text of several lines is pasted as one"
is "$(cat "$work/entered")" "" "and waits for Enter"
text '!'
keys Up Up Up
text '>'
seen '*>eins*'
keys Enter
is "$(now entered '*!')" ">eins
due 你好
三!" "each of its lines but the empty one is a line"
text '0123456789012345678901234567890123456789abcdefghij你好'
seen '*你好*'
is "$(rows | tail -n 2)" "012345678901234567890123456789012345678
9abcdefghij你好" "a long line is broken"
follow dm-typing --as bob --watch alice
keys Left
# Once typing is hidden, nothing but the resize wakes the program.
while users=$(line .users) && [ "$users" != '[]' ]; do :; done
leave
tmux -L "$server" resize-window -x 24
seen '*34567890123456789abcdef*'
is "$(rows | tail -n 3)" "01234567890123456789012
34567890123456789abcdef
ghij你好" "and drawn again on a narrower terminal"
text 'x'
seen '*ghij你x好*'
tmux -L "$server" resize-window -x 60
seen '*012345678901234567890123456789abcdefghij你x好*'
is "$(rows | tail -n 2 | sed s/三!//)" "
0123456789012345678901234567890123456789abcdefghij你x好" "and on a wider one, once"
keys C-l
seen '0123456789*'
is "$(printf '%s\n' "$shown" | grep -c .)" 1 "Ctrl-L clears the rest"
keys C-u C-d C-k C-d
seen '*status*'
like "$shown" "*status 0*" "Ctrl-D ends it"
closed

# The terminal afterwards.
for signal in TERM HUP INT QUIT; do
  terminal 40 "stty -g >'$work/before'; $told; stty -g >'$work/after'"
  text 'not sent'
  seen '*not sent*'
  kill -$signal "$(tree "$(tmux -L "$server" display-message -p '#{pane_pid}')" | tail -n 1)"
  seen '*status*'
  like "$shown" "*not sent
*status 1[0-9][0-9]*" "after SIG$signal, the shell goes on below the line"
  keys Enter
  is "$(now after '?*')" "$(cat "$work/before")" "and the terminal is as before"
  like "$(cat "$work/raw")" "*$esc\[[?]2004h*$esc\[[?]2004l*status*" "and does not bracket pastes"
  closed
  rm -f "$work/after"
done
begin 40 "PS1='ready ' sh -i"
seen '*ready*'
text "$typing >'$work/entered'"
keys Enter
now raw '*2004h*' >/dev/null
text 'ab你'
seen '*ab你*'
keys C-z
seen '*ab你*ready*'
like "$(cat "$work/raw")" "*$esc\[[?]2004h*$esc\[[?]2004l*ready*" "after Ctrl-Z pastes are not bracketed"
text 'fg'
keys Enter
seen '*fg*ab你*'
text 'c'
seen '*fg*ab你c*'
keys Enter
is "$(now entered '*c')" "ab你c" "after fg the line is there again"
closed

# Without escape sequences.
for kind in 'export TERM=dumb' 'unset TERM' 'export DM_PLAIN=1'; do
  terminal 40 "$kind; $told"
  text 'one 你好 '
  seen '*你好*'
  keys Left BSpace BSpace
  text x
  seen '*你x*'
  is "$(rows)" "one 你x" "after $kind, what was erased is rubbed out"
  keys C-w
  text y
  seen '*one y*'
  is "$(rows)" "one y" "by the columns of each character"
  keys Enter
  is "$(now entered '*y')" "one y" "and what is seen is what is sent"
  keys C-d
  seen '*status*'
  is "$(grep -c "$esc" "$work/raw")" 0 "without an escape sequence"
  closed
done
done_testing
