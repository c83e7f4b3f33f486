# Programs in terminals of tmux, for scripts that have read lib.sh.
# shellcheck shell=sh disable=SC2154 # 'shown' is set by 'seen'.

# window NAME WIDTH HEIGHT COMMAND: a terminal with a shell that has begun the command.
window() {
  tmux -L "$$-$1" -f /dev/null new-session -d -x "$2" -y "$3" "PS1='$ ' HISTFILE= exec bash --norc"
  server=$$-$1
  seen '*\$*'
  tmux -L "$server" send-keys -l "$4"
  tmux -L "$server" send-keys Enter
}

# keys NAME KEY...: presses keys, as tmux(1) names them.
keys() {
  server=$$-$1
  shift
  tmux -L "$server" send-keys "$@"
}

# text NAME TEXT: types it.
text() {
  server=$$-$1
  tmux -L "$server" send-keys -l "$2"
}

# shows NAME PATTERN TEXT: the window of that name comes to show it.
shows() {
  server=$$-$1
  seen "$2"
  like "$shown" "$2" "$3"
}

# row NAME: the row of its cursor, up to the cursor.
row() {
  place=$(tmux -L "$$-$1" display-message -p '#{cursor_x} #{cursor_y}')
  tmux -L "$$-$1" capture-pane -p -S "${place#* }" -E "${place#* }"
  echo "${place% *}"
}

# program NAME: the process that its shell has started.
program() {
  pgrep -P "$(tmux -L "$$-$1" display-message -p '#{pane_pid}')"
}
