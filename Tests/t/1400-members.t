#!/bin/sh
# Groups: who comes, who goes, what each of them sees, and who owns it.
. "$(dirname "$0")/lib.sh"
people
for user in dave erin; do dm-user -q --as alice add $user; done
texts() { dm-tail --peek --as "$1" "$2" -n all | jq -r '.text // "\(.sender)>\(.system_kind):\(.subject)"' | tr '\n' ' '; }
who() { dm-conversation show --as "$1" +ops | jq -rc '.participants | sort | join(" ")'; }
field() { dm-conversation show --as "$1" "$2" | jq -c "$3"; }

dm-conversation -q create --as alice --title ops bob
is "$(texts alice +ops)" "alice>conversation_created:ops " "a group says that it was created"
is "$(dm-list --count --as bob)" 0 "which is no news to anybody"
dm-send -q --as alice +ops one
dm-send -q --as bob +ops two
is "$(dm-conversation add --as bob +ops carol @dave | jq -c .participants)" '["alice","bob","carol","dave"]' \
  "any member adds others"
is "$(texts carol +ops)" "bob>user_joined:carol bob>user_joined:dave " "who see what is said from then on"
is "$(texts dave +ops)" "bob>user_joined:dave " "each from their own coming"
is "$(field carol +ops '[.unread_count, .first_unread_seq]')" "[0,null]" "with nothing unread"
is "$(dm-conversation add --as alice +ops carol dave)" "" "adding those who are in prints nothing"
is "$(texts alice +ops | wc -w)" 5 "and says nothing"
exits 67 "one of several that does not exist" dm-conversation add --as alice +ops erin crol
is "$(who alice)" "alice bob carol dave" "has none of them added"
dm-conversation -q add --as alice +ops erin --with-history
is "$(texts erin +ops)" "$(texts alice +ops)" "--with-history shows all that was said"
is "$(field erin +ops .unread_count)" 0 "as read"

# Leaving and coming back.
dm-send -q --as alice +ops three
is "$(field carol +ops .unread_count)" 1 "what is said later is unread"
is "$(dm-conversation leave --as carol +ops | jq -c .participants)" '["alice","bob","dave","erin"]' "one leaves"
dm-send -q --as alice +ops 'four @carol'
is "$(dm-tail --peek --as alice +ops -n 1 | jq -c .mentions)" null "who is out is not mentioned"
is "$(texts carol +ops)" "bob>user_joined:carol bob>user_joined:dave alice>user_joined:erin three carol>user_left:carol " \
  "and sees what was said until then, with their leaving"
is "$(field carol +ops '[.unread_count, .first_unread_seq, .last_message.system_kind]')" '[1,7,"user_left"]' \
  "with what they had not read"
is "$(dm-tail --peek --as carol +ops:-1 | jq -r .system_kind)" user_left "numbers from the end are those of their time"
exits 66 "one that came later is not there for them" dm-edit --as carol delete +ops:9
exits 77 "they cannot send" dm-send --as carol +ops five
exits 77 "nor leave again" dm-conversation leave --as carol +ops
exits 66 "has no draft to send any more" dm-send --as carol +ops --from-draft
is "$(dm-read --as carol +ops --all | jq -c '[.ranges, .unread_count]')" "[[[7,7]],0]" "a former member marks as read what they see"
is "$(dm-list --as carol | jq -r .title)" ops "and still lists it"
dm-conversation -q add --as bob +ops carol
is "$(texts carol +ops)" "bob>user_joined:carol bob>user_joined:dave alice>user_joined:erin three carol>user_left:carol \
bob>user_joined:carol " "who comes back sees no more of what was said meanwhile"
is "$(field carol +ops .unread_count)" 0 "which counts as read"
dm-send -q --as alice +ops five
is "$(field carol +ops '[.unread_count, .first_unread_seq]')" "[1,11]" "and what follows does not"
dm-edit -q --as carol delete +ops:7
dm-conversation -q leave --as carol +ops
dm-conversation -q add --as bob +ops carol --with-history
is "$(texts carol +ops)" "$(texts alice +ops | sed 's/three //')" "with history they see all but what they deleted"
is "$(field carol +ops .unread_count)" 1 "and what they had not read is unread still"
dm-conversation -q delete --as carol +ops
dm-conversation -q leave --as carol +ops
is "$(dm-list --all --as carol)" "" "a group that one has deleted and left is gone"
dm-send -q --as alice +ops six
is "$(dm-list --all --as carol)" "" "for good"
dm-conversation -q add --as bob +ops carol
is "$(dm-list --as carol | jq -r .title)" ops "until one is added again"

# Removing, and owners.
exits 77 "who is not an owner removes nobody" dm-conversation remove --as bob +ops dave
is "$(dm-conversation remove --as alice +ops dave erin | jq -c '.participants | sort')" '["alice","bob","carol"]' \
  "the owner removes several"
is "$(dm-tail --peek --as dave +ops -n 1 | jq -c '[.sender, .system_kind, .subject]')" '["alice","user_left","dave"]' \
  "who are told who did it"
is "$(dm-conversation remove --as alice +ops dave)" "" "removing one who is out prints nothing"
exits 67 "or who is nobody" dm-conversation remove --as alice +ops nobody
dm-conversation -q leave --as alice +ops
exits 77 "the owner who left removes nobody" dm-conversation remove --as alice +ops carol
is "$(dm-conversation expire --as bob +ops 1h | jq -r .expire_after)" 3600 "who joined first owns it then"
dm-conversation -q expire --as bob +ops off
dm-conversation -q add --as carol +ops alice
exits 77 "who comes back is not an owner" dm-conversation expire --as alice +ops 1h
dm-conversation -q remove --as bob +ops bob
is "$(dm-conversation expire --as carol +ops 1h | jq -r .expire_after)" 3600 \
  "an owner who removes themselves passes it on, to the one who has been back longest"
dm-conversation -q leave --as carol +ops
dm-conversation -q leave --as alice +ops
is "$(field alice +ops .participants)" "[]" "the last one leaves it empty"
exits 77 "and nobody comes back on their own" dm-conversation add --as alice +ops alice

# Title and picture.
dm-conversation -q create --as alice --title dev bob
is "$(dm-conversation title --as bob +dev +devel | jq -r .title)" devel "any member changes the title"
is "$(texts alice +devel)" "alice>conversation_created:dev bob>title_changed:devel " "and the group says so"
is "$(dm-conversation title --as bob +devel devel)" "" "the same title changes nothing"
exits 66 "the old one names nothing" dm-conversation show --as bob +dev
exits 65 "a title that is none" dm-conversation title --as bob +devel "$(printf 'a\nb')"
is "$(dm-conversation avatar --as bob +devel https://example.org/a.png | jq -r .avatar_url)" https://example.org/a.png \
  "a picture"
is "$(dm-conversation avatar --as alice +devel https://example.org/a.png)" "" "that is there changes nothing"
is "$(dm-conversation avatar --as alice +devel '' | jq .avatar_url)" null "and none again"
is "$(texts alice +devel | wc -w)" 2 "of which nothing is said"
is "$(dm-conversation archive --as alice +devel | jq .is_archived)" true "an archived group"
dm-conversation -q title --as bob +devel dev
is "$(dm-list --as alice --archived | jq -r .title)" dev "stays away whatever is announced"

# A follower is told, the one who goes as well.
dm-send -q --as alice bob hi
follow dm-tail -f -n 0 --as bob --events message,conversation_updated --invisible
is "$(line .type)" caught_up "who follows"
dm-conversation -q add --as alice +dev dave
is "$(line '.subject') $(line '[.type, .participants]')" 'dave ["conversation_updated",["alice","bob","dave"]]' \
  "is told who came"
dm-conversation -q remove --as alice +dev bob
is "$(line '.subject') $(line '[.type, .participants]')" 'bob ["conversation_updated",["alice","dave"]]' \
  "and of their own leaving"
dm-send -q --as alice +dev unheard
dm-conversation -q title --as alice +dev unheard
dm-send -q --as alice bob direct
is "$(line '.text // .type')" direct "and then of nothing that is said there"
leave

# Nobody comes into or goes from a direct conversation.
for act in "add bob carol" "remove bob alice" "leave bob" "title bob x" "avatar bob https://example.org"; do
  # shellcheck disable=SC2086
  exits 77 "no '$act' in a direct conversation" dm-conversation --as alice $act
done
exits 64 "nobody to add" dm-conversation add --as alice +dev
exits 64 "two titles" dm-conversation title --as alice +dev a b
done_testing
