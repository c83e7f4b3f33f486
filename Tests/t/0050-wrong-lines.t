#!/bin/sh
# Wrong command lines: each fails, changes nothing, and says what to type next.
. "${0%/*}/lib.sh"
people
export DM_USER=alice
dm-send bob one >/dev/null && dm-send bob two >/dev/null && dm-send bob three >/dev/null
dm-conversation create -q --title ops bob carol
dm-conversation create -q --title 'team lunch' bob
dm-conversation create -q --as bob --title theirs alice
printf 'a:x:0\nb:x:1\nc:x:2\nd:x:3\ne:x:4\n' >"$work/passwd"
head -c 70000 /dev/zero | tr '\0' a >"$work/long"
printf 'a\377b' >"$work/bytes"
mkdir "$work/folder" && touch "$work/folder/file"
export work
before=$(dm-doctor dump | sed 1d)

# A line: a pattern of what is printed on standard error, two bars, and the command line.
while IFS= read -r row; do
  pattern=${row%% || *}
  call=${row#* || }
  sh -c "$call" >"$work/.out" 2>"$work/.err" </dev/null
  status=$?
  err=$(cat "$work/.err")
  case $status in
    0 | 70 | 12? | 13?) _fail "$call" "status $status: $err" ;;
    *) like "$err" "$pattern" "$call" ;;
  esac
done <<'END'
*'delete' deletes it for you, and with --for-everyone for all || dm-edit undo bob:1
*did you mean 'react --remove'?* || dm-edit unreact bob:1
*did you mean '--json'?* || dm-tail bob --format json
*did you mean 'create'?* || dm-conversation new ops
*dm-list lists conversations* || dm-conversation list
*use at(1) or cron(8)* || dm-send bob --at 08:00 hi
*'x' is not a range of messages; write 57, 40..57* || dm-read bob 3 4 x
*a quotation mark has no end; write another* || dm-search '"unclosed'
*users cannot be removed; 'dm-user block USER'* || dm-user remove bob
*users cannot be removed; 'dm-user block USER'* || dm-user delete bob
*'dm-user set --display-name NAME' changes* || dm-user rename bob bobby
*did you mean 'send'?* || dm help sned
*did you mean 'send'?* || dm sned bob hi
*line 1: not JSON*no line is JSON so far;*5 malformed_line || dm-import "$work/passwd"
*no conversation or message *; dm-list names yours || dm-tail 01a20f7d-9b16-7174-a30a-d56106db14cc
*/folder' is not a store || dm-send --store "$work/folder" bob hi
*the text is blank; write something || dm-send bob ' '
*the text is blank; write something || dm-edit text bob:1 '	'
*the text is empty; write something || dm-send bob ''
*did you mean '--color never'?* || dm-list --no-color
*use auto, always or never || dm-list --color sometimes
*use auto, always or never || dm-list --color sometimes --json
*use dm-search, or pipe the lines into grep(1) || dm-tail bob --grep x
*pipe the lines into tac(1) || dm-tail bob --reverse
*pipe the lines into jq(1) or sort(1) || dm-list --sort name
*write --to +ops, or put the text in quotes || dm-send +ops --to bob hello
*with these members; write the id of one*; there is *(alice, bob;* || dm-conversation create --title theirs bob --if-absent
*split it, or have --overflow attach or truncate it || dm-send bob <"$work/long"
*convert it with iconv, or have --lossy replace these bytes || dm-send bob <"$work/bytes"
*convert it with iconv, or have --lossy replace these bytes || dm-send bob "$(cat "$work/bytes")"
*did you mean '+team lunch'?* || dm-tail lunch
*did you mean '+team lunch'?* || dm-send 'team lunch' hi
*add them with 'dm-user add zoe'* || dm-list --as zoe
*add them with 'dm-user add nobody'* || dm-send nobody hi
*did you mean 'bob'?* || dm-send @bbo hi
*did you mean '--attach'?* || dm-send bob --file photo.jpg hi
*a message has no subject; write it in the text || dm-send bob --subject lunch hi
*did you mean '--to'?* || dm-send bob --cc carol hi
*nothing asks before it acts; leave it out || dm-send bob hi --yes
*did you mean '--reply-to'?* || dm-send bob --reply 3 ok
*the conversation has 3 || dm-send bob --reply-to 99 ok
*write a number, bob:57, bob:-1 for the last, or a UUID || dm-send bob --reply-to x ok
*give 10s, 5m or 1h || dm-send bob --expires-in tomorrow hi
*did you mean '+ops'?* || dm-send bob --forward ops:1
*needs a conversation; see --help || dm-send --lines
*needs a value: CONVERSATION || dm-send --to
*dm-list names yours || dm-send +nogroup hi
*use attach, truncate or error || dm-send bob --overflow split hi
*'--once' needs --nonce NONCE || dm-send bob --once hi
*write dm-tail bob 3..5 || dm-tail bob 3-5
*numbered from 1; -1 is the last one || dm-tail bob 0
*runs backwards; write 3..5 || dm-tail bob 5..3
*give one, or 'all' || dm-tail bob -n ten
*write 2026-11-21, 14:30, 2h, 7d, yesterday or * || dm-tail bob --since yesterdy
*did you mean '--before'?* || dm-tail bob --until 10:00
*did you mean '--limit'?* || dm-tail bob --last 5
*take one from a line of dm-tail -f || dm-tail bob --cursor 5
*write a range, --up-to MESSAGE, --since WHEN, --before WHEN or --all || dm-read bob
*write 57, 40..57, 40.. or ..57 || dm-read bob all
*name a conversation, or add --everywhere || dm-read --all
*write words, or one of --in, --from, --since, --before, --has and --file || dm-search
*use link, attachment, image, video, audio, voice, file or mention || dm-search --has pictures
*upper and lower case are the same; leave it out || dm-search -i lunch
*into grep -E || dm-search --regex 'a.*b'
*one of: text, delete, react, report* || dm-edit
*usage: dm-edit react EMOJI MESSAGE... || dm-edit react bob:1
*did you mean ':smile:'?* || dm-edit react :smyle: bob:1
*write --for-everyone to delete a message for everyone || dm-edit delete --everyone bob:1
*write: dm-send CONVERSATION --forward MESSAGE || dm-edit forward bob:1 carol
*create a group for that || dm-conversation add bob carol
*usage: dm-conversation add CONVERSATION USER... || dm-conversation add +ops
*write: dm-conversation remove CONVERSATION USER || dm-conversation kick +ops carol
*write --for 8h || dm-conversation mute bob 8h
*usage: dm-conversation expire CONVERSATION TIME|off || dm-conversation expire bob
*give 10s, 5m or 1h, or 'off' for no end || dm-conversation expire bob never
*name another user || dm-user block alice
*it is empty; write one || dm-conversation create --title '' bob
*or leave it out || dm-send bob --nonce '' hi
*an action comes before the message, as in 'dm-edit text bob:1 new'; one of: text,* || dm-edit bob:1 new
*an action comes before the message; one of: text,* || dm-edit bob:1
*unknown option '-x'; the letters are -n, -f, *; see --help || dm-list -x
*did you mean 'list'?* || dm inbx
*this path begins in '*' || cd "$work" && dm-attach nofile.png
*'picture.png' is not a URL; for a file, write dm-conversation picture +ops picture.png || dm-conversation avatar +ops picture.png
*'0s' is too short; the shortest time is 1s || dm-send bob --expires-in 0s hi
*'x'*a range of messages is written 57, 40..57, 40.. or ..57* || dm-tail bob x
*--db DATABASE names the database of the hub || env PGHOST=/nowhere dm-hub invite bob
*send yours as a message of its own || dm-send bob --forward 1 hi
*dm-tail prints messages, dm-chat opens a window || dm-conversation open bob
*a member can add you* || dm-conversation join +ops
*write: dm-user block USER || dm-conversation block bob
*did you mean '--title'?* || dm-conversation create --name ops bob
*did you mean 'add'?* || dm-user ad dave
*it has white space in it || dm-user add 'dave smith'
*is taken; choose another || dm-user add alice
*did you mean '--display-name'?* || dm-user add dave --name Dave
*use --as USER, or set DM_USER || dm-user login bob
*write --display-name NAME, or another option of --help || dm-user set
*usage: dm-user set || dm-user set bob --bio x
*usage: dm-attach \[OPTION\]... FILE... || dm-attach
*pack it with tar, and attach the archive || dm-attach "$work/folder"
*'dm-attach --list' names what is there || dm-attach --get bob:1
*usage: dm-typing CONVERSATION --on * || dm-typing
*'purge' removes what is old, for good || dm-doctor gc
*upgrades the store; see dm-store(5) || dm-doctor migrate
*usage: dm-doctor backup FILE || dm-doctor backup
*name another --store to restore into || dm-doctor restore "$work/passwd"
*'dm-sync' alone synchronizes, -f keeps on || dm-sync push
*'dm-sync join' links a new one* || dm-sync
*join with a new store; name another --store || dm-sync join
*reads lines from standard input || dm-preview x
*write 'dm-chat --plain', or use dm-tail and dm-send* || dm-chat bob
*see 'dm tour' || dm init
*these are actions of 'dm doctor' || dm backup
*'dm send bob --reply-to 3 yes' || dm --store x send bob hi
*write 0s, 30s or 5m || dm-list --busy-timeout soon
*write terminal, light, dark or mono, or leave it out || DM_THEME=pink dm-list --text
*write on, off or wait, or leave it out || DM_SYNC=never dm-list
*write 0, 2s or 1m || DM_FRESH=now dm-list
*write on or off, or leave it out || DM_UPGRADE_COPY=2 dm-list
END

is "$(dm-doctor dump | sed 1d)" "$before" "none of them changed anything"

done_testing
