#!/bin/sh
# The commands for cron(8) print nothing if all is well, and otherwise print what is wrong.
# shellcheck disable=SC2034 # lib.sh uses it.
CONFIGURATION="max_prepared_transactions = 5
max_connections = 12
archive_mode = on
archive_command = 'test -e $WORK/pg/archive-works'"
. "$(dirname "$0")/lib.sh"
as touch "$WORK/pg/archive-works"
new_hub
talk 'before'
settle 'before'
as touch "$WORK/pg/backup/messages.dump"

# look WHAT PATTERN: runs the commands, and expects PATTERN in their output, or no output if PATTERN is empty.
look() {
  block 'What to watch' 1
  as sh "$WORK/block" >"$WORK/out" 2>&1 </dev/null
  sed 's/^/  > /' "$WORK/out"
  if [ -z "$2" ]; then
    expect "$1" '' "$(cat "$WORK/out")"
  else
    grep -q "$2" "$WORK/out" || bad "$1: nothing about '$2'"
  fi
}
look 'a good day' ''
sql -d messages -c BEGIN -c 'SELECT pg_current_xact_id()' -c "PREPARE TRANSACTION 'x'" >/dev/null
look 'a prepared transaction' prepared
sql -d messages -c "ROLLBACK PREPARED 'x'"
# Opens many connections, which end when the pipe is closed.
mkfifo "$WORK/pipe"
for number in 1 2 3 4 5 6; do as psql -qX messages <"$WORK/pipe" >/dev/null 2>&1 & done
exec 5>"$WORK/pipe"
tries=0
while [ "$(sql -c 'SELECT count(*) > 8 FROM pg_stat_activity WHERE datname IS NOT NULL')" != t ] && [ $tries -lt 300 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
look 'many connections' 'max_connections'
exec 5>&-
wait_for_psql() { sql -c "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'psql'"; }
while [ "$(wait_for_psql)" -gt 1 ]; do sleep 0.1; done
sql -d messages -c 'GRANT SELECT ON dm.entry TO public'
look 'rights that nobody should have' 'may read'
admin install --quiet
look 'after install' ''
rm "$WORK/pg/archive-works"
sql -c 'SELECT pg_switch_wal()' >/dev/null
tries=0
while [ "$(sql -c 'SELECT failed_count > 0 FROM pg_stat_archiver')" != t ] && [ $tries -lt 300 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
look 'an archive that fails' archive
as touch "$WORK/pg/archive-works"
as touch -d '2 days ago' "$WORK/pg/backup/messages.dump"
look 'an old dump' 'messages.dump'
