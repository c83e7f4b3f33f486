# What the tests of dm-hub(8)'s recipes share: a server of the account 'postgres', a hub, and the stores of alice and bob, who
# send each other messages. WORK is an empty folder that this account can enter. PORT and OTHER_PORT are free ports.
# shellcheck shell=sh
set -u
for PGBIN in /usr/lib/postgresql/*/bin; do :; done
page=$(cd "$(dirname "$0")/../.." && pwd)/man/dm-hub.8
programs=$WORK/programs
mkdir -p "$WORK/home" "$WORK/pg/socket" "$WORK/pg/backup" "$programs"
# The account may not be able to enter the folder of the build.
cp -L "$(command -v dm-hub)" "$programs/dm-hub"
for program in dm-sync dm-send dm-tail dm-doctor; do ln -s dm-hub "$programs/$program"; done
export PATH="$programs:$PGBIN:$PATH" HOME="$WORK/home" TZ=UTC LC_ALL=C.UTF-8
unset DM_SYNC DM_STORE DM_USER XDG_CONFIG_HOME
chmod 755 "$WORK"
[ "$(id -u)" != 0 ] || chown -R postgres: "$WORK/pg"
failures=0
: >"$WORK/acknowledged"
trap 'finish' EXIT
trap 'exit 1' INT TERM

note() { printf '%s %s\n' "$(date +%T)" "$*"; }
bad() {
  note "FAULT $*"
  failures=$((failures + 1))
}
# expect WHAT WANTED GOT: reports a fault if the values differ.
expect() { if [ "$2" = "$3" ]; then note "$1: $3"; else bad "$1: wanted '$2', got '$3'"; fi; }

# as COMMAND...: runs a command as the account of the server.
as() {
  (cd "$WORK/pg" && if [ "$(id -u)" = 0 ]; then
    setpriv --reuid postgres --regid postgres --clear-groups env HOME="$WORK/pg" "$@"
  else env HOME="$WORK/pg" "$@"; fi)
}
admin() { as dm-hub --db "${DATABASE:-messages}" "$@"; }
sql() { as psql -qXAt -v ON_ERROR_STOP=1 "$@"; }

# server PORT FOLDER: sets the environment for the commands of a server.
server() { export PGPORT="$1" PGDATA="$2" PGHOST="$WORK/pg/socket" PGDATABASE=postgres PGUSER=postgres; }

# new_server PORT FOLDER: creates a server and starts it. HBA and CONFIGURATION are additional lines for its files.
new_server() {
  server "$1" "$2"
  as initdb -D "$2" -U postgres -A trust --no-sync -E UTF8 --locale=C >/dev/null || exit 1
  if [ ! -e "$WORK/pg/server.crt" ]; then
    as openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=localhost \
      -addext subjectAltName=DNS:localhost -keyout "$WORK/pg/server.key" -out "$WORK/pg/server.crt" 2>/dev/null
  fi
  as cp -p "$WORK/pg/server.crt" "$WORK/pg/server.key" "$2"
  as tee -a "$2/postgresql.conf" >/dev/null <<END
port = $1
listen_addresses = 'localhost'
unix_socket_directories = '$WORK/pg/socket'
ssl = on
fsync = off
${CONFIGURATION:-}
END
  as tee "$2/pg_hba.conf" >/dev/null <<END
local    all          postgres     trust
local    replication  postgres     trust
local    all          all          scram-sha-256
hostssl  messages     +dm_member   localhost  scram-sha-256
${HBA:-}
END
  as pg_ctl -D "$2" -w -l "$2.log" start >/dev/null || exit 1
}

# new_hub: creates a server with a hub, and linked stores of alice and bob. PUBLIC is the hub's address.
new_hub() {
  new_server "$PORT" "$WORK/pg/data"
  as createdb messages
  admin install --public "${PUBLIC:-localhost:$PORT}" --ca "$WORK/pg/server.crt" --quiet || exit 1
  for person in alice bob; do link $person; done
  follow bob
}

# link PERSON: links a new store of a person, or gives their store another login.
link() {
  admin invite "$1" --text >"$WORK/$1.token" || bad "invite $1"
  at "$1" dm-sync join <"$WORK/$1.token" >/dev/null || bad "join $1"
}
# at STORE COMMAND...: runs a command with a store.
at() {
  store=$1
  shift
  DM_STORE="$WORK/$store" "$@"
}
# follow STORE: synchronizes a store until the test ends, as a service does.
follow() {
  DM_STORE="$WORK/$1" dm-sync -f >"$WORK/$1.states" 2>&1 &
  followers="${followers:-} $!"
}
# say STORE TO TEXT: sends a message, and waits until the hub has acknowledged it.
say() {
  if at "$1" dm-send --wait "$2" "$3" >/dev/null 2>"$WORK/error"; then
    echo "$3" >>"$WORK/acknowledged"
  else
    bad "$1 cannot send '$3': $(cat "$WORK/error")"
  fi
}
# queue STORE TO TEXT: sends a message without waiting for the hub.
queue() {
  if at "$1" dm-send "$2" "$3" >/dev/null 2>"$WORK/error"; then
    echo "$3" >>"$WORK/acknowledged"
  else
    bad "$1 cannot queue '$3': $(cat "$WORK/error")"
  fi
}
# talk TEXT: alice and bob send a message each.
talk() {
  say alice bob "$1, alice"
  say bob alice "$1, bob"
}
texts() {
  at "$1" dm-tail --fresh 0 -n all "$2" --json 2>/dev/null |
    jq -r 'select(.type == "message") | "\(.seq // "-") \(.text // .event // "")"'
}

# settle WHAT: waits, for two minutes at the most, until both stores have each message once, in the same order.
settle() {
  tries=0
  while [ $tries -lt 600 ]; do
    texts alice bob >"$WORK/alice.texts"
    texts bob alice >"$WORK/bob.texts"
    if cmp -s "$WORK/alice.texts" "$WORK/bob.texts" && ! grep -q '^-' "$WORK/alice.texts" &&
      [ "$(cut -d' ' -f2- "$WORK/alice.texts" | sort)" = "$(sort "$WORK/acknowledged")" ]; then
      note "$1: $(wc -l <"$WORK/acknowledged") messages, each once in both stores"
      return
    fi
    tries=$((tries + 1))
    sleep 0.2
  done
  bad "$1: the stores differ"
  sort "$WORK/acknowledged" | diff - "$WORK/alice.texts"
  diff "$WORK/alice.texts" "$WORK/bob.texts"
  for store in alice bob; do at "$store" dm-sync status --text; done
  exit 1
}

# healthy: expects that dm-hub check and dm-doctor check find no fault in the hub and the stores.
healthy() {
  admin check --text >"$WORK/check" 2>&1
  expect 'dm-hub check' '0 ' "$? $(grep -v '^note: ' "$WORK/check")"
  for store in alice bob; do
    at "$store" dm-sync --quiet 2>"$WORK/error" || bad "$store: dm-sync: $(cat "$WORK/error")"
    expect "$store: dm-sync status" green "$(at "$store" dm-sync status --json | jq -r .color)"
    at "$store" dm-doctor check --deep >"$WORK/check" 2>&1 || bad "$store: $(cat "$WORK/check")"
  done
}

# refused STORE: expects that the hub refuses the store.
refused() {
  at "$1" dm-sync --quiet 2>/dev/null
  expect "$1 is locked out" 77 $?
}

# block TITLE N: writes the Nth block of commands of a recipe to a file. EDIT is a script of sed(1) that adapts it to
# this test.
block() {
  awk -v title="$1" -v wanted="$2" '
    /^\.S[hs] / { is_here = substr($0, 5) == title; count = 0; next }
    is_here && /^\.Bd -literal/ { is_wanted = ++count == wanted; next }
    /^\.Ed/ { is_wanted = 0; next }
    is_here && is_wanted' "$page" |
    sed "s/\\\\-/-/g; s/\\\\e/\\\\/g; s/\\\\(aq/'/g; s/\\\\&//g; s#/backup#$WORK/pg/backup#g; ${EDIT:-}" >"$WORK/block"
  [ -s "$WORK/block" ] || { bad "there is no block $2 of '$1'"; exit 1; }
  chmod 644 "$WORK/block"
}
# recipe TITLE N: runs the Nth block of a recipe.
recipe() {
  block "$1" "$2"
  sed 's/^/  | /' "$WORK/block"
  as sh -e "$WORK/block" >"$WORK/out" 2>&1 </dev/null
  status=$?
  sed 's/^/  > /' "$WORK/out"
  [ $status = 0 ] || bad "block $2 of '$1' ends with $status"
}

# stop_synchronizing: ends the dm-sync processes of the stores, and waits until they have ended.
stop_synchronizing() {
  # shellcheck disable=SC2086
  kill ${followers:-} 2>/dev/null
  followers=
  tries=0
  while pkill -f -- "--store $WORK/" && [ $tries -lt 100 ]; do
    tries=$((tries + 1))
    sleep 0.1
  done
}

finish() {
  for process in ${followers:-}; do kill -0 "$process" 2>/dev/null || bad 'a dm-sync -f has ended'; done
  stop_synchronizing
  for folder in "$WORK"/pg/*; do
    [ ! -e "$folder/postmaster.pid" ] || as pg_ctl -D "$folder" -m immediate stop >/dev/null 2>&1
  done
  note "$failures faults"
  [ $failures = 0 ] || exit 1
}
