#!/bin/sh
# Blocking: nothing of the one reaches the other, and the blocked one is not told.
. "$(dirname "$0")/lib.sh"
people
export DM_USER=alice
list() { dm-list "$@" | jq -r '.title // (.participants | join("+"))' | tr '\n' ' '; }
texts() { dm-tail --peek -n all "$@" | jq -r .text | tr '\n' ' '; }
shown() { dm-conversation show "$1" | jq -c "$2"; }
# What bob can find out, but for when.
seen_by_bob() {
  dm-list --as bob --all | jq -c 'del(.page_cursor)'
  dm-tail --as bob --peek -n all
  dm-user --as bob blocked
  dm-user --as bob show alice
  dm-read --as bob --receipts alice:1
}

dm-conversation -q create --title ops bob carol
dm-send -q --as bob alice one
dm-send -q bob two
dm-send -q --as bob alice 'three @alice'
dm-send -q --as bob +ops 'from bob @alice'
dm-send -q --as carol +ops 'from carol'
dm-read -q --as bob alice --all
dm-edit -q --as bob react 👍 alice:2
dm-edit -q --as bob react 👍 +ops:3
before=$(dm-list)
seen_by_bob >"$work/before"
is "$(list) $(dm-list --count)" "ops alice+bob  4" "before"

is "$(dm-user block bob | jq -c '[.type, .handle]')" '["user","bob"]' "a user is blocked"
is "$(dm-user block @bob)" "" "and again"
is "$(dm-user blocked | jq -r .handle)" bob "listed"
is "$(dm-user --as carol blocked)" "" "by the user who does"
exits 77 "nobody blocks themselves" dm-user block alice
exits 67 "nor nobody" dm-user block carol nobody
is "$(dm-user blocked | jq -r .handle)" bob "then none of several is"
seen_by_bob >"$work/after"
ok "who is blocked sees no difference" cmp "$work/before" "$work/after"

is "$(list) $(list --all) $(dm-list --count --all)" "ops  ops  1" "lists and counts are without them"
is "$(shown +ops '[.unread_count, .unread_mentions_count, .first_unread_seq, .last_message.text]')" \
  '[1,0,3,"from carol"]' "groups without what they said"
is "$(dm-tail --peek +ops -n all | jq -c '.text // .system_kind' | tr '\n' ' ')" \
  '"conversation_created" "from carol" ' "in history"
is "$(dm-tail --peek +ops 3 | jq .reactions) $(dm-tail --peek --as carol +ops 3 | jq -c .reactions)" \
  'null [{"emoji":"👍","users":["bob"]}]' "without reactions of the blocked user, which others see"
is "$(shown +ops '.participants')" '["alice","bob","carol"]' "that they are there is no secret"
is "$(texts bob) $(shown bob .unread_count)" "two  0" "what the user said stays"
is "$(dm-tail --peek bob 2 | jq -c '[.reactions, .status]') $(dm-read --receipts bob:2)" '[null,"sent"] ' \
  "without reactions and receipts of the blocked user, which do not count for the status"
exits 66 "what they said is not answered" dm-send +ops --reply-to 2 x
exits 77 "nothing is said to them" dm-send bob x
like "$err" "*dm-user unblock bob*" "with the next thing to try"
exits 77 "nor to several with them among these" dm-send --to carol --to bob x
is "$(dm-list | jq -s length)" 1 "and then to none"
exits 77 "they have no presence" dm-user presence bob
is "$(dm-user presence | jq -r .user)" carol "among others"
exits 0 "the user has presence for them" dm-user --as bob presence alice
is "$(dm-read +ops --all | jq -c '[.ranges, .unread_count]')" "[[[3,3]],0]" "marking as read leaves the blocked user out"
is "$(dm-read --as bob --receipts +ops:2 | jq -r .user)" "" "so that they get no receipt"
is "$(dm-read +ops 2)$(dm-read +ops 2 --unread)$(dm-read bob --all)" "" "for anything"

# What a user does while they are blocked.
dm-send -q --as bob alice four
dm-send -q --as bob +ops 'more from bob @alice'
dm-edit -q --as bob react 🎉 alice:2
dm-edit -q --as bob text +ops:-1 'more of bob @alice @carol'
is "$(list --all) $(dm-list --count --all)" "ops  0" "does not come before one"
is "$(dm-conversation show --as bob alice | jq -c '[.last_message.text, .last_message.status]')" '["four","sent"]' \
  "they send as ever"
is "$(dm-list | jq -c '[.last_message.text, .last_activity_at]')" \
  "$(dm-tail --peek +ops 3 | jq -c '[.text, .created_at]')" "activity is that of the others"
is "$(dm-tail --peek --cursor start | grep -c -e '"sender":"bob"' -e '"user":"bob"')" 0 "the stream has nothing of them"
dm-conversation -q archive +ops
dm-send -q --as bob +ops bring it back
is "$(list) $(list --archived)" " ops " "an archived group stays where it is"
dm-conversation -q unarchive +ops
dm-conversation -q delete +ops
dm-send -q --as bob +ops bring it back
is "$(list --all)" "" "and so does a deleted one"
dm-send -q --as carol +ops 'hi @alice'
is "$(list) $(shown +ops '[.unread_count, .unread_mentions_count]')" "ops  [1,1]" "until another says something"
is "$(dm-conversation --as bob create --title trap alice carol | jq -c .participants)" '["alice","bob","carol"]' \
  "a group of theirs"
is "$(list) $(list --archived)" "ops  trap " "is put away"
is "$(shown +trap '[.is_archived, .is_muted, .unread_count, .last_message]')" "[true,true,0,null]" "and muted"
dm-send -q --as carol +trap hi
is "$(list)" "ops " "and stays so"
dm-conversation -q leave +trap
dm-conversation -q --as bob add +trap alice
is "$(list) $(shown +trap '[.is_archived, .is_muted]')" "ops  [true,true]" "as often as they do it"
dm-conversation -q leave +trap
dm-conversation -q --as carol add +trap alice
dm-user -q add dave
dm-user -q --as dave block bob
dm-send -q --as bob dave hi
is "$(dm-list --all --as dave)$(dm-list --count --as dave)" 0 "who blocks beforehand is never told"
is "$(dm-conversation show --as bob dave | jq -r .last_message.text)" hi "though it is sent"
dm-user -q --as dave add erin
dm-user -q block erin
exits 77 "nobody begins a conversation with a user that they block" dm-conversation create erin
exits 77 "nor by a draft" dm-send erin --draft x
is "$(dm-send --as erin alice hi | jq .seq) $(list --all)" "1 trap ops " "the other way round it is begun, and not seen"
dm-conversation -q leave +trap

# What a follower sees of it.
follow dm-tail -f -n 0 --peek --invisible --events message,message_updated,message_status,reaction,read_receipt,delivery_receipt,typing +ops
is "$(line .type)" caught_up "who follows"
dm-typing --as bob +ops --on
dm-send -q --as bob +ops unheard
dm-edit -q --as bob react 👀 +ops:3
dm-read -q --as bob +ops --all
dm-typing --as carol +ops --on
is "$(line '.users[0]')" carol "is told of others only"
dm-send -q --as carol +ops heard
is "$({ line '.text // .users[0]' && line '.text // .users[0]'; } | sort | tr '\n' ' ')" "heard null " \
  "whose typing ends with their message"
leave

# Back again.
is "$(dm-user unblock bob carol | jq -r .handle)" bob "unblocked"
is "$(dm-user unblock bob)$(dm-user blocked | jq -r .handle)" erin "and again"
is "$(shown bob '[.unread_count, .first_unread_seq, .unread_mentions_count, .last_message.text]')" '[3,1,1,"four"]' \
  "what was unread is unread again, with what came meanwhile"
is "$(texts bob)" "one two three @alice four " "and all there"
is "$(dm-tail --peek bob 2 | jq -c .reactions) $(dm-read --receipts bob:2 | jq -r .user)" '[{"emoji":"🎉","users":["bob"]}] bob' \
  "reactions and receipts, too"
is "$(list)" "ops alice+bob " "the conversation is listed"
dm-user -q unblock erin
is "$(list | grep -o alice+erin) $(dm-list erin | jq .unread_count)" "alice+erin 1" "and one that began meanwhile"

# In a group so large that nobody has a row of their own for its activity.
seq 70 | while read -r n; do dm-user -q --as "u$n" add "u$n"; done
dm-user -q --as u1 block u2
# shellcheck disable=SC2046
dm-conversation -q --as u3 create --title huge $(seq 70 | sed 's/^/u/')
dm-conversation -q --as u3 create --title small u1
at() { dm-conversation show --as "$1" +huge | jq -r "$2"; }
dm-send -q --as u3 +small hi
dm-send -q --as u2 +huge unheard
is "$(list --as u1) $(list --as u4)" "small huge  huge " "what the blocked one says there lifts it for others"
is "$(at u1 .unread_count) $(at u4 .unread_count) $(at u1 .last_activity_at | cut -c1-10)" "0 1 $(date +%F)" "and counts for them"
dm-send -q --as u4 +huge heard
is "$(list --as u1) $(at u1 '"\(.unread_count) \(.first_unread_seq) \(.last_message.text)"')" "huge small  1 3 heard" \
  "what another says does for all"
dm-send -q --as u3 +small hi
dm-send -q --as u2 +huge unheard
dm-user -q --as u1 unblock u2
is "$(list --as u1) $(at u1 '"\(.unread_count) \(.first_unread_seq) \(.last_message.text)"')" "huge small  3 2 unheard" \
  "unblocked they count there, too"
dm-user -q --as u5 block u2
dm-conversation -q --as u5 leave +huge
dm-send -q --as u2 +huge gone by
is "$(dm-user --as u5 unblock u2 | jq -r .handle) $(at u5 '"\(.unread_count) \(.last_message.system_kind)"')" \
  "u2 3 user_left" "a user who left is told of their time only"
done_testing
