#!/bin/sh
# A backup that copies the server's files, and its restore.
. "$(dirname "$0")/lib.sh"
new_hub
link eve
talk 'before the copy'
recipe 'Back up and restore a copy of the files' 1
talk 'after the copy'
link carol
admin revoke eve
settle 'before the loss'
as pg_ctl -D "$PGDATA" -m immediate stop >/dev/null
queue alice bob 'while the server is gone'
recipe 'Back up and restore a copy of the files' 2
settle 'after the restore'
talk 'on the copy'
settle 'on the copy'
healthy
at eve dm-sync --quiet || bad 'eve, who was revoked after the copy, is not let in'
admin revoke eve
refused eve
refused carol
link carol
healthy
