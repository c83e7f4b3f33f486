#!/bin/sh
# A server that is restored to a time before an accident, and to the end of its archive.
. "$(dirname "$0")/lib.sh"
new_hub
talk 'before the copy'
recipe 'Go back to a point in time' 1
talk 'after the copy'
settle 'before the point in time'
time=$(sql -c 'SELECT clock_timestamp()')
talk 'later'
settle 'before the accident'
sql -d messages -c 'TRUNCATE dm.entry CASCADE'
queue alice bob 'while the hub is broken'
EDIT="s/2026-11-26 20:15:00+00/$time/" recipe 'Go back to a point in time' 2
settle 'after the recovery'
talk 'on the recovered server'
settle 'on the recovered server'
healthy
rm -rf "$WORK/pg/data.old" "$WORK/pg/backup/files"
as pg_basebackup -c fast -D "$WORK/pg/backup/files"
talk 'in the archive'
sql -c 'SELECT pg_switch_wal()' >/dev/null
talk 'not in the archive'
settle 'before the loss'
as pg_ctl -D "$PGDATA" -m immediate stop >/dev/null
rm -rf "${PGDATA:?}"/*
EDIT='/recovery_target_time =/d' recipe 'Go back to a point in time' 2
settle 'after the loss of the whole folder'
healthy
