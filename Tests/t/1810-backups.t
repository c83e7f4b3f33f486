#!/bin/sh
# Backups by other programs, as dm-doctor(1) shows them.
. "$(dirname "$0")/lib.sh"
people
cd "$work" || exit 1
dm-send -q --as alice bob 'number 1'
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@example.com GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@example.com
git init -q history && chmod 700 history
for n in 2 3; do
  dm-doctor dump >history/new && mv history/new history/dm.jsonl
  git -C history add dm.jsonl && git -C history commit -q -m "$(date +%F)"
  dm-send -q --as alice bob "number $n"
done
is "$(git -C history show --numstat --format= | awk '{ print ($1 < 20) }')" 1 "a message changes a few lines of a dump"
ok "a state of git is restored" sh -c 'git -C history show HEAD~1:dm.jsonl | dm-doctor --store before restore'
is "$(dm-tail --store before --as bob alice -n 1 --peek | jq -r .text)" "number 1" "the first"

# restic(1), or a file in its place.
if ! command -v restic >/dev/null; then
  restic() { case $1 in backup) cat >kept ;; dump) cat kept ;; esac; }
fi
export RESTIC_REPOSITORY="$work/repository" RESTIC_PASSWORD=x
restic init >/dev/null 2>&1
dm-doctor backup - | restic backup --stdin --stdin-filename dm.backup >/dev/null
restic dump latest dm.backup >dm.backup
ok "what restic gives back is restored" dm-doctor --store restored restore dm.backup
is "$(dm-tail --store restored --as bob alice -n 1 --peek | jq -r .text)" "number 3" "whole"
done_testing
