#!/bin/sh
# 'dm tour' on a terminal: Enter plays each command, and the last one is a window.
# shellcheck disable=SC2154 # 'shown' is set by 'seen'.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/windows.sh"
export HOME="$work" TERM=xterm-256color NO_COLOR=1

window tour 60 300 'dm tour --store "$DM_STORE"'
shows tour '*Enter plays the next command*$ dm-user add alice' 'the first command waits for Enter'
is "$(dm-user list --as alice 2>/dev/null | wc -l)" 0 'and has not run'
tmux -L "$server" pipe-pane -O "cat >'$work/played'"
tmux -L "$server" send-keys -N 60 Enter
shows tour '*lunch?*disks.txt*--*>*' 'the last command opens a window of dm-chat'
tr -d '\r' <"$work/played" >"$work/lines-of-tour"
# The keys were pressed ahead, so that no line feed is after a command.
is "$(grep -c '^\$ dm-list --as bob' "$work/lines-of-tour")" 4 'the commands are shown as you would type them'
is "$(grep -c -- '^\$ .* --text' "$work/lines-of-tour")" 0 'without an option that a terminal does not need'
[ "$(grep -c '^# ' "$work/lines-of-tour")" -ge 10 ]
is $? 0 'there are comments'
is "$(grep '^# ' "$work/lines-of-tour" | grep -vcE '^.{1,60}$')" 0 'which are wrapped at the width of the terminal'
text tour 'here I am'
keys tour Enter C-d
shows tour '*That was the tour*export DM_STORE=*' 'after the window, the tour says how to go on'
is "$(dm-tail --as bob alice -n 1 | jq -r .text)" 'here I am' 'what was written in the window is sent'
tmux -L "$server" kill-server
done_testing
