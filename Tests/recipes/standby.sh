#!/bin/sh
# A standby that takes over, and the first server, which then takes over again. Two servers of this machine stand for
# two hosts.
PUBLIC=localhost,localhost:$PORT,$OTHER_PORT
HBA='hostssl replication standby localhost scram-sha-256'
. "$(dirname "$0")/lib.sh"
on_a() { server "$PORT" "$WORK/pg/data"; }
on_b() { server "$OTHER_PORT" "$WORK/pg/b"; }
new_hub
echo '*:*:*:standby:PASSWORD' >"$WORK/pg/.pgpass"
chmod 600 "$WORK/pg/.pgpass"
[ "$(id -u)" != 0 ] || chown postgres: "$WORK/pg/.pgpass"
talk 'before'
recipe 'Set up a standby' 1
on_b
# Here, the second server has another port.
EDIT="s/host=a.example.org/host=localhost port=$PORT/; s/^pg_ctl start/echo port = $OTHER_PORT >>\"\$PGDATA\/postgresql.auto.conf\"; &/" \
  recipe 'Set up a standby' 2
on_a
talk 'with a standby'
expect 'the standby' 'streaming sync' "$(sql -F ' ' -c 'SELECT state, sync_state FROM pg_stat_replication')"
expect 'dm-hub status has it' 1 "$(admin status --json | jq .standby_count)"
as pg_ctl -D "$PGDATA" -m immediate stop >/dev/null
queue alice bob 'while a is down'
on_b
recipe 'Let the standby take over' 1
settle 'after the standby took over'
talk 'on b'
settle 'on b'
healthy
on_a
rm -rf "$WORK/pg/data.old"
EDIT="s/host=b.example.org/host=localhost port=$OTHER_PORT/; s/^pg_ctl start/echo port = $PORT >>\"\$PGDATA\/postgresql.auto.conf\"; &/" \
  recipe 'Let the standby take over' 2
on_b
sql -c "ALTER SYSTEM SET synchronous_standby_names = '*'" -c 'SELECT pg_reload_conf()' >/dev/null
talk 'with a as the standby'
# A third person joins while the first host in the hub's address is the standby.
link carol
as pg_ctl -D "$PGDATA" -m immediate stop >/dev/null
on_a
recipe 'Let the standby take over' 1
settle 'after a took over again'
talk 'on a again'
settle 'on a again'
healthy
