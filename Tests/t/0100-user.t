#!/bin/sh
# Users: adding, showing, changing.
. "$(dirname "$0")/lib.sh"

is "$(dm-user --as alice add alice --display-name 'Alice A.' |
  jq -c '[.type, .handle, .display_name, .shows_presence, has("bio")]')" \
  '["user","alice","Alice A.",true,false]' "the first user is added"
ok "anybody adds another" dm-user --as alice add bob --bio 'here' --hide-presence
for handle in '|trey|' 'toad^' Ann-Sofie 海 57; do ok "the handle $handle" dm-user --as alice add "$handle"; done
for handle in '' @bob +ops '#ops' 'a b' a:b a,b a/b 019ac5f2-0a3b-7c4d-8e5f-0123456789ab; do
  exits 65 "the handle '$handle' is refused" dm-user --as alice add -- "$handle"
done
is "$(dm-user --as alice list | jq -r .handle | tr '\n' ' ')" '57 Ann-Sofie alice bob toad^ |trey| 海 ' \
  "users are listed by handle"
is "$(dm-user --as alice show bob | jq -c '[.bio, .shows_presence]')" '["here",false]' "a user is shown"
is "$(dm-user --as alice show @bob | jq -r .handle)" bob "with an @, too"
is "$(dm-user --as alice show | jq -r .handle)" alice "the user without a name"
exits 67 "nobody is shown" dm-user --as alice show bbo
is "$(dm-user --as bob set --bio '' --show-presence | jq -c '[has("bio"), .shows_presence]')" '[false,true]' \
  "one's own profile is changed"
is "$(dm-user --as alice show bob | jq -c 'has("bio")')" false "and stays so"
exits 64 "nothing to set" dm-user --as bob set
exits 64 "an action that is missing" dm-user
exits 64 "an action that is none" dm-user remove bob
exits 64 "an option of another action" dm-user list --bio x
exits 64 "options that exclude each other" dm-user --as bob set --show-presence --hide-presence
exits 64 "a handle that is missing" dm-user --as bob add
exits 64 "a handle too many" dm-user --as bob add x y
like "$(dm-user --as alice show alice --text)" "alice *Alice A." "a user is shown as text"
is "$(dm-user --as alice add zoe | jq '.created_at | test("^[0-9-]{10}T[0-9:]{8}\\.[0-9]{6}Z$")')" true \
  "times are UTC with microseconds"
# Who acts, and is not there yet, learns how to get there.
like "$(DM_STORE="$work/new" DM_USER=zoe script -qec 'dm-user add bob' /dev/null </dev/null)" \
  '*dm-user: to add yourself, type: dm-user add zoe*' 'a hint says how an acting user who does not exist is added'
done_testing
