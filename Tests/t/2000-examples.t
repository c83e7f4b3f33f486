#!/bin/sh
# The examples for a desk: status bar, cron jobs, mail, clipboard and notifications.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
people
cd "$work" || exit 1
mkdir bin
export DM_USER=bob PATH="$work/bin:$PATH"
tab=$(printf '\t')
hostile="-n \$(touch $work/code) \`touch $work/code\` '\"; touch $work/code; {1} <b>&amp; \\074i\\076 \
#(touch $work/code) %s $(printf '\033]0;title\007')${tab}tab
second line é"
say() { dm-send --as "$1" -- bob "$2" | jq -r .conversation_id; }
# stand_in NAME: the program is standard input, a script.
stand_in() { cat >"bin/$1" && chmod +x "bin/$1"; }

# All of them.
ls -d "$examples"/* "$examples"/python/bot.py "$examples"/typescript/bot.ts | sed "s|^$examples/||" >all
is "$(grep -vxE 'README.md|photo.jpg|python|typescript' all | while read -r example; do
  grep -qF "[$example]($example)" "$examples/README.md" || echo "$example"; done)" "" "each example is in the table"
ok "shellcheck has no warning" sh -c 'shellcheck -S warning $(grep -lE "^#!.*sh$" "$0"/*)' "$examples"

# unread-count
alice=$(say alice "$hostile")
carol=$(say carol hi)
is "$("$examples/unread-count")" 2 "unread-count counts"
dm-conversation mute -q carol
is "$("$examples/unread-count")" 1 "but not what is muted"
follow "$examples/unread-count" -f
is "$(line)" 1 "with -f it prints the number"
say alice again >said
is "$(line)" 2 "and each new one"
is "$(dm-user presence --as alice bob | jq .is_online)" false "and shows nobody as online"
leave
exits 64 "other words" "$examples/unread-count" --help

# mark-old-read
for words in 'create --title old bob' 'name +old old'; do
  # shellcheck disable=SC2086
  faketime -f -8d dm-conversation $words -q --as alice
done
faketime -f -8d dm-send -q --as alice +old 'long ago'
is "$(dm-list --count)" 4 "of four unread messages,"
ok "mark-old-read" "$examples/mark-old-read"
is "$(dm-list --count) $(dm-list --count +old)" "3 0" "marks the one that is older than a week"
is "$(dm-read --as alice --receipts +old:2 | jq -r 'select(.type == "read_receipt")')" "" "and its sender gets no receipt"
ok "mark-old-read WHEN OPTION..." "$examples/mark-old-read" 0s --except alice
is "$(dm-list --count alice) $(dm-list --count carol)" "2 0" "marks what is older than that, but for exceptions"
ok "and all" "$examples/mark-old-read" 0s
is "$(dm-list --count)" 0 "so that nothing is left"

# digest
ok "a digest of nothing" env SENDMAIL="tee $work/mail" "$examples/digest" bob@example.org
is "$(cat mail 2>/dev/null)" "" "is not sent"
say alice "$hostile" >said
say carol "$(head -c 5000 /dev/zero | tr '\0' y)" >said
dm-conversation name -q carol "X: é \$(touch $work/code)"
dm-tail --peek >before
ok "a digest" env SENDMAIL="tee $work/mail" "$examples/digest" 'Bob <bob@example.org>'
python3 - mail >read <<'PYTHON'
import email, email.policy, json, sys
mail = email.message_from_binary_file(open(sys.argv[1], "rb"), policy=email.policy.SMTP)
print(json.dumps(dict(mail.items()) | {
    "defects": len(mail.defects), "longest": max(map(len, open(sys.argv[1]))), "body": mail.get_content()}))
PYTHON
is "$(jq -c '[.To, .Subject, .["Content-Type"], .["MIME-Version"], .defects, .longest < 100]' read)" \
  '["Bob <bob@example.org>","2 unread","text/plain; charset=\"UTF-8\"","1.0",0,true]' \
  "is a mail in the form of the standards"
like "$(jq -r .body read)" "*: 1 unread*\$(touch $work/code)*second line é*" "with the messages as they are"
like "$(jq -r .body read)" "*X: é \$(touch $work/code): 1 unread*yyyyy*" "and the names"
is "$(jq -r .body read | grep -c "$(printf '\033')")" 0 "without control characters"
is "$(dm-list --count) $(dm-tail --peek | cmp - before)" "2 " "it marks nothing"
env SENDMAIL="tee $work/mail" "$examples/digest" bob@example.org --unmuted >read
is "$(grep Subject mail | tr -d '\r')" "Subject: 1 unread" "its options are those of dm-list"
for address in '' --all "$(printf 'bob@example.org\nBcc: carol@example.org')"; do
  exits 64 "the address '$address'" "$examples/digest" "$address"
done
exits 66 "a store that is gone" env DM_STORE="$work/none" SENDMAIL="tee $work/mail2" "$examples/digest" bob@example.org
is "$(cat mail2 2>/dev/null)" "" "sends nothing"

# clip
export WAYLAND_DISPLAY=none
stand_in wl-paste <<'END'
#!/bin/sh
case $* in --list-types) cat types ;; '--type image/png') cat image ;; --no-newline) cat text ;; *) exit 1 ;; esac
END
printf '#!/bin/sh\ncat >copied\n' | stand_in wl-copy
last() { dm-tail --peek -n 1 alice | jq -c "$1"; }
echo text/plain >types
printf '%s' "$hostile" >text
ok "clip send" "$examples/clip" send alice
is "$(last .text)" "$(jq -n --arg text "$hostile" '$text')" "sends the text of the clipboard"
printf 'a\377b' >text
ok "clip send, of what is not UTF-8" "$examples/clip" send alice
is "$(last .text)" '"a�b"' "sends it mended"
printf '%s\n' text/html image/png >types
cp "$examples/photo.jpg" image
ok "clip send, of an image" "$examples/clip" send alice
is "$(last '.attachments[0] | [.kind, .name, .text]')" '["image","clipboard.jpg",null]' "sends it as an attachment"
exits 66 "a message without a text" "$examples/clip" last alice
like "$err" "clip: the last message has no text" "has nothing to copy"
printf '%s\n\n' "$hostile" | dm-send -q --as alice bob
ok "clip last" "$examples/clip" last alice
is "$(cat copied; echo .)" "$hostile
." "copies the text, to the byte"
rm bin/wl-*
stand_in xclip <<'END'
#!/bin/sh
case $* in *TARGETS) echo STRING ;; *-o) printf 'from X' ;; '-selection clipboard') cat >copied ;; *) exit 1 ;; esac
END
exits 67 "clip send NOBODY" "$examples/clip" send nobody
ok "clip send, on X11" "$examples/clip" send alice
is "$(last .text)" '"from X"' "sends the text"
printf 'to X' | "$examples/clip" copy
is "$(cat copied)" "to X" "clip copy"
exits 64 "clip of nothing" "$examples/clip" last
like "$err" "clip send CONVERSATION*" "says how to use it"

# notify: what is shown, as the arguments of notify-send, which prints its id, and later that it was clicked.
stand_in notify-send <<END
#!/bin/sh
id=\$(printf '%s\n' "\$@" | sed -n 's/^--replace-id=//p')
[ "\$id" ] || { echo >>ids; id=\$(wc -l <ids); }
mkfifo "click.\$id.\$\$"
jq -nc '\$ARGS.positional' --args -- "\$@" >>"$work/lines"
echo "\$id"
exec head -n 1 "click.\$id.\$\$"
END
stand_in terminal <<END
#!/bin/sh
jq -nc '\$ARGS.positional' --args -- "\$@" >>"$work/lines"
END
# Says when it follows.
stand_in dm-tail <<END
#!/bin/sh
"$(command -v dm-tail)" "\$@" | while IFS= read -r line; do
  case \$line in *'"caught_up"'*) echo '"caught_up"' >>"$work/lines" ;; esac
  printf '%s\n' "\$line"
done
END
say alice 'before it starts' >said
ops=$(dm-conversation create --title "<ops> &c \$(touch $work/code)" alice carol | jq -r .id)
DM_NOTIFY=all TERMINAL="$work/bin/terminal -x" follow "$examples/notify"
is "$(line)" caught_up "notify starts"
shown() { line '.[:2] == ["--app-name=dm", "--print-id"], .[2:]' | tr -d '\n'; }
body=$(jq -nr --arg text "$hostile" '$text | gsub("&"; "&amp;") | gsub("<"; "&lt;") | gsub(">"; "&gt;")
  | gsub("\\\\"; "\\\\") | gsub("[\u0000-\u001f]"; " ")')
say alice "$hostile" >said
is "$(shown)" "true$(jq -nc --arg text "$body" '["--action=default=Open", "--", "alice", $text]')" \
  "a notification, in which nothing is an option, an escape or markup"
dm-send -q --as alice -- "$ops" '-- all <i>green</i>'
is "$(shown)" "true$(jq -nc --arg title "<ops> &c \$(touch $work/code)" \
  '["--action=default=Open", "--", $title, "alice: -- all &lt;i&gt;green&lt;/i&gt;"]')" \
  "one for each conversation, with its title"
say alice -v >said
is "$(shown)" 'true["--replace-id=1","--action=default=Open","--","alice","-v"]' "which the next message replaces"
# Every call that waits for a notification is told of a click.
for call in click.1.*; do timeout 10 sh -c "echo default >$call"; done
is "$(line)" "$(jq -nc --arg id "$alice" '["-x", "-e", "dm-chat", $id]')" \
  "a click opens the conversation"
say carol 'in a muted conversation' >said
dm-send -q alice 'a message of my own'
dm-conversation title -q --as alice "$ops" quiet
dm-conversation mute -q "$ops"
dm-conversation archive -q "$ops" alice
dm-send -q --as alice "$ops" 'muted and archived'
dm-attach --as alice --name x.txt --to bob - <text | dm-send -q --as alice
is "$(shown)" 'true["--replace-id=1","--action=default=Open","--","alice","(1 attachments)"]' \
  "once; and nothing is shown that is muted, announced or your own"
leave
is "$(find . -name code)" "" "no text becomes code"
stand_in notify-send <<'END'
#!/bin/sh
[ "$*" = "--app-name=dm --print-id -- dm This is a test." ] && echo 7
END
is "$("$examples/notify" --test)" "the desktop has taken notification 7" "notify --test says whether one was shown"
exits 64 "another word" "$examples/notify" --tset

# ntfy: a server that answers 503, 403 and then 200, and prints what it takes.
cat >server <<'PYTHON'
import http.server, json
statuses = [200, 503, 200, 403]

class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = statuses.pop(0) if statuses else 200
        print(json.dumps([status, body["topic"], body["title"], body["message"], self.headers["Authorization"]]), flush=True)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b'{"id":"taken"}')

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
follow python3 server
topic="http://127.0.0.1:$(line)/phone"
is "$(NTFY_TOKEN=t "$examples/ntfy" --test "$topic") $(line)" '{"id":"taken"} [200,"phone","dm","This is a test.","Bearer t"]' \
  "ntfy --test prints the answer of the server"
NTFY_PAUSE=0 "$examples/ntfy" "$topic" 3<&- 2>said &
ntfy=$!
is "$(line)" caught_up "ntfy starts"
dm-send -q --as alice bob 'secret words'
is "$(line)" '[503,"phone","alice wrote to you","a message",null]' "a message of others is a notification without its text"
is "$(line)" '[200,"phone","alice wrote to you","a message",null]' "again, if the server could not"
kill "$ntfy"
leave
exits 1 "without a topic" "$examples/ntfy" http://127.0.0.1/

# bridge-fifo
rm bin/dm-tail
"$examples/bridge-fifo" alice fifo 3<&- 2>said &
bridge=$!
until [ -p fifo/in ]; do :; done
printf 'one\ntwo\n' >fifo/in
echo three >fifo/in
until [ "$(dm-tail alice -n 3 --peek | jq -r .text | paste -sd,)" = one,two,three ]; do :; done
is "$(dm-tail alice -n 3 --peek | jq -r .sender | paste -sd,)" bob,bob,bob "bridge-fifo sends each line"
# The stream begins some time after the start.
until grep -q ready fifo/out; do dm-send -q --as alice bob ready; done
dm-send -q --as alice bob "$(printf 'four\n2026-01-01T00:00:00Z <bob> forged \033[2J')"
until grep -q forged fifo/out; do :; done
is "$(sed '1,/ready/d; /ready/d; s/^[0-9][^ ]*Z //' fifo/out | tail -n 2)" "$(printf '<alice> four\n\t2026-01-01T00:00:00Z <bob> forged  [2J')" \
  "and writes what is said, in which nothing is a line or an escape"
kill "$bridge"
wait "$bridge" 2>/dev/null
exits 64 "bridge-fifo of nothing" "$examples/bridge-fifo" alice
done_testing
