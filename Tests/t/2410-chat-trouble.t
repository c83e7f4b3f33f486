#!/bin/sh
# dm-chat where something is in the way: gaps, other windows, small terminals, and a store that cannot be written to.
# shellcheck disable=SC2154 # 'shown' is set by 'seen'.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/windows.sh"
export HOME="$work" TERM=xterm-256color NO_COLOR=1

for user in alice bob carol; do dm-user add "$user" --as alice -q; done
dm-send --as carol alice hello -q
seq 900 | sed 's/^/message /' | dm-send --lines --as bob alice -q
dm-edit delete --as alice bob 101..800 -q

# once NAME TEXT: sends characters in one write, as somebody does who types ahead.
once() {
  tmux -L "$$-$1" set-buffer -b typed "$2"
  tmux -L "$$-$1" paste-buffer -r -b typed
}
enter=$(printf '\r')

# The pages of a conversation with a gap.
window a 60 14 'dm-chat --as alice bob'
shows a '*bob: message 900*-- bob, offline --*' 'the newest messages'
text a '/go 100'
keys a Enter
shows a '*100 bob: message 100*801 bob: message 801*Esc goes to the end*' '/go shows what follows a long gap'
keys a PageDown
shows a '*806 bob: message 806*817 bob: message 817*Esc*' 'PageDown goes on'
keys a PageUp
shows a '*100 bob: message 100*801 bob: message 801*-- bob*' 'and PageUp goes back'
text a '/go 400'
keys a Enter
shows a '*100 bob: message 100*801 bob: message 801*-- bob, offline, Esc*' '/go to a message that is not there shows those around it'
text a '/go -20'
keys a Enter
shows a '*881 bob: message 881*-- bob, offline, Esc*' 'a negative number counts from the end'
text a '/go 9223372036854775807'
keys a Enter
shows a "*there is no message '9223372036854775807'*> /go 9223372036854775807*" 'a number that is too large is an error'
like "$shown" '*conversation has 900*' 'which is shown whole'
keys a C-u Escape
shows a '*bob: message 900*-- bob, offline --*' 'Esc goes to the end'
seq 1300 | sed 's/^/later /' | dm-send --lines --as bob alice -q
shows a '*bob: later 1300*-- bob, offline --*' 'many messages come'
text a '/go 1100'
keys a Enter
keys a -N 300 PageUp
shows a '*── *day *1 bob: message 1*2 bob: message 2*Esc goes to the end*' 'PageUp goes back to the first'
keys a -N 300 PageDown
shows a '*bob: later 1300*-- bob, offline --*' 'and PageDown to the last'

# Keys that come in one write, as over a slow line, and a folder that cannot be read.
once a "$(printf '\033/go 1')"
shows a '*> /go 1*' 'Esc and a slash at once keep the slash'
keys a C-u
dm-send --as alice bob 'my own' -q
shows a '*my own*' 'a message of the user'
keys a Up
shows a '*> /edit 2201 my own*' 'Up offers an edit'
keys a Escape
once a '/mute'
shows a '*> /mute*' 'and Esc takes it off the line'
keys a C-u
once a "$(printf '/attach /etc/passwd/\t')"
shows a "*cannot read the folder '/etc/passwd/'*> /attach /etc/passwd/*" 'Tab in a folder that cannot be read is an error'
keys a C-u Escape
shows a '*bob: later 1300*-- bob, offline --*' 'and the window stays'

# Help that is longer than the window.
text a '/help'
keys a Enter
shows a '*/reply N TEXT*-- *PageDown shows more*' 'the beginning of the help'
keys a -N 5 PageDown
shows a '*Ctrl-C*Esc goes back*' 'and PageDown shows its end'
keys a Escape
shows a '*bob: later 1300*-- bob, offline --*' 'Esc goes back'
text a '/search'
keys a Enter
shows a '*write /search and the words*> /search*' '/search without words is an error'
keys a C-u
tmux -L "$$-a" resize-window -x 40 -y 2
text a '/go 1'
keys a Enter
shows a '-- bob, offline, Esc goes to the end --?>' 'a terminal of two rows shows the state and the line'
tmux -L "$$-a" resize-window -x 60 -y 14

# The list.
text a '/list'
keys a Enter
shows a '*bob*> *carol*Enter opens*' 'the list, in which another conversation is chosen'
once a "carol$enter"
shows a '*carol: hello*-- carol, offline --*' 'a name that is typed with Enter at once opens that conversation'
text a '/list'
keys a Enter
shows a '*>*bob*Enter opens*' 'the list'
once a "carol${enter}typed on"
shows a '*-- carol, offline --*> typed on*' 'what is typed after the name comes into that conversation'
keys a C-u
once a "/list${enter}nobody$enter"
shows a "*there is no user 'nobody'*/ nobody*" 'an unknown name is an error, and stays'
keys a C-u Down
shows a '*bob*>*carol*/*' 'Down chooses'
dm-send --as bob alice 'one more' -q
shows a '*bob *one more*>*carol*/*' 'the chosen conversation stays chosen'
dm-send --as carol alice 'on top' -q
shows a '*>*carol *on top*bob *one more*/*' 'also where it goes to the top'
keys a C-d
seen '*\$'

# The draft of another window.
text a 'clear; dm-chat --as alice carol'
keys a Enter
shows a '*carol: on top*-- carol, offline --*' 'a window'
window b 60 14 'dm-chat --as alice carol'
shows b '*carol: on top*-- carol, offline --*' 'another one of the same user'
text b 'half a line'
shows b '*> half a line*' 'in which they write'
keys b C-c
seen '*\$'
is "$(dm-list --as alice carol | jq -r .draft_text)" 'half a line' 'it keeps the draft'
text a 'sent from here'
keys a Enter
shows a '*you (*): sent from here*' 'the first one sends'
keys a C-d
seen '*\$'
is "$(dm-list --as alice carol | jq -r .draft_text)" 'half a line' 'which does not remove the draft of the other'

# A former member, and a user who is blocked.
dm-conversation create --as bob --title ops alice carol -q
dm-send --as bob +ops 'for members' -q
text a 'clear; dm-chat --as alice +ops'
keys a Enter
shows a '*bob: for members*-- +ops --*' 'a group'
text a 'too late'
dm-conversation remove --as bob +ops alice -q
shows a '*bob removed you*> too late*' 'from which the user is removed'
keys a Enter
shows a "*can only*read*> too late*" 'they cannot send'
keys a C-c
shows a '*bob removed you*> too late*dm-chat: *can on*\$' 'a text that cannot be a draft is printed'
text a 'clear; dm-chat --as alice +ops'
keys a Enter
shows a '*bob: for members*bob removed you*-- +ops --*' 'a former member reads'
keys a C-d
seen '*\$'
dm-user block --as alice carol -q
text a 'clear; dm-chat --as alice carol'
keys a Enter
shows a '*you (*): sent from here*-- carol, blocked by you --*> half a line*' 'so does a user who blocks the other'
dm-user unblock --as alice carol -q
dm-send --as carol alice 'heard again' -q
shows a '*you (*): sent from here*carol: heard again*-- carol --*' 'until the next message after that'
keys a C-u C-d
seen '*\$'

# What is typed while the program does not read: Ctrl-C comes after it. The shell must not see that the program is stopped.
text a "clear; sh -c 'dm-chat --as alice carol; :'"
keys a Enter
shows a '*carol: heard again*-- carol, offline --*' 'a window'
held=$(pgrep -P "$(program a)")
kill -STOP "$held"
text a 'typed ahead'
keys a C-c
kill -CONT "$held"
seen '*\$'
is "$(dm-list --as alice carol | jq -r .draft_text)" 'typed ahead' 'what was typed before Ctrl-C is in the draft'

# The draft that another window has changed.
text a 'clear; dm-chat --as alice carol'
keys a Enter
shows a '*> typed ahead*' 'a window with a draft'
dm-send --as alice --draft carol 'changed elsewhere' -q
keys a C-c
seen '*\$'
is "$(dm-list --as alice carol | jq -r .draft_text)" 'changed elsewhere' 'it does not save the draft that it did not change'

# Two windows with drafts of their own, and a chosen conversation that goes from the list.
text a 'clear; dm-chat --as alice carol'
keys a Enter
shows a '*> changed elsewhere*' 'a window with a draft'
text a ' and here'
shows a '*> changed elsewhere and here*' 'which the user goes on with'
dm-send --as alice --draft carol 'from the other' -q
keys a C-c
seen '*\$'
is "$(dm-list --as alice carol | jq -c .draft_text)" '"from the other\nchanged elsewhere and here"' 'keeps both drafts'
for name in bob carol +ops; do dm-read --as alice "$name" --all -q; done
text a 'clear; dm-chat --as alice'
keys a Enter
shows a '*>*Enter opens*' 'the list'
keys a Down
shows a '*>*Enter opens*' 'of which one is chosen'
chosen=$(dm-list --as alice | jq -r .id | sed -n 2p)
dm-conversation archive --as alice "$chosen" -q
dm-send --as bob alice 'after that' -q
shows a '*after that*Enter opens*' 'which goes from the list'
keys a Enter
text a zz
shows a '*/ zz*' 'and Enter opens none'
dm-conversation unarchive --as alice "$chosen" -q
keys a C-u C-d
seen '*\$'

# A group whose title goes to another one.
dm-conversation create --as bob --title plans alice -q
text a 'clear; dm-chat --plain --as alice +plans'
keys a Enter
shows a '*type a message*' 'a group, line by line'
dm-conversation title --as bob +plans old -q
dm-conversation create --as bob --title plans alice -q
text a 'for the first'
keys a Enter
shows a '*for the first*' 'a line that was sent'
text a '/edit 1 x'
keys a Enter
shows a "*the message '+plans:1' is an announcement*" 'an error has the name under which it was opened'
keys a C-d
seen '*\$'
is "$(dm-tail --as bob +old | jq -r .text | tail -n 1)" 'for the first' 'it stays in the group that was opened'

# A store that cannot be written to, here because its lock cannot be opened.
dm-send --as bob carol 'unread as yet' -q
mv "$DM_STORE/store.lock" "$work/lock"
mkdir "$DM_STORE/store.lock"
text a 'clear; dm-chat --as carol bob'
keys a Enter
shows a '*bob: unread as yet*-- bob*' 'a store that cannot be written to can be read'
once a "not now${enter}and then$enter"
shows a '*bob: unread as yet*-- cannot open *store.lock*> not now?  and then*' 'what is sent stays in the line, and what was typed ahead below it'
rmdir "$DM_STORE/store.lock"
mv "$work/lock" "$DM_STORE/store.lock"
keys a Enter
shows a '*bob: unread as yet*you (*): not now?*and then*-- bob*' 'and is sent when it can be'
keys a C-d
seen '*\$*'

# A store that goes away.
text a 'clear; dm-chat --as alice bob'
keys a Enter
shows a '*bob: one more*-- bob, offline --*' 'a window'
text a 'not to be lost'
shows a '*> not to be lost*' 'with a text'
mv "$DM_STORE" "$DM_STORE.away"
shows a '*bob: one more*> not to be lost*dm-chat: the store at * was removed*\$' 'the text is printed when the store is removed'

for name in a b; do tmux -L "$$-$name" kill-server; done
done_testing
