#!/bin/sh
# 'dm tour' on a terminal: Enter plays each command, and the last one is a window.
# shellcheck disable=SC2154 # 'shown' is set by 'seen'.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/windows.sh"
export HOME="$work" TERM=xterm-256color NO_COLOR=1

window tour 60 300 'dm tour --store "$DM_STORE"'
shows tour '*Enter plays the next command*$ dm-user add alice' 'the first command waits for Enter'
is "$(dm-user list --as alice | wc -l)" 0 'and has not run'
tmux -L "$server" send-keys -N 60 Enter
shows tour '*dm-chat --as alice bob*disks.txt*> *' 'the last command opens a window of dm-chat'
is "$(echo "$shown" | grep -c -- '^\$ .* --text')" 0 'no command has an option that a terminal does not need'
is "$(echo "$shown" | grep '^#' | grep -vcE '^#.{0,58}$')" 0 'the comments are wrapped at the width of the terminal'
text tour 'here I am'
keys tour Enter C-d
shows tour '*That was the tour*export DM_STORE=*' 'after the window, the tour says how to go on'
is "$(dm-tail --as bob alice -n 1 | jq -r .text)" 'here I am' 'what was written in the window is sent'
tmux -L "$server" kill-server
done_testing
