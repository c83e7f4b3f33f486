# What the scripts of importers share, after lib.sh.

import=$(cd "$(dirname "$0")/../../examples/import" && pwd)
cp -R "$(dirname "$0")/../Fixtures/import" "$work/exports" || exit 1
cp "$import/../photo.jpg" "$work/exports/whatsapp" || exit 1
cd "$work/exports" || exit 1
dm-user -q --as alice add alice
export DM_USER=alice

# from NAME ARGUMENT...: the lines of an importer are in $work/lines, its report in $work/report.
from() {
  importer=$1
  shift
  "$import/$importer" "$@" >"$work/lines" 2>"$work/report"
}
# report TEXT NAME: the report has this line, without the name of the importer.
report() { is "$(sed -n "s/^$importer: //p" "$work/report" | grep -cxF "$1")" 1 "$2"; }
# said USER CONVERSATION: what was said there, one line each.
said() {
  dm-tail --as "$1" "$2" -n all --peek |
    jq -r '[.created_at[:23], .sender_name // .sender, (.text // "" | @json), (.attachments // [] | map(.name) | .[])] | join(" ")'
}
messages() { sqlite3 "$DM_STORE/dm.sqlite" 'SELECT count(*) FROM message'; }
# imported NUMBER NAME: the lines add so many messages, and none when they are repeated; people of an earlier export are the
# same.
imported() {
  before=$(messages)
  exits 0 "$2" dm-import --same-users "$work/lines"
  is "$(($(messages) - before)) $(printf %s "$err" | grep -v '; install ')" "$1 " "$1 messages are added"
  exits 0 "$2, again" dm-import "$work/lines"
  is "$(messages) $(printf '%s\n' "$out" | jq -r 'select(.type == "message") | .duplicate' | sort | uniq -c | tr -s ' ')" \
    "$((before + $1))  $1 true" "adds nothing"
}
# adds_up NAME: what was read is what was kept and what was left out.
adds_up() {
  is "$(sed -n 's/.*: read: \([0-9]*\), kept: \([0-9]*\), left out: \([0-9]*\)$/\1 \2 \3/p' "$work/report" |
    awk '{ print ($1 > 0 && $1 == $2 + $3) }')" 1 "the report adds up: $1"
}
