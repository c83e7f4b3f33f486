#!/bin/sh
# A second administrator, beside a first one who is a superuser, and beside one who is not.
. "$(dirname "$0")/lib.sh"
CONFIGURATION='' new_server "$PORT" "$WORK/pg/data"
sql -c "CREATE ROLE adm LOGIN PASSWORD 'PASSWORD' CREATEROLE CREATEDB"
export PGPASSWORD=PASSWORD

# does ACTION...: runs each action of dm-hub as the administrator.
does() {
  for action; do
    # shellcheck disable=SC2086
    admin $action >"$WORK/out" 2>&1 || bad "$PGUSER: $action: $(tail -n 1 "$WORK/out")"
  done
}

for first in postgres adm; do
  PGUSER=$first
  as createdb messages
  admin install --quiet 2>/dev/null
  stop_synchronizing
  rm -rf "$WORK/alice" "$WORK/bob"
  : >"$WORK/acknowledged"
  for person in alice bob; do link $person; done
  talk "$first"
  recipe 'A second administrator' 1
  PGUSER=zoe
  does status people reports 'limit say=1000' 'limit say=none' sweep unstick 'invite carol' 'revoke carol' 'invite bob' install
  talk 'with a second administrator'
  settle 'with a second administrator'
  healthy
  does 'revoke bob'
  refused bob
  link bob
  PGUSER=$first
  does install people
  PGUSER=zoe
  settle "after $first"
  healthy
  does 'uninstall --force'
  PGUSER=postgres
  expect 'logins left' 0 "$(sql -c "SELECT count(*) FROM pg_roles WHERE rolname ~ '^u_'")"
  as dropdb --force messages
  sql -c 'DROP ROLE zoe' -c 'DROP OWNED BY hub_admin' -c 'DROP ROLE hub_admin'
done
