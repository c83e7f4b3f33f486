#!/bin/sh
# Conversations: creating and showing them.
. "$(dirname "$0")/lib.sh"
people

direct=$(dm-conversation --as alice create bob | jq -r .id)
is "$(dm-conversation --as bob create alice | jq -r .id)" "$direct" "a pair has one conversation, whichever of them creates it"
is "$(dm-send --as bob alice hi | jq -r .conversation_id)" "$direct" "into which messages go"
is "$(dm-conversation --as alice create @alice | jq -c .participants)" '["alice"]' "a user may bear an @"
is "$(dm-conversation --as alice create alice | jq -c '[.is_group, .participants]')" '[false,["alice"]]' \
  "notes of the user alone"
is "$(dm-conversation --as alice create --title ops bob @carol bob |
  jq -c '[.is_group, .title, .creator, .participants]')" \
  '[true,"ops","alice",["alice","bob","carol"]]' "a group"
for name in +ops '#ops' "$(dm-conversation --as bob show +ops | jq -r .id)" \
  "dm:$(dm-conversation --as bob show +ops | jq -r .id)"; do
  is "$(dm-conversation --as bob show "$name" | jq -r .title)" ops "shown as $name"
done
is "$(dm-conversation --as bob show alice | jq -r .last_message.text)" hi "with its last message"
exits 77 "what one is not in is not shown" dm-conversation --as carol show "$direct"
exits 66 "nothing was said to carol" dm-conversation --as bob show carol
exits 66 "a group that is not there" dm-conversation --as bob show +osp
like "$err" "*did you mean '+ops'?" "is an error that suggests the nearest"
dm-conversation -q --as carol create --title ops bob
exits 66 "a title that two groups bear" dm-conversation --as bob show +ops
is "$(printf '%s' "$err" | grep -oE '[0-9a-f]{8}-[0-9a-f-]{27}' | wc -l)" 2 "is an error that lists them"
exits 0 "who is in one of them only sees no other" dm-conversation --as alice show +ops
exits 67 "a group with nobody" dm-conversation --as alice create --title x crol
exits 65 "a title that is none" dm-conversation --as alice create --title "$(printf 'a\nb')"
is "$(dm-conversation --as alice create bob carol | jq -c '[.is_group, .title, .name]')" '[true,null,"bob, carol"]' \
  "two users without a title"
exits 64 "nobody at all" dm-conversation --as alice create
exits 64 "a title when showing" dm-conversation --as alice show --title x bob
like "$(dm-conversation --as alice show bob --text)" "bob*participants  alice, bob*" "as text"
is "$(dm-conversation --as alice create --title teams bob --text)" "+teams: a group with bob" "as text, a new group is one line"
dm-conversation --as alice add +teams carol -q
is "$(dm-conversation --as alice create --title teams carol --if-absent --text)" "+teams: a group with bob, carol" \
  "an existing one is named with those who are in it"
done_testing
