#!/bin/sh
# A person who is erased.
. "$(dirname "$0")/lib.sh"
new_hub
link zoe
at zoe dm-send --wait alice 'erase this' >/dev/null || bad 'zoe cannot send'
talk 'before'
recipe 'Forget a person' 1
refused zoe
at alice dm-sync --quiet
expect 'what zoe said' '' "$(texts alice zoe)"
expect 'what the database has of it' 0 "$(as pg_dump messages | grep -c "$(printf 'erase this' | od -An -tx1 | tr -d ' \n')")"
admin invite zoe >/dev/null 2>&1
expect 'zoe is invited again' 73 $?
settle 'what others said'
healthy
