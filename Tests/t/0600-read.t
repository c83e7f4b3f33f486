#!/bin/sh
# Marking: what, how far, for whom, and what is said of it.
. "$(dirname "$0")/lib.sh"
people
seq 1 20 | dm-send -q --as alice --lines bob
seq 1 3 | dm-send -q --as carol --lines bob
export DM_USER=bob
unread() { dm-tail alice --unread --peek | jq -r .seq | tr '\n' ' '; }

is "$(dm-read alice 3..5 9 | jq -c '[.type, .action, .is_dry_run, .conversation_title, .ranges, .marked_count, .unread_count]')" \
  '["marked","read",false,"alice",[[3,5],[9,9]],4,16]' "ranges, exactly"
is "$(unread)" "1 2 6 7 8 10 11 12 13 14 15 16 17 18 19 20 " "and nothing between them"
exits 0 "the same again" dm-read alice 3..5 9
is "$out$err" "" "prints nothing, so that cron mails nothing"
is "$(dm-read alice --up-to 6 --dry-run | jq -c '[.action, .is_dry_run, .ranges, .marked_count, .unread_count]')" \
  '["read",true,[[1,2],[6,6]],3,13]' "a dry run"
is "$(unread | wc -w)" 16 "changes nothing"
is "$(dm-read alice --up-to 6 | jq -c '[.ranges, .unread_count]')" '[[[1,2],[6,6]],13]' "up to a message"
is "$(dm-read alice --up-to -13 | jq -c .ranges)" "[[7,8]]" "also from the end"
time=$(dm-tail alice 12 --peek | jq -r .created_at)
is "$(dm-read alice --before "$time" | jq .unread_count)" 9 "before a time"
is "$(unread)" "12 13 14 15 16 17 18 19 20 " "which is not included"
is "$(dm-read --everywhere --before 7d)" "" "nothing is older than a week"
is "$(dm-read alice:-1 | jq -c '[.ranges, .unread_count]')" '[[[20,20]],8]' "the last alone"
is "$(dm-read alice --all | jq -c '[.ranges, .unread_count]')" '[[[12,19]],0]' "all"
is "$(dm-list --count)" 3 "of one conversation"
is "$(dm-read --everywhere --all | jq -c '[.conversation_title, .ranges, .unread_count]')" '["carol",[[1,3]],0]' \
  "all, everywhere"
exits 0 "again" dm-read --everywhere --all
is "$out$err" "" "is silent"

is "$(dm-read alice --unread 5..7 | jq -c '[.action, .ranges, .unread_count]')" '["unread",[[5,7]],3]' "unread again"
is "$(unread)" "5 6 7 " "for oneself"
is "$(dm-tail --as alice bob 5..7 --peek | jq -r .status | tr '\n' ' ')" "read read read " "others see that it was read"
dm-send -q alice mine
is "$(dm-read alice --unread --all | jq .unread_count)" 20 "one's own words stay read"
dm-read -q alice --all

dm-conversation -q create --title ops alice carol
dm-send -q +ops hi
dm-read -q --as carol +ops --all
dm-read -q --as alice +ops --all
is "$(dm-read --receipts +ops:-1 | jq -r .user | tr '\n' ' ')" "carol alice " "who has read it, oldest first"
is "$(dm-read --receipts "$(dm-tail +ops -n 1 | jq -r .id)" | jq -s 'map(.read_at) == (map(.read_at) | sort)')" true \
  "by its id, and when"
is "$(dm-read --receipts alice:-1)" "" "nobody yet"

seq 1 20 | dm-send -q --as alice --lines bob
is "$(dm-tail alice -n 5 | dm-read | jq -c '[.ranges, .unread_count]')" '[[[37,41]],15]' \
  "exactly what was printed"
is "$(dm-tail alice -n 30 --peek | jq -c 'select(.seq % 10 == 0)' | dm-read |
  jq -c '[.ranges, .unread_count]')" '[[[30,30]],14]' "or chosen by jq"
is "$(dm-tail alice 24..28 --peek | jq -c 'select(.seq % 2 == 0)' | dm-read --dry-run | jq -c '[.ranges, .marked_count]')" \
  '[[[24,24],[26,26],[28,28]],3]' "and nothing between them"
is "$(dm-tail alice -n 1 --peek | sed 's/"seq":[0-9]*/"seq":36/' | dm-read --unread)" "" "what is unread already"
is "$(printf '{"type":"read_receipt"}\n{}\n' | dm-read)" "" "lines that are no messages pass by"
{ dm-tail alice 31 --peek; echo '{'; dm-tail alice 32 --peek | jq -c \
  '.seq = 999'; dm-tail alice 33 --peek; } >"$work/lines"
exits 1 "a malformed line does not end the batch" sh -c "dm-read <'$work/lines'"
is "$(printf '%s' "$out" | jq -r '.code // .unread_count' | tr '\n' ' ')" "malformed_line unknown_message 12 " \
  "errors and one receipt"

like "$(dm-read alice --unread 1 --text)" "marked 1 of alice as unread: 1; * unread" "as text"
like "$(dm-read alice 1 --dry-run --text)" "would mark 1 of alice as read: 1; * unread" "a dry run as text"
like "$(dm-read --as alice --receipts bob:2 --text)" "bob  bob:2  ????-??-?? ??:??  read" "a receipt as text"
dm-send -q --as alice bob new
is "$(dm-read alice --delivered --all | jq -c '[.action, .ranges, .marked_count]')" '["delivered",[[42,42]],1]' "delivered"
exits 64 "which messages" dm-read alice
exits 64 "which conversation" dm-read --all
exits 64 "everywhere, but what" dm-read --everywhere
exits 64 "everywhere, up to a message of one" dm-read --everywhere --up-to 2
exits 64 "everywhere, before a message of one" dm-read --everywhere --before 2
exits 64 "two ways at once" dm-read alice --all --up-to 3
exits 64 "a range and an option" dm-read alice 3 --all
exits 66 "a message that is not there" dm-read alice --up-to 999
exits 66 "receipts of what is not there" dm-read --receipts alice:999
exits 65 "receipts of a number alone" dm-read --receipts 3
done_testing
