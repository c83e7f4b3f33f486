#!/bin/sh
# A dump, restored into the same server after the database was dropped, and on a new server.
. "$(dirname "$0")/lib.sh"
new_hub
talk 'before the dump'
recipe 'Back up and restore a dump' 1
# These messages are acknowledged and not in the dump, and carol is invited after the dump.
talk 'after the dump'
link carol
login=$(sed -n 's/^user=//p' "$WORK/carol/hub")
settle 'before the loss'
as dropdb --force messages
queue alice bob 'while the database is gone'
EDIT='/roles.sql/d; / check$/d' recipe 'Back up and restore a dump' 2
settle 'after the restore into the same server'
admin check --text >"$WORK/check" 2>/dev/null
expect 'the login of carol is found' 1 "$(grep -c "$login" "$WORK/check")"
admin revoke "$login"
talk 'on the same server'
settle 'on the same server'
healthy
as pg_ctl -D "$PGDATA" -m immediate stop >/dev/null
queue alice bob 'while the server is gone'
new_server "$PORT" "$WORK/pg/new"
recipe 'Back up and restore a dump' 2
settle 'after the restore on a new server'
talk 'on the new server'
settle 'on the new server'
refused carol
link carol
healthy
