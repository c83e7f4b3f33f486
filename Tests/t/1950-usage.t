#!/bin/sh
# The usage log: it is written only if it is asked for, and dm-usage counts what it has.
. "$(dirname "$0")/lib.sh"
people
log=$work/usage.log

dm-send -q --as alice bob 'a secret'
[ ! -e "$log" ]
is $? 0 "by default there is no log"

export DM_USAGE_LOG="$log"
dm-send -q --as alice bob 'another secret'
printf 'one\ntwo\n' | dm-send -q --as alice --lines bob
dm-tail --as bob alice --read >/dev/null
is "$(jq -rc '[.act, .program, .count] | join(" ")' "$log" | tr '\n' ',')" \
  "sent dm-send 1,sent dm-send 2,opened dm-tail 4,read dm-tail 4," "each act is a line"
is "$(grep -c secret "$log")" 0 "without a text"

today=$(date +%F)
is "$(dm-usage | jq -c 'del(.median_us)' | head -n 1)" \
  '{"type":"usage_day","day":"'"$today"'","act":"opened","acts_count":1,"failed_count":0,"count":4,"bytes":28}' \
  "dm-usage counts the acts of a day by kind"
is "$(dm-usage "$log" | jq -r .act | tr '\n' ' ')" "opened sent read " "of the log that is named"
is "$(dm-usage - <"$log" | jq -s 'map(.acts_count) | add')" 4 "or of standard input"
is "$(grep -c dm-usage "$log")" 0 "and writes nothing to it"

# act DAYS-AGO ACT MICROSECONDS STATUS
act() {
  printf '{"type":"usage","at":"%sT12:00:00Z","act":"%s","program":"dm-send","version":"0.2.0","duration_us":%s,"count":3,"bytes":20480,"status":%s}\n' \
    "$(date -d "$1 days ago" +%F)" "$2" "$3" "$4"
}
{
  act 8 sent 1 0
  for n in 1 2 3 4; do act 3 sent "${n}000" 0; done
  act 3 searched 2500000 67
  act 1 sent 500 0
} >"$work/week.log"
is "$(dm-usage "$work/week.log" | jq -c '[.act, .acts_count, .failed_count, .count, .bytes, .median_us]' | tr '\n' ' ')" \
  '["sent",4,0,12,81920,2000] ["searched",1,1,3,20480,2523136] ["sent",1,0,3,20480,500] ' "the last seven days, with medians"
is "$(dm-usage --since 9d "$work/week.log" | jq -s 'map(.acts_count) | add')" 7 "or more"
is "$(dm-usage --since 2d "$work/week.log" | jq -s 'map(.acts_count) | add')" 1 "or fewer"

text=$(dm-usage --text "$work/week.log")
is "$(echo "$text" | grep -c '^[A-Z][a-z][a-z] 20..-..-..  ')" 7 "as text, a line for each day"
like "$text" "*$(date -d '3 days ago' '+%a %F')  5  ████████*$(date -d '1 day ago' '+%a %F')  1  ████*" "with a bar"
like "$text" "*act *acts *failed *count *size *median*sent *5 *0 *15 *100 KiB *2.0 ms*searched *1 *1 *3 *20 KiB *2.5 s*" \
  "and a table"
is "$(dm-usage --text --plain "$work/week.log" | tail -n 1)" \
  "searched: 1 act, 1 failed, count 3, 20 KiB, median 2.5 s" "or sentences"

# The width of the terminal.
for width in 40 100; do
  script -qec "env COLUMNS=$width TERM=xterm NO_COLOR=1 PAGER=cat dm-usage '$work/week.log'" /dev/null | tr -d '\r' >"$work/shown"
  is "$(head -n 7 "$work/shown" | wc -L)" "$width" "the longest bar ends at column $width"
done

{
  echo 'no JSON'
  act 1 sent 1 0
  echo '{"type":"usage"}'
  act 1 danced 1 0
  printf '{"type":"usa'
} >"$work/bad.log"
exits 1 "lines that are not records" dm-usage "$work/bad.log"
is "$(echo "$err" | cut -d: -f1-2 | tr '\n' ',')" \
  "dm-usage: line 1,dm-usage: line 3,dm-usage: line 4,dm-usage: line 5," "are named by their numbers"
is "$(echo "$out" | jq -c 'select(.type == "usage_day").acts_count')" 1 "and the others are counted"
exits 66 "a log that does not exist" dm-usage "$work/none"
exits 64 "a message is no time" dm-usage --since 57 "$log"
: >"$work/empty.log"
exits 0 "an empty log" dm-usage "$work/empty.log"
is "$out$err" "" "has no acts"
done_testing
