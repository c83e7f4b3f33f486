#!/bin/sh
# A move to another server, which the members follow, and a machine that synchronizes only after the old server is gone.
. "$(dirname "$0")/lib.sh"
new_hub
link carol
talk 'before the move'
EDIT="s/new.example.org/localhost:$OTHER_PORT/" recipe 'Move to another server' 1
queue alice bob 'while the hub moves'
new_server "$OTHER_PORT" "$WORK/pg/new"
EDIT="s/new.example.org/localhost:$OTHER_PORT/" recipe 'Move to another server' 2
settle 'after the move'
talk 'on the new server'
settle 'on the new server'
healthy
server "$PORT" "$WORK/pg/data"
as pg_ctl -D "$PGDATA" -m fast stop >/dev/null
server "$OTHER_PORT" "$WORK/pg/new"
at carol dm-sync --quiet 2>/dev/null
expect 'carol, who comes too late' 69 $?
at carol dm-sync move "localhost:$OTHER_PORT" >/dev/null || bad 'carol cannot move'
healthy
