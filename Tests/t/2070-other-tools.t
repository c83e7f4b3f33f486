#!/bin/sh
# The commands of dm(7) for other tools, of those that are installed.
. "$(dirname "$0")/lib.sh"
page=$(cd "$(dirname "$0")/../../man" && pwd)/dm.7
people
cd "$work" || exit 1
export DM_USER=alice PATH="$work/bin:$PATH"
dm-conversation create -q --title ops bob carol
for text in deploy 'a text, with a comma' "two
lines"; do dm-send -q +ops "$text"; done
dm-send -q --as bob +ops 'done, @alice' --reply-to 2
for user in bob carol; do dm-edit -q react --as "$user" 👍 +ops:2; done
dm-edit -q react --as bob 🎉 +ops:3

# The commands of the section, one for each block, in the order of the page.
python3 - "$page" <<'PYTHON'
import re, sys
section = open(sys.argv[1], encoding="utf-8").read().split("\n.Sh WITH OTHER TOOLS\n")[1].split("\n.Sh ")[0]
for number, block in enumerate(re.findall(r"^\.Bd .*?\n(.*?)\n\.Ed$", section, re.S | re.M), 1):
    for escape, sign in ((r"\(aq", "'"), (r"\-", "-"), (r"\e", "\\")):
        block = block.replace(escape, sign)
    open(f"command{number}", "w").write(block + "\n")
PYTHON
is "$(ls command* | wc -l)" 7 "the section has seven commands"

# tool NUMBER COMMAND...: whether the tool of a command of the page is installed.
tool() {
  number=$1
  shift
  "$@" >/dev/null 2>&1 && return
  _pass "command $number is not run: '$1' is not installed"
  return 1
}
run() { sh "command$number" 2>&1; }

tool 1 jq --version && is "$(run)" "$(printf '%7s %s' 5 "$(date -u +%A)")" "jq takes the dates"
tool 2 mlr --version && is "$(run | sed -n '3p;$p')" "2,alice,deploy
5,bob,\"done, @alice\"" "Miller makes a table"
if tool 3 sqlite-utils --version; then
  run >said
  run >>said
  is "$(cat said)$(sqlite3 messages.db 'SELECT count(*), count(DISTINCT seq), max(is_group) FROM message')" "5|5|1" \
    "sqlite-utils makes a database, also a second time"
fi
# The package of PyPI has no program of this name.
mkdir bin
python=$("$(dirname "$page")/../Tests/venv" duckdb "$(dirname "$page")/../Tests/Fixtures/duckdb.txt" 2>/dev/null)
printf '#!%s\nimport duckdb, sys\nfor row in duckdb.sql(sys.argv[2]).order("1").fetchall(): print(*row)\n' "$python" >bin/duckdb
chmod +x bin/duckdb
tool 4 "${python:-none}" -c 'import duckdb' && is "$(run | sort | paste -sd,)" "🎉 1,👍 2" "DuckDB reads reactions"
tool 5 python3 -c 'import pandas' && is "$(run | tr -s ' ' | sed -n '2,3p' | paste -sd,)" "alice 4,bob 1" "pandas makes a table"
tool 6 jo -v && is "$(run >said && dm-tail bob --peek | jq -c .text)" '"42"' "jo makes a line"
tool 7 feedgnuplot --version && like "$(run)" "*+---*" "feedgnuplot draws a curve"
done_testing
