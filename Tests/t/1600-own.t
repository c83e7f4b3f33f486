#!/bin/sh
# What of a conversation is one's own, drafts, and the ways of sending that go with them; what expires.
. "$(dirname "$0")/lib.sh"
people
export DM_USER=alice
list() { dm-list "$@" | jq -r '.title // .participants[-1]' | tr '\n' ' '; }
shown() { dm-conversation show "$1" | jq -c "$2"; }
texts() { dm-tail --peek -n all "$@" | jq -r .text | tr '\n' ' '; }

dm-send -q bob hi
dm-conversation -q create --title ops bob
dm-send -q carol hi

# Pinned.
is "$(list)" "carol ops bob " "newest first"
is "$(dm-conversation pin bob +ops | jq -c '[.type, .is_pinned]' | tr '\n' ' ')" \
  '["conversation",true] ["conversation",true] ' "several are pinned"
is "$(list)" "ops bob carol " "and come first"
is "$(dm-conversation pin bob +ops)" "" "pinned again nothing changes"
is "$(dm-conversation unpin +ops bob bob | jq -c .is_pinned | tr '\n' ' ')" "false false " "unpinned, each once"
exits 66 "one of several that is not there" dm-conversation pin bob +osp
is "$(shown bob .is_pinned)" false "has none of them pinned"
is "$(dm-list --as bob | jq -s 'map(.is_pinned) | any')" false "it is one's own business"

# Muted.
is "$(dm-conversation mute bob | jq -c '[.is_muted, .muted_until]')" '[true,null]' "muted without an end"
is "$(dm-conversation mute bob)" "" "and again"
is "$(dm-conversation mute bob --for 8h | jq -c '[.is_muted, .muted_until != null]')" '[true,true]' "with an end"
is "$(dm-conversation unmute bob | jq -c '[.is_muted, .muted_until]')" '[false,null]' "unmuted"
is "$(dm-conversation unmute bob)" "" "and again"
for time in 0s -1s 8 367d ''; do exits 65 "no time: '$time'" dm-conversation mute bob "--for=$time"; done

# Archived.
is "$(dm-conversation archive bob | jq .is_archived) $(list) $(list --archived)" "true carol ops  bob " "archived"
is "$(dm-conversation archive bob)" "" "and again"
dm-edit -q --as bob react 👍 alice:1
is "$(list)" "carol ops " "a reaction does not bring it back"
dm-edit -q text bob:1 'hi!'
is "$(list)" "carol ops " "nor an edit"
dm-send -q --as bob alice back
is "$(list)" "bob carol ops " "what the other says does"
dm-conversation -q archive bob
dm-send -q bob back
is "$(list)" "bob carol ops " "and what the user says"
dm-conversation -q archive bob
dm-conversation -q mute bob
dm-send -q --as bob alice unheard
is "$(list) $(list --all) $(dm-list --count)" "carol ops  bob carol ops  0" "unless it is muted"
is "$(dm-list --count --all)" 2 "its messages are counted where it is"
dm-send -q bob mine
is "$(list)" "carol ops " "one's own words leave it there, too"
is "$(dm-conversation unarchive bob | jq .is_archived) $(list)" "false bob carol ops " "unarchived"
dm-conversation -q unmute bob
dm-conversation -q archive +ops
dm-conversation -q title --as bob +ops ops2
is "$(list)" "bob carol " "an announcement brings nothing back"
dm-conversation -q title --as bob +ops2 ops
dm-conversation -q unarchive +ops

# Deleted.
is "$(dm-conversation delete bob | jq -c '[.type, .unread_count, .last_message]')" '["conversation",0,null]' "deleted"
is "$(dm-conversation delete bob)" "" "and again"
is "$(list --all) $(texts bob)" "ops carol  " "it is gone, with all that was said"
is "$(texts --as bob alice | wc -w)" 5 "for the user alone"
is "$(shown bob '[.unread_count, .last_message]')" '[0,null]' "asked for by name it is empty"
dm-edit -q --as bob react 👍 alice:1
is "$(list --all)" "ops carol " "a reaction does not bring it back"
exits 66 "and what was said is not there" dm-edit react 👍 bob:1
dm-send -q --as bob alice anew
is "$(list) $(texts bob)" "bob ops carol  anew " "a message does, alone"
is "$(shown bob '[.unread_count, .first_unread_seq]')" "[1,6]" "and is unread"
is "$(dm-send bob --reply-to -1 again | jq .seq)" 7 "numbers go on"
dm-conversation -q pin bob
dm-conversation -q delete bob
dm-send -q --as bob alice anew
is "$(shown bob '[.is_pinned, .unread_count]')" "[true,1]" "a pin outlives it"
dm-conversation -q unpin bob

# Drafts.
is "$(dm-conversation draft bob so far | jq -c '[.type, .draft_text]')" '["conversation","so far"]' "a draft"
is "$(dm-conversation draft bob | jq -r .draft_text) $(dm-list | jq -r '.draft_text // empty')" "so far so far" "is kept"
is "$(dm-conversation --as bob show alice | jq .draft_text)" null "for the user"
is "$(dm-send bob --draft so good | jq -r .draft_text)" "so good" "and replaced"
is "$(printf 'of\nlines\n' | dm-send bob --draft | jq .draft_text)" '"of\nlines"' "from standard input, too"
is "$(dm-send bob --from-draft | jq -c '[.type, .text]')" '["message","of\nlines"]' "sent"
is "$(shown bob .draft_text)" null "it is one no more"
exits 66 "and is not sent twice" dm-send bob --from-draft
exits 65 "a draft that is empty" dm-conversation draft bob ''
dm-send -q bob --draft 'with a nonce'
is "$(dm-send bob --from-draft --nonce d1 | jq -c '[.text, .duplicate]')" '["with a nonce",null]' "with a nonce"
seq=$(dm-tail --peek bob -n 1 | jq .seq)
is "$(dm-send bob --from-draft --nonce d1 | jq -c '[.text, .duplicate]')" '["with a nonce",true]' "it is sent once"
is "$(dm-tail --peek bob -n 1 | jq .seq)" "$seq" "however often one tries"
dm-send -q bob --draft 'not to be lost'
exits 73 "a nonce of another text" dm-send bob --from-draft --nonce d1
is "$(shown bob .draft_text)" '"not to be lost"' "leaves the draft"
dm-edit -q delete --for-everyone bob:-1
is "$(dm-send bob --from-draft --nonce d1 | jq .duplicate)" true "a nonce of what is deleted now"
is "$(shown bob .draft_text)" '"not to be lost"' "leaves it, too"
is "$(dm-conversation draft bob --clear | jq .draft_text)" null "thrown away"
is "$(dm-conversation draft bob --clear)" "" "and again"
dm-user -q add dave
is "$(dm-send dave --draft unsaid | jq -r .draft_text) $(list dave)" "unsaid dave " "a draft begins a conversation"
is "$(dm-list --all --as dave)$(dm-list --count --as dave)" 0 "of which the other knows nothing"
is "$(dm-send dave --from-draft | jq -c '[.seq, .text]')" '[1,"unsaid"]' "until it is sent"
is "$(dm-list --as dave | jq -c '[.unread_count, .last_message.text]')" '[1,"unsaid"]' "then they do"
exits 64 "a draft of two conversations" dm-send --to bob --to carol --draft x
exits 64 "a draft and a nonce" dm-send bob --draft --nonce n x
exits 64 "a draft with a text beside" dm-send bob --from-draft x
exits 67 "a draft for nobody" dm-send bbo --draft x

# Forwarding, and sending to several.
dm-send -q --as bob alice 'pass it on @alice'
is "$(dm-send carol --forward bob:-1 | jq -c '[.text, .sender, .mentions]')" '["pass it on @alice","alice",["alice"]]' \
  "forwarded"
is "$(dm-tail --peek carol -n 1 | jq -r .forwarded_from)" "$(dm-tail --peek bob:-1 | jq -r .sender)" "with the handle of the user who said it first"
is "$(dm-send bob --forward carol:-1 | jq -r .forwarded_from)" "$(dm-tail --peek carol -n 1 | jq -r .forwarded_from)" \
  "also when it is passed on again"
exits 66 "what is not there is not" dm-send carol --forward bob:99
exits 77 "nor an announcement" dm-send carol --forward +ops:1
exits 77 "nor what was said elsewhere" dm-send --as carol alice --forward "$(dm-tail --peek bob -n 1 | jq -r .id)"
is "$(dm-send --to bob --to +ops 'to all' | jq -r '.text' | tr '\n' ' ')" "to all to all " "to several"
before=$(dm-tail --peek -n all | wc -l)
exits 66 "to several of which one is not there" dm-send --to bob --to carol --to +osp 'to none'
exits 67 "or nobody" dm-send --to bob --to nobody 'to none'
exits 66 "or does not have what is answered" dm-send --to bob --to +ops --reply-to 9 'to none'
is "$(dm-tail --peek -n all | wc -l)$out" "$before" "nothing is sent"
is "$(dm-send --to bob --to +ops --nonce all same | jq -c .duplicate | tr '\n' ' ')" "null null " "with a nonce"
is "$(dm-send --to bob --to carol --to +ops --nonce all same | jq -c .duplicate | tr '\n' ' ')" "true null true " \
  "each gets it once"

# What expires.
until_gone() { # until_gone COMMAND: it prints what is wanted within ten seconds
  i=0
  while [ $i -lt 400 ]; do
    got=$("$@")
    [ "$got" = "$want" ] && return
    i=$((i + 1))
  done
  return 1
}
is "$(dm-send bob --expires-in 1h brief | jq '.expires_at != null')" true "a message that expires"
is "$(printf '{"conversation":"bob","text":"%s","expires_in":"%s"}\n' a 1h b 0s c '' d 1 e 367d f 2s | dm-send |
  jq -r '.text // .code' | tr '\n' ' ')" "a bad_time bad_time bad_time bad_time f " "a line of it"
exits 65 "too short a life" dm-send bob --expires-in 0s x
is "$(dm-conversation expire bob 1h | jq .expire_after) $(dm-send bob x | jq '.expires_at != null')" "3600 true" \
  "a conversation in which all does"
is "$(dm-conversation expire --as bob alice 1h)" "" "and again"
is "$(dm-conversation expire --as bob alice off | jq .expire_after) $(dm-send bob x | jq .expires_at)" "null null" \
  "and no more"
exits 65 "too short" dm-conversation expire bob 0s
dm-conversation -q create --as bob --title brief alice carol
follow dm-tail -f -n 0 --invisible --peek --as alice +brief --events message,message_deleted
is "$(line .type)" caught_up "who follows"
printf '{"conversation":"+brief","text":"%s","expires_in":"2s"}\n' '@alice gone' gone | dm-send -q --as bob
is "$(line .text) $(line .text)" "@alice gone gone" "is told of what will be gone"
dm-send -q --as bob +brief stays
is "$(line .text)" stays "and of what stays"
is "$(dm-list +brief | jq -c '[.unread_count, .unread_mentions_count, .first_unread_seq]')" "[3,1,2]" "all of it is unread"
is "$(line '[.type, .seq, .for_everyone]')" '["message_deleted",2,true]' "and then that it is gone"
now=$(date +%s%N)
at=$(dm-tail --peek +brief:2 --deleted | jq -r .expires_at)
late=$((now / 1000000 - $(date -d "$at" +%s%N) / 1000000))
like "$((late < 1500 && late >= 0)) $late" "1 *" "within a second and a half"
is "$(line '[.type, .seq]')" '["message_deleted",3]' "and the other"
leave
is "$(dm-list +brief | jq -c '[.unread_count, .unread_mentions_count, .first_unread_seq, .last_message.text]')" \
  '[1,0,4,"stays"]' "nobody counts it any more"
is "$(dm-tail --peek +brief 2..3 --deleted | jq -c '[.text, .deleted_at == .expires_at]' | tr '\n' ' ')" \
  "[null,true] [null,true] " "it is a tombstone since then"
exits 66 "that nobody answers" dm-send +brief --reply-to 2 x
dm-send -q --as bob +brief --expires-in 1s gone
want='[1,"stays"]'
ok "where only lists are read it is gone from them" until_gone sh -c \
  'dm-list +brief | jq -c "[.unread_count, .last_message.text]"'
is "$(dm-list --count +brief) $(texts +brief 2..)" "1 stays " "from counts and history"
is "$(dm-send --as bob +brief --nonce x --expires-in 1s once | jq .duplicate)" null "a nonce of what expires"
want=
ok "which is gone" until_gone sh -c 'dm-tail --peek +brief --since 6 | grep once'
is "$(dm-send --as bob +brief --nonce x --expires-in 1s once | jq -c '[.duplicate, .text]')" '[true,null]' \
  "is not sent again"
done_testing
