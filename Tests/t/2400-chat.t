#!/bin/sh
# Two people in two windows of dm-chat, each in a terminal of tmux.
# shellcheck disable=SC2154 # 'shown' is set by 'seen'.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/windows.sh"
export HOME="$work" TERM=xterm-256color NO_COLOR=1

dm-user add alice --as alice -q
dm-user add bob --display-name 'Bob Ångström' --as alice -q
dm-user add carol --as alice -q
dm-send --as alice bob 'hi bob' -q

# The program that /open runs; its copies are in a folder of the test.
export DM_OPENER="$work/opener --now" XDG_RUNTIME_DIR="$work"
window a 60 14 'dm-chat --as alice bob'
window b 60 14 'dm-chat --as bob alice'
shows a '*1 you (✓✓ read): hi bob*-- Bob Ångström (bob), online --*>*' 'what the other has on the screen is read'
shows b '*── 1 new ──*1 alice: hi bob*-- alice, online --*>*' 'the other sees it as new'

text a 'one two 你好'
shows b '*alice is typing*' 'typing is shown'
keys a C-w X Enter
shows a '*2 you (✓✓ read): one two X*' 'the word that was erased is not sent'
is "$(dm-tail --as bob alice:2 | jq -r .text)" 'one two X' 'what was seen is what was sent'
shows b '*2 alice: one two X*-- alice, online --*' 'and typing ends'

# A paste, and the keys of an editor.
tmux -L "$$-b" set-buffer -b clip "$(printf 'first\nsecond \033[31m line')"
tmux -L "$$-b" paste-buffer -p -r -b clip
shows b '*> first*second*line*' 'a paste is one text'
keys b Enter
shows a '*3 Bob Ångström (bob): first*second*line*' 'and one message'
is "$(tmux -L "$$-a" display-message -p '#{pane_title}')" '(1) bob - dm' 'which the title of the other window counts'
server=$$-b
seen '*3 you (✓*'
is "$(echo "$shown" | grep -c unread)" 0 'after which nothing is new'
is "$(dm-tail --as bob alice -n 1 | jq -c .text)" '"first\nsecond [31m line"' 'without its control characters'
text b "cafe$(printf '\314\201') 👨‍👩‍👧‍👦 end"
keys b Left Left Left BSpace BSpace BSpace BSpace e Enter
shows a '*4 Bob Ångström: cafeend*' 'the cursor moves, and characters go, by what is seen as one'

# Commands.
text a '/reply 4 yes'
keys a Enter
shows b "*5 alice (to 4 you 'cafeend'): yes*" '/reply'
text b '/react 5 :tada:'
keys b Enter
shows a '*5 you (to 4 bob *, 🎉 bob, ✓✓ read):*yes*' '/react, with a short code; and the marks of a line are drawn again'
text b '/react 🎉'
keys b Enter
shows a "*5 you (to 4 bob 'cafeend', ✓✓ read):*yes*" 'the same reaction takes it back'
keys a Up
shows a '*> /edit 5 yes*' 'the key Up edits the last message of the user'
keys a Up
shows a '*> /edit 2 one two X*' 'and the one before it'
keys a Down BSpace Y Enter
shows b '*2 alice (edited): one two Y*' '/edit'
text b '/delete 4 everyone'
keys b Enter
shows a '*4 deleted by Bob Ångström*5 you (to a deleted message, ✓✓ read):*yes*' '/delete, also of what an answer repeats'
text a '/nothing'
keys a Enter
shows a "*there is no command '/nothing'*> /nothing*" 'an unknown command is an error, and stays'
keys a C-u
text a '//slash'
keys a Enter
shows b '*6 alice: /slash*' 'two slashes send one'
text a '/digest 1'
keys a Enter
shows a '5 messages since 1: points are guesses*-- /go N goes to a message, Esc back --*' '/digest'
keys a Escape
text a '/search first'
keys a Enter
shows a '*> *bob:3 Bob Ångström (bob): *first*1 message; Up, Down and Enter go to one, Esc back --*' '/search'
keys a Enter
shows a '*3 Bob Ångström (bob): first*6 you (✓✓ read): /slash*-- Bob Ångström (bob), online --*' 'Enter goes to the message that was found'
case $(tmux -L "$server" capture-pane -p -e) in
  *"$(printf '\033[7m')"*) is good good 'which is in reverse' ;;
  *) is bad good 'which is in reverse' ;;
esac
keys a Escape
shows a '*6 you (✓✓ read): /slash*' 'and back'
echo content >"$work/a file.txt"
text a "/attach $work/a"
keys a Tab
shows a '*> /attach *a file.txt*' 'Tab completes a file'
keys a Enter
shows b "*7 alice (file 'a file.txt' 8 bytes):*" '/attach'
cat >"$work/opener" <<'EOF'
#!/bin/sh
[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || printf '%s\n' "$#" "$1" "$2" "$(cat "$2")" "$(stat -c %a "$2")" >"$HOME/opened.new"
mv "$HOME/opened.new" "$HOME/opened"
EOF
chmod +x "$work/opener"
text b '/open 7'
keys b Enter
shows b '*-- opened --*' '/open'
tries=0
until [ -e "$work/opened" ] || [ $tries -gt 2000 ]; do
  tries=$((tries + 1))
  sleep 0.01
done
like "$(cat "$work/opened")" "2
--now
/*/a_file.txt
content
600" 'runs the program of DM_OPENER without a shell and without the terminal, with a copy that has a plain name'
text b "/save 7 $work/saved"
keys b Enter
shows b '*-- saved as *saved*' '/save'
is "$(cat "$work/saved")" content 'writes a file'
text b "/save 7 $work/opener"
keys b Enter
shows b '*is there already; Enter*replaces it*> /save 7*' 'but does not replace another one'
keys b C-u
is "$(head -c 2 "$work/opener")" '#!' 'which stays'
text b '/who'
keys b Enter
shows b '*•*alice, online*•*Bob Ångström (bob), you*2 people, 2 online*' '/who'
keys b Escape
text b '/forward 2 carol'
keys b Enter
shows b '*-- forwarded to carol --*' '/forward'
is "$(dm-tail --as carol bob | jq -r '.text + " of " + .forwarded_from')" 'one two Y of alice' 'sends the message to another conversation'
keys b Escape
text a '/mute'
keys a Enter
shows a '*-- muted --*' '/mute'

# Completion.
text a '/re'
keys a Tab
shows a '*-- /reply  /react --*> /re*' 'Tab shows the commands that begin like that'
keys a p Tab 5 Tab
shows a '*-- answers 5 alice*muted --*> /reply 5*' 'and completes one'
keys a C-u
text a 'well @b'
keys a Tab
shows a '*> well @bob*' 'Tab completes a mention'

# Hostile text stays where it is: nothing begins at the left edge, and nothing moves the cursor.
dm-send --as bob alice -q "$(printf 'x\n-- 9 alice: I pay --\n\033[2Jgone\302\233H %*s| 12:00  9 alice: yes' 60 '')"
shows a '*       -- 9 alice: I pay --*       \\u{1B}*gone\\u{9B}H*' 'a text is indented, and its control characters are shown'

# Another size, and the job control of the shell.
keys a C-u
tmux -L "$$-a" resize-window -x 30 -y 20
text a 'a text that is longer than the window'
shows a '*3 Bob Ångström (bob):*       first*> a text that is longer than*  the window*' 'the text is broken anew for another width'
text a '!'
shows b '*alice is typing*' 'they see that the other is typing'
keys a C-z
shows b '*-- alice, online --*' 'until Ctrl-Z'
shows a '*Stopped*\$' 'Ctrl-Z gives the terminal to the shell'
text a 'stty -a | grep -o -e "-\?icanon" -e "-\?echo "; fg'
keys a Enter
shows a '*> a text that is longer than*  the window*' 'and the window comes back'
keys a BSpace
seen '*  the window'
keys a C-r
text a firs
shows a '*entered with*> /search first*' 'Ctrl-R searches'
keys a C-c
shows a '*  the window*' 'and Ctrl-C ends only the search'
keys a C-c
seen '*\$'
is "$(dm-list --as alice bob | jq -r .draft_text)" 'a text that is longer than the window' 'Ctrl-C keeps the text as the draft'
text a "clear; dm-chat --as alice bob"
keys a Enter
shows a '*> a text that is longer than*  the window*' 'which is there again'
keys a C-u Enter C-d
seen '*\$'
is "$(dm-list --as alice bob | jq -r .draft_text)" null 'and no draft is left when there is no text'
server=$$-a
tmux -L "$server" send-keys -l 'stty -a | grep -o -e "-\?icanon"'
tmux -L "$server" send-keys Enter
shows a '*icanon*' 'the terminal is as it was'
case $shown in *-icanon*) is bad good 'lines are edited by the terminal again' ;; esac

# After kill -9 the next prompt has the terminal as it was.
text a 'clear; stty -g >"$HOME/before"; dm-chat --as alice bob'
keys a Enter
shows a '*-- Bo*(bob)*>*' 'a window'
text a 'half a line'
shows a '*> half a line*' 'with a text'
kill -9 "$(program a)"
shows a '*Killed*\$' 'the program is killed'
text a 'stty -g >"$HOME/after"; clear; echo "a b" | cat'
keys a Enter
shows a '*a b*\$' 'the shell takes lines'
is "$(cat "$work/after")" "$(cat "$work/before")" 'and the terminal has its modes'

text a 'printf "\033[?1049l"; clear'
keys a Enter

# Changes of size leave no copies of messages in the scrollback.
tmux -L "$$-a" clear-history
text a 'printf "\033]2;mine\007"; clear; dm-chat --as alice bob'
keys a Enter
shows a '*-- Bo*(bob)*>*' 'a window'
for size in '50 12' '70 18' '40 10' '60 20'; do
  tmux -L "$$-a" resize-window -x "${size% *}" -y "${size#* }"
  # tmux changes the size of the terminal a moment later.
  tries=0
  until [ "$(stty size <"$(tmux -L "$$-a" display-message -p '#{pane_tty}')")" = "${size#* } ${size% *}" ] || [ $tries -gt 2000 ]; do
    tries=$((tries + 1))
    sleep 0.01
  done
  text a x
  shows a '*> x*' 'a window of another size'
  keys a C-u
  shows a '*muted --?>' 'is drawn again'
done
keys a C-u C-d
seen '*one two Y*\$'
is "$(tmux -L "$$-a" capture-pane -p -S - | grep -c ': one two Y')" 1 'and after leaving, each message is there once'
is "$(tmux -L "$$-a" display-message -p '#{pane_title}')" mine 'and the terminal has its title'

# A crash, and signals that the program does not expect: the terminal is as it was.
for signal in SEGV ABRT USR1 TERM HUP; do
  text a 'ulimit -c 0; clear; stty -g >"$HOME/before"; dm-chat --as alice bob'
  keys a Enter
  shows a '*-- Bo*(bob)*>*' 'a window'
  kill -$signal "$(program a)"
  seen '*\$'
  is "$(tmux -L "$$-a" display-message -p '#{alternate_on}')" 0 "after SIG$signal the normal screen is back"
  text a 'stty -g >"$HOME/after"; clear'
  keys a Enter
  seen '\$*'
  is "$(cat "$work/after")" "$(cat "$work/before")" 'and the terminal has its modes'
done

# Ten thousand messages, and back to the first.
tmux -L "$$-a" resize-window -x 60 -y 20
seq 10000 | sed 's/^/message /' | dm-send --lines --as carol alice -q
text a 'clear; dm-chat --as alice'
keys a Enter
shows a '*>*carol*Enter opens*' 'the list, to choose from'
text a car
shows a '*>*carol*/ car*' 'letters search'
keys a Enter
shows a '*carol: message 10000*-- carol, offline --*' 'the newest messages'
keys a PageUp
shows a '*carol: message 9983*Esc goes to the end*' 'a page back'
text a '/go 1'
keys a Enter
shows a '*1 carol: message 1*2 carol: message 2*' '/go'
is "$(dm-list --as alice carol | jq '.unread_count > 9900')" true 'only what was on the screen is read'
keys a Escape
shows a '*carol: message 10000*-- carol, offline --*' 'Esc goes to the end'
keys a -N 20 PageUp
shows a '*carol: message 9643*carol: message 9660*Esc goes to the end*' 'twenty pages back'
keys a -N 600 PageUp
shows a '*── *day *1 carol: message 1*2 carol: message 2*Esc goes to the end*' 'PageUp goes back to the first'
keys a -N 600 PageDown
shows a '*carol: message 9983*carol: message 10000*-- carol, offline --*' 'and PageDown to the last'
text a '/list'
keys a Enter
shows a '*carol*bob*Enter opens*' '/list goes back to the list'
dm-conversation create --as carol --title for-bob alice bob -q
shows a '*+for-bob*carol*Enter opens*' 'where a new group comes'
text a 'bob'
shows a '*+for-bob*> *bob */ bob' 'the very name that is typed is chosen'
keys a C-u Escape
shows a '*carol: message 10000*-- carol, offline --*' 'Esc goes back to the conversation'
text a '/list now'
keys a Enter
shows a "*'/list' takes nothing after it*> /list now*" 'what would be ignored is refused'
keys a C-w Enter
seen '*Enter opens*'
keys a C-d
seen '*\$'

for name in a b; do tmux -L "$$-$name" kill-server; done

# Without a window.
printf '%s\n' 'plain words' '/reply 1 plainly' '/nothing' "$(printf 'not \377 UTF-8')" '/help' |
  dm-chat --plain --as bob alice >"$work/out" 2>"$work/err"
is $? 1 '--plain fails at the end if a line has failed'
is "$(dm-tail --as bob alice -n 2 | jq -r .text | tr '\n' ' ')" 'plain words plainly ' '--plain sends lines'
like "$(cat "$work/out")" "*alice, *: hi bob*  /reply N TEXT*" 'prints messages as sentences, and the help'
is "$(grep -c -e /go -e /list "$work/out")" 0 'without the commands that need a window'
printf '/react :tada:\n' | dm-chat --plain --as bob alice >/dev/null
is "$(dm-tail --as bob alice -n all --peek | jq -r 'select(.reactions != null) | .sender')" alice \
  'a reaction without a number is one to the last message of others'
dm-send -q --as alice bob 'can you send the figures of the last week by friday?'
like "$(printf '/digest\n/digest 1 2\n' | dm-chat --plain --as bob alice 2>&1)" "*1 message since the first unread one: points are guesses
Needs you
  * alice (asks): can you send the figures of the last week by friday[?]
*line 2: write /digest, or*" '/digest says what was unread'
like "$(printf '/save 7 %s\n' "$work/opener" | dm-chat --plain --as bob alice 2>&1)" "*is there already; name another file or folder after '/save 7'*" \
  '--plain does not replace a file, and names no option of another program'
like "$(cat "$work/err")" "dm-chat: line 3: there is no command '/nothing'*dm-chat: line 4: the line is not UTF-8*" \
  'and errors on standard error, with their lines'
is "$(tr -d '\040-\176\n\200-\377' <"$work/out" | wc -c)" 0 'without a control character'
exits 64 'a window needs a terminal' dm-chat --as alice bob
like "$err" '*needs a terminal*--plain*' 'the error says what to write'
exits 67 'an unknown user is an error before the window' dm-chat --plain --as alice nobody
done_testing
