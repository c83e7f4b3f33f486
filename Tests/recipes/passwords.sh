#!/bin/sh
# A new password of a member's machine, which is a new login.
. "$(dirname "$0")/lib.sh"
new_hub
talk 'before'
old=$(sed -n 's/^user=//p' "$WORK/bob/hub")
EDIT="s#>bob#>$WORK/pg/bob#; s#^dm-sync join <bob#DM_STORE=$WORK/bob dm-sync join <$WORK/pg/bob#; s/u_2e40bd7400dd4976/$old/" \
  block 'New passwords' 1
# The account of the server cannot write into the store.
grep ' invite ' "$WORK/block" >"$WORK/pg/invite"
grep ' join ' "$WORK/block" >"$WORK/pg/join"
grep -v ' invite \| join ' "$WORK/block" >"$WORK/pg/revoke"
as sh "$WORK/pg/invite" || bad invite
queue bob alice 'between the invitation and the join'
sh "$WORK/pg/join" >/dev/null || bad join
queue bob alice 'between the join and the end of the old login'
as sh "$WORK/pg/revoke" || bad revoke
settle 'after the new password'
talk 'with the new password'
settle 'with the new password'
expect 'the old login' 0 "$(sql -c "SELECT count(*) FROM pg_roles WHERE rolname = '$old'")"
healthy
