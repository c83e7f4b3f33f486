#!/bin/sh
# Marking: what, how far, for which user, and what is said of it.
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
is "$(unread)" "5 6 7 " "for the user alone"
is "$(dm-tail --as alice bob 5..7 --peek | jq -r .status | tr '\n' ' ')" "read read read " "others see that it was read"
dm-send -q alice mine
is "$(dm-read alice --unread --all | jq .unread_count)" 20 "one's own words stay read"
dm-read -q alice --all

dm-conversation -q create --title ops alice carol
dm-send -q +ops hi
dm-read -q --as carol +ops --all
dm-read -q --as alice +ops --all
is "$(dm-read --receipts +ops:-1 | jq -r .user | tr '\n' ' ')" "carol alice " "who has read it, oldest first"
dm-tail --as carol +ops >/dev/null
is "$(dm-read --receipts +ops:-1 +ops 1.. | jq -c '[.type, .user, .ranges, .conversation_title]' | sort | head -n 1)" \
  '["delivery_receipt","carol",[[1,2]],"ops"]' "who has got it, too"
is "$(dm-read --receipts "$(dm-tail +ops -n 1 | jq -r .id)" | jq -s 'map(.read_at // .delivered_at) | . == sort')" true \
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

is "$(dm-read --receipts --as alice bob 3..6 30 | jq -c 'select(.type == "read_receipt").ranges' | tr '\n' ' ')" \
  "[[3,5]] [[6,6]] [[30,30]] " "receipts of several messages, one for each act"
is "$(dm-read --receipts --as alice bob:30 "$(dm-tail --as alice +ops -n 1 --peek | jq -r .id)" |
  jq -r 'select(.type == "read_receipt") | "\(.conversation_title) \(.user)"' | tr '\n' ' ')" "bob bob ops carol ops alice " \
  "of several conversations"

# What to mark, and how.
dm-read -q alice --all
seq 3 | dm-send -q --as carol --lines +ops
seq 3 | dm-send -q --as alice --lines +ops
seq 3 | dm-send -q --as alice --lines bob
is "$(dm-read +ops --all --from carol --dry-run | jq -c .ranges)" "[[3,5]]" "of one sender"
is "$(dm-read +ops --since 4 --before 7 --dry-run | jq -c .ranges)" "[[4,6]]" "from a message to another"
is "$(dm-read +ops --since 1h --dry-run | jq .marked_count)" 6 "from a time on"
is "$(dm-read --everywhere --since 1h --before 30m)" "" "nothing was said in that half hour"
dm-conversation -q mute alice
is "$(dm-read --everywhere --all --muted --dry-run | jq -r .conversation_title)" alice "only muted ones"
is "$(dm-read --everywhere --all --unmuted --dry-run | jq -r .conversation_title)" ops "only others"
is "$(dm-read --everywhere --all --except +ops --except alice)" "" "but not in these"
start=$(dm-tail --as alice --cursor now | jq -r .cursor)
is "$(dm-read alice --all --private | jq -c '[.action, .marked_count, .unread_count]')" '["read",3,0]' "privately"
is "$(dm-tail --as alice bob -n 1 --peek | jq -r .status)$(dm-tail --as alice --cursor "$start" --events all --peek | jq -r .type)" \
  sentcaught_up "of which nobody is told"
is "$(dm-read alice --all)" "" "and what is read gets no receipt later"
is "$(dm-user set --hide-read-receipts | jq .sends_read_receipts)" false "read receipts are hidden"
like "$(dm-user show --text)" "bob*(hides read receipts)" "as text"
dm-read -q +ops --all
is "$(dm-tail --as alice +ops -n 1 --peek | jq -r .status)" sent "and each mark is private"
is "$(dm-user set --send-read-receipts | jq .sends_read_receipts)" true "and sent again"
is "$(dm-doctor check --deep | jq -s length)" 0 "the store is sound"
is "$(dm-doctor dump | grep -c '"sends_read_receipts":1')" 3 "dumps have it"

like "$(dm-read alice --unread 1 --text)" "marked 1 of alice as unread: 1; * unread" "as text"
like "$(dm-read alice 1 --dry-run --text)" "would mark 1 of alice as read: 1; * unread" "a dry run as text"
like "$(dm-read --as alice --receipts bob:2 --text | head -n 1)" "bob  bob:2  ????-??-?? ??:??  read" "a receipt as text"
dm-send -q --as alice bob new
is "$(dm-read alice --delivered --all | jq -c '[.action, .ranges, .marked_count]')" '["delivered",[[42,45]],4]' "delivered"
exits 64 "which messages" dm-read alice
exits 64 "which conversation" dm-read --all
exits 64 "everywhere, but what" dm-read --everywhere
exits 64 "everywhere, up to a message of one" dm-read --everywhere --up-to 2
exits 64 "everywhere, before a message of one" dm-read --everywhere --before 2
exits 64 "two ways at once" dm-read alice --all --up-to 3
exits 64 "a range and an option" dm-read alice 3 --all
exits 64 "from an unclear place" dm-read alice --since 3 --up-to 5
exits 64 "unread in private" dm-read alice 3 --private --unread
exits 64 "lines of one sender" sh -c 'dm-read --from carol </dev/null'
exits 64 "but not of one alone" dm-read alice --all --except carol
exits 64 "receipts of nothing" dm-read --receipts
exits 67 "of a sender that there is not" dm-read alice --all --from nobody
exits 66 "a message that is not there" dm-read alice --up-to 999
exits 66 "receipts of what is not there" dm-read --receipts alice:999
exits 65 "receipts of a number alone" dm-read --receipts 3
done_testing
