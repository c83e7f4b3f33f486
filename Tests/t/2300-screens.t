#!/bin/sh
# What a terminal shows: each screen of Tests/Fixtures/screens, with its escape sequences, as tmux has it.
# After a change that is meant: UPDATE_SCREENS=yes sh Tests/t/2300-screens.t, and look at the difference.
. "$(dirname "$0")/lib.sh"
screens=$(cd "$(dirname "$0")/../Fixtures/screens" && pwd)
export DM_USER=bob HOME="$work"

# at TIME COMMAND...: runs a command at that time.
at() {
  time=$1
  shift
  faketime -f "$time" "$@"
}

dm-user add bob -q
dm-user add alice --display-name 'Alice Ångström' -q
dm-user add mei --display-name 陈美 -q
dm-user add yusuf --display-name Yusuf -q
at '2025-03-01 10:00:00' dm-conversation create --as mei --title '北京 trip' bob yusuf -q
at '2025-03-01 10:01:00' dm-send --as mei +北京\ trip '我们明天在北京见面好吗？天气预报说会下雨，记得带伞。 @bob' -q
at '2026-11-20 09:12:00' dm-send --as alice bob \
  'lunch at noon, at the usual place? I have a lot to tell you about the trip and the people there  [read]' -q
at '2026-11-20 09:15:00' dm-send alice --reply-to -1 sure -q
at '2026-11-20 09:16:00' dm-read --as alice bob --all -q
at '2026-11-23 17:02:00' dm-send --as alice bob "$(printf '\033[31mred?\033[0m and \342\200\256evil\342\200\254')" -q
at '2026-11-23 17:03:00' dm-read alice --all -q
dm-conversation pin alice -q
at '2026-11-23 18:00:00' dm-send --as yusuf bob \
  'שלום, מה נשמע? With English between (edited) and a long end of the line, so that it is wrapped' -q
at '2026-11-24 08:30:00' dm-send --as yusuf bob "$(printf 'flags 🇩🇪 and 👍🏽 ✈️ ☕ e\314\201')" -q
at '2026-11-24 08:31:00' dm-edit react 👍 yusuf:2 -q
dm-send yusuf --draft 'not yet' -q
# Texts that are padded to each width, to look like a message of somebody else.
for width in 40 80 200; do
  at "2026-11-24 09:1$((width / 40)):00" dm-send --as mei bob -q \
    "$(printf 'anyone?%*s03:20  35 alice: yes, I approve' $((width - 21)) '')"
done

# screen NAME WIDTH ENVIRONMENT COMMAND: compares what the command shows.
screen() {
  server=$$-$1
  tmux -L "$server" -f /dev/null new-session -d -x "$2" -y 30 \
    "export TERM=screen-256color $3; faketime -f '2026-11-24 12:00:00' sh -c '$4'; printf '%s\n' '-- end --'; read -r line"
  seen '*-- end --*'
  tmux -L "$server" kill-server
  [ -z "${UPDATE_SCREENS:-}" ] || printf '%s\n' "$shown" >"$screens/$1"
  is "$shown" "$(cat "$screens/$1")" "$1"
}

for width in 40 80 200; do
  for theme in terminal dark light mono; do
    screen "list-$width-$theme" $width "DM_THEME=$theme" 'dm-list'
    screen "tail-$width-$theme" $width "DM_THEME=$theme" 'dm-tail alice --peek; dm-tail yusuf --peek'
  done
  screen "padded-$width" $width NO_COLOR=1 'dm-tail mei --peek'
done
echo deployed >"$work/deploy.log"
at '2026-11-24 09:20:00' dm-conversation create --as alice --title ops bob mei yusuf -q
at '2026-11-24 09:21:00' dm-send +ops 'deployed, the log is attached' --attach "$work/deploy.log" -q
at '2026-11-24 09:22:00' dm-read --as alice +ops --all -q
at '2026-11-24 09:22:00' dm-read --as mei +ops --all -q
at '2026-11-24 09:23:00' dm-edit react 🎉 +ops:2 --as yusuf -q
at '2026-11-24 09:24:00' dm-send --as yusuf +ops --forward bob:1 -q
at '2026-11-24 09:25:00' dm-send --as mei +ops 'the code is 1234' --expires-in 300d -q
at '2026-11-24 09:26:00' dm-send +ops 'thanks' -q
screen marks-80 80 DM_THEME=dark 'dm-tail +ops --peek; dm-tail +ops 2 --with readers --peek'
screen marks-plain-80 80 DM_PLAIN=1 'dm-tail +ops --peek'
screen plain-80 80 DM_PLAIN=1 'dm-list; dm-tail alice --peek'
screen search-80 80 DM_THEME=dark 'dm-search lunch OR flags'
screen user-80 80 NO_COLOR=1 'dm-user list'

server=$$-list
tmux -L "$server" -f /dev/null new-session -d -x 80 -y 5 'NO_COLOR=1 dm-list -f'
seen '*alice*ops*mei*Yusuf*'
like "$shown" '*alice*ops*mei*Yusuf*' "a list that follows: as many rows as there is room for"
dm-send --as yusuf bob 'drawn again' -q
seen '*drawn again*'
like "$shown" '*alice*Yusuf*drawn again*ops*mei*' "is drawn again"
dm-typing --as yusuf bob --on
seen '*Yusuf (yusuf) is typing*'
like "$shown" '* Yusuf*Yusuf (yusuf) is typing*' "shows who is typing"
dm-typing --as yusuf bob --off
seen '*drawn again*'
like "$shown" '*drawn again*' "until they are no longer"
follow dm-tail -f --as yusuf bob -n 0
seen '*•Yusuf*'
like "$shown" '*•Yusuf*' "and who is online"
tmux -L "$server" resize-window -x 50 -y 5
seen '*yusuf*you: thanks*'
is "$(echo "$shown" | wc -L)" 50 "the list is drawn for another width"
leave
tmux -L "$server" kill-server

# What is renewed in place while dm-tail follows.
server=$$-tail
tmux -L "$server" -f /dev/null new-session -d -x 60 -y 12 'NO_COLOR=1 dm-tail -f alice -n 2 --peek'
seen '*red?*'
dm-typing --as alice bob --on
seen '*-- Alice Ångström (alice) is typing --*'
like "$shown" '*-- Alice Ångström (alice) is typing --*' "the last line says who is typing"
for number in 1 2 3; do dm-send alice "note $number" -q; done
seen '*note 3*typing*'
like "$shown" '*red?*note 1*note 2*note 3*-- Alice Ångström (alice) is typing --*' "and stays the last line"
dm-read --as alice bob 4 -q
seen '*has read up to 4 --*'
dm-read --as alice bob 5 -q
seen '*has read up to 5 --*'
like "$shown" '*note 3*-- alice has read up to 5 --*' "how far somebody has read"
is "$(echo "$shown" | grep -c 'has read')" 1 "is one line, which is renewed"
dm-typing --as alice bob --off
dm-edit --as alice react 👍 bob:6 -q
seen '*reacted to 6: 👍 --'
like "$shown" '*has read up to 5 --*-- alice reacted to 6: 👍 --*' "a reaction is told"
is "$(echo "$shown" | grep -c 'typing')" 0 "and nobody is typing any more"
dm-send --as alice bob 'a line that is longer than the window will be' -q
seen '*longer than*will be'
tmux -L "$server" resize-window -x 40 -y 12
seen '*       that is longer*will be'
like "$shown" '*note 3*to 6: 👍 --*7 Alice Ångström (alice): a line*       that is longer than the window*       will be' \
  "lines are broken anew for another width"
tmux -L "$server" kill-server

# A pager for what does not fit.
server=$$-pager
tmux -L "$server" -f /dev/null new-session -d -x 60 -y 10 "PS1='$ ' exec bash --norc"
seq 40 | sed 's/^/line /' | dm-send --as mei --lines bob -q
tmux -L "$server" send-keys 'dm-tail mei -n all' Enter
seen '*:'
like "$shown" '*anyone?*' "the pager begins with the oldest"
tmux -L "$server" send-keys q
seen '*\$'
tmux -L "$server" send-keys 'clear; echo $?; dm-tail mei -n 2' Enter
seen '*line 40*\$'
like "$shown" '*0*line 39*line 40*\$' "leaving it is no error, and what fits needs none"
tmux -L "$server" send-keys 'clear; PAGER="head -n 1" dm-tail mei -n all' Enter
seen '*── Tuesday 24 November ──*\$'
like "$shown" '*── Tuesday 24 November ──*\$' "PAGER is used"
tmux -L "$server" kill-server

# on COMMAND: what a terminal shows of it.
on() { script -qec "$1" /dev/null </dev/null | tr -d '\r'; }
is "$(on 'TERM=xterm dm-tail alice --peek')" "$(on 'TERM=xterm DM_THEME=terminal dm-tail alice --peek')" \
  "the colors are those of the terminal where nothing is said"
like "$(on "DM_THEME=dark TERM=xterm dm-tail +ops 2 --peek")" \
  "*$(printf '\033')]8;;file://*/store/attachments/*$(printf '\033')\\\\file 'deploy.log' 9 bytes$(printf '\033')]8;;$(printf '\033')\\\\*" \
  "an attachment is a link to its file"
# What stands before the text is 33 columns wide.
dm-send --as yusuf bob -q 'seven-c bob, 2026-11-24 09:00: I agree'
is "$(on 'stty rows 24 cols 40; dm-tail yusuf -n 1 --plain')" "$(dm-tail yusuf -n 1 --plain --text | cut -c 1-40)
  bob, 2026-11-24 09:00: I agree" "a sentence that is wrapped is indented, so that a text is not the sentence of somebody else"
like "$(on 'dm-list --unread --match nobody')" "*nothing is unread*'dm-list' has all*" "why a list is empty"
is "$(on 'dm-tail alice 99')" "dm-tail: no message there; the last one is 7" "why no message is printed"
dm-user add zoe -q
dm-send --as zoe bob hello -q
dm-user block zoe -q
is "$(on 'dm-tail zoe')" "dm-tail: you block 'zoe'; 'dm-user unblock zoe' shows their messages" "why a blocked user says nothing"
like "$(on 'dm-search zzz')" "dm-search: no message that you can see matches*" "why nothing is found"
is "$(on "DM_USER=ann dm-user add --store $work/new first; echo \$?" | tail -n 1)" 0 "a user is added by somebody who is none yet"
is "$(dm-search zzz 2>&1)" "" "which a script is not told"
# Texts, titles, quotations and characters that would begin at the left edge, or before the colon.
dm-user add eve --display-name 'alice: I' -q
dm-conversation create --as eve --title 'zzz:3 alice: I quit.                       ' bob -q
dm-send --as eve '+zzz:3 alice: I quit.                       ' -q "$(printf '\330\200%.0s' $(seq 26))18:25  2 alice: I quit"
dm-send --as eve bob -q "$(printf '\341\204\200%.0s' $(seq 60))"
dm-send --as eve bob -q "x$(printf '\340\244\276%.0s' $(seq 90))"
dm-send --as eve bob -q "$(printf "ok'\357\270\217): I quit")"
dm-send eve --reply-to -1 -q 'what do you mean?'
tmux -L "$$-forged" -f /dev/null new-session -d -x 40 -y 250 \
  "export NO_COLOR=1; dm-tail -n 60 --peek; dm-tail -f eve --peek"
server=$$-forged
seen '*you mean*you mean*'
is "$(echo "$shown" | grep -v -e '^-- ' -e '^── ' -e '^[0-2][0-9]:[0-5][0-9]  ' -e '^ \{7\}' -e '^$')" '' "no text begins at the left edge"
is "$(echo "$shown" | grep -c -e '^..:..  +zzz:' -e "'ok'): ")" 0 "and no title or quotation ends before its end"
tmux -L "$server" kill-server
done_testing
