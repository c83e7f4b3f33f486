#!/bin/sh
# The webhooks of the examples: with real requests, a receiver that fails, and kills.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
people
cd "$work" || exit 1
export DM_USER=bob WEBHOOK_PAUSE=0
hostile="-d @/etc/passwd \$(touch $work/code) \`touch $work/code\` '\"; touch $work/code; \\n %s $(printf '\033')[2J
second line é	end"

# A receiver that answers with the given statuses, then with 200, and prints a line for each request. It keeps a request
# whose status is 0 until it is killed. PORT 0 is a free one; its first line is the port.
cat >receiver <<'PYTHON'
import base64, hashlib, hmac, json, signal, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
statuses = [int(word) for word in sys.argv[2:]]

def standard(headers, body):
    """Whether the signature is that of Standard Webhooks, by the secret of the specification's examples."""
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    signed = ".".join([headers["webhook-id"], headers["webhook-timestamp"], ""]).encode() + body
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, "sha256").digest()).decode()
    return headers.get("webhook-signature") == wanted and abs(time.time() - int(headers["webhook-timestamp"])) < 60

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = statuses.pop(0) if statuses else 200
        wanted = "sha256=" + hmac.new(b"secret '", body, hashlib.sha256).hexdigest()
        print(json.dumps({
            "status": status, "key": self.headers["Idempotency-Key"], "type": self.headers["Content-Type"],
            "id": self.headers["webhook-id"], "signed": standard(self.headers, body),
            "signature": self.headers.get("X-Hub-Signature-256") == wanted, "bytes": len(body),
            "body": json.loads(body) if len(body) < 2000 else None, "escaped": body.count(b"\\u001b"),
        }), flush=True)
        if status == 0:
            signal.pause()
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
receive() { follow python3 receiver "$@"; port=$(line); }
# post: posts what waits, and ends.
post() {
  dm-tail --others --consumer hook | timeout 60 "$examples/webhook-out" "http://127.0.0.1:$port/hook?a=1&b" 2>said |
    dm-send -q --consumer hook
}
waiting() { dm-tail --others --consumer hook --events message | jq -r 'select(.type == "message").text'; }

dm-tail -q --consumer hook --cursor now
id=$(dm-send --as alice -- bob "$hostile" | jq -r .id)
receive 0
post
request=$(line)
field() { printf '%s\n' "$request" | jq -c "$1"; }
is "$(field '[.status, .key, .type, .signature]')" "[200,\"$id\",\"application/json\",false]" "a message is posted"
is "$(field '[.body.type, .body.sender, .body.text]')" "$(jq -nc --arg text "$hostile" '["message", "alice", $text]')" \
  "as its record"
is "$(field .escaped)" 1 "in the bytes that dm-tail prints"
is "$(find . -name code)" "" "and none of it becomes code"
is "$(waiting)$(cat said)" "" "then it is acknowledged, in silence"
dm-send -q bob 'a note of my own'
dm-send -q --as alice bob signed
WEBHOOK_SECRET="secret '" post
is "$(line '[.body.text, .signature]')" '["signed",true]' "own messages are not posted, and a secret signs"
id=$(dm-send --as alice bob 'signed, too' | jq -r .id)
WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw post
is "$(line '[.id, .key, .signed]')" "[\"$id\",\"$id\",true]" "as Standard Webhooks do"
head -c 65000 /dev/zero | tr '\0' '\001' | dm-send -q --as alice bob
WEBHOOK_SECRET="secret '" post
is "$(line '[.bytes > 390000, .signature]')" '[true,true]' "the longest line, too"
leave

# A receiver in trouble.
receive 0 503 500 429 408 200 404 200 301 200
for text in first second third fourth; do dm-send -q --as alice bob "$text"; done
post
is "$(for _ in 1 2 3 4 5 6 7 8 9; do line '"\(.status) \(.body.text)"'; done | tr '\n' ',')" \
  "503 first,500 first,429 first,408 first,200 first,404 second,200 third,301 fourth,200 fourth," \
  "what may succeed later is tried again, in order, and what cannot is skipped"
refused=$(dm-tail --peek alice -n 3 | jq -r 'select(.text == "second").id')
is "$(grep -c 'trying again in 0 s' said) $(grep skipped said)" \
  "5 webhook-out: message $refused has status 404; it is skipped" "both are said"
is "$(waiting)" "" "and all are acknowledged"
leave

# A receiver that is not there any more.
dm-send -q --as alice bob 'for nobody'
WEBHOOK_PATIENCE=0 post
is "$(sed 's/message [^ ]*/message/' said)$(waiting)" "webhook-out: message has status 000; it is skipped" \
  "after the time of WEBHOOK_PATIENCE, a message is skipped"

# A receiver that is not there yet.
dm-send -q --as alice bob 'to nobody'
mkfifo log
dm-tail --others --consumer hook | timeout 60 "$examples/webhook-out" "http://127.0.0.1:$port/" 2>log |
  dm-send -q --consumer hook &
is "$(timeout 30 head -n 1 log | sed 's/message [^ ]*/message/')" \
  "webhook-out: message has status 000; trying again in 0 s" "without a receiver it says so"
wait
receive "$port"
post
is "$(line .body.text)" "to nobody" "and when it was started again, it posts the message"
leave

# Killed while the receiver works.
receive 0 0 200
printf '#!/bin/sh\necho $$ >"%s/killed"\nexec "%s/webhook-out" "$@"\n' "$work" "$examples" >webhook-out
chmod +x webhook-out
dm-send -q --as alice bob 'posted twice'
RUN_BOT_PAUSE=0 "$examples/run-bot" hook -- "$work/webhook-out" "http://127.0.0.1:$port/" 3<&- 2>said &
bot=$!
key=$(line .key)
kill -9 "$(cat killed)"
is "$(line .key)" "$key" "a message whose answer is lost comes again, with the same key"
dm-send -q --as alice bob next
is "$(line .body.text)" next "and then the next one"
kill "$bot"
wait "$bot" 2>/dev/null
leave
post
is "$(waiting)" "" "nothing is left"

# In.
export DM_USER=carol
exits 1 "without a token nothing is received" env WEBHOOK_TOKEN= "$examples/webhook-in" 0
follow env WEBHOOK_TOKEN="a b'\$c" "$examples/webhook-in" 0
IFS= read -r url <&3
# send [OPTION-OF-CURL]...: standard input is the body. The status and the record of the answer.
send() {
  curl -s -m 30 -w '%{http_code} ' -o answer -H "Authorization:${token:+ Bearer $token}" --data-binary @- "$@" "$url"
  jq -c "${shown:-[.type, .code]}" answer
}
json() { jq -nc --arg to "$1" --arg text "$2" --arg nonce "$3" '{conversation: $to, text: $text, nonce: $nonce}'; }
shown='[.type, .text, .nonce, .duplicate]'
token="a b'\$c"
is "$(json alice "$hostile" n1 | send)" "201 $(jq -nc --arg text "$hostile" '["message", $text, "n1", null]')" \
  "what is posted is sent"
is "$(json alice "$hostile" n1 | send)" "200 $(jq -nc --arg text "$hostile" '["message", $text, "n1", true]')" \
  "once, however often it comes"
is "$(dm-tail alice --peek | jq -r .nonce)" n1 "indeed"
is "$(find . -name code)" "" "and none of it becomes code"
shown=
is "$(json alice other n1 | send)" '409 ["error","nonce_conflict"]' "a nonce means one message"
is "$(json nobody hi n2 | send)" '404 ["error","unknown_user"]' "nobody is not there"
is "$(json --as=alice hi n2 | send)" '404 ["error","unknown_user"]' "nor is an option"
is "$(json alice '' n2 | send)" '400 ["error","empty_text"]' "an empty text"
is "$(jq -nc '{conversation: "alice", text: ("x" * 70000), nonce: "n2"}' | send)" '413 ["error","text_too_long"]' \
  "a long one"
is "$(dm-conversation create --as alice --title ops bob | jq -r '{conversation: .id, text: "hi", nonce: "n"}' | send)" \
  '403 ["error","not_allowed"]' "a group of others"
for body in '' '[]' '7' '{' 'null' '{"conversation":"alice","text":"x"}' \
  '{"conversation":"alice","text":["x"],"nonce":"n"}'; do
  is "$(printf '%s' "$body" | send)" '400 ["error","refused"]' "the body '$body'"
done
is "$(printf '{"conversation":"alice","text":"\\ud83d","nonce":"n3"}' | send)" '400 ["error","malformed_line"]' \
  "half a character"
is "$(jq -nc '{conversation: "alice", text: "hi", nonce: "n4", sender: "bob", ack: "x", attachments: ["y"]}' | send)" \
  '201 ["message",null]' "other fields are left out"
is "$(json alice hi n5 | token=wrong send) $(json alice hi n5 | token= send)" \
  '401 ["error","refused"] 401 ["error","refused"]' "without the token nothing is sent"
is "$(head -c 2000000 /dev/zero | send)" '413 ["error","refused"]' "a body that is too large"
is "$(json alice hi n6 | send -H "Content-Length: $(printf '%05000d' 1)")" '413 ["error","refused"]' \
  "a length of 5,000 digits is too much"
is "$(json alice hi n6 | send -H 'Content-Length:' -H 'Transfer-Encoding: chunked')" '411 ["error","refused"]' \
  "a body of unknown length"
leave

# Signed.
export WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
follow "$examples/webhook-in" 0
IFS= read -r url <&3
# signed ID TIME BODY: sends a body with its signature.
signed() {
  signature=$(printf '%s' "$1.$2.$3" | python3 -c 'import base64, hmac, sys
key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
print("v1," + base64.b64encode(hmac.new(key, sys.stdin.buffer.read(), "sha256").digest()).decode())')
  printf '%s' "${4-$3}" | token='' send -H "webhook-id: $1" -H "webhook-timestamp: $2" \
    -H "webhook-signature: v1,AAAA $signature"
}
body='{"conversation":"alice","text":"signed"}' now=$(date +%s)
is "$(shown='[.type, .nonce]' signed s1 "$now" "$body")" '201 ["message","s1"]' "a signed body is sent, with the id as its nonce"
is "$(shown='[.type, .duplicate]' signed s1 "$now" "$body")" '200 ["message",true]' "once"
is "$(signed s2 $((now - 400)) "$body") $(signed s2 $((now + 400)) "$body") $(signed s2 soon "$body")" \
  '401 ["error","refused"] 401 ["error","refused"] 401 ["error","refused"]' "not if it is old, of the future, or without a time"
is "$(signed s2 "$now" "$body" '{"conversation":"alice","text":"other"}')" '401 ["error","refused"]' "another body is refused"
is "$(printf '%s' "$body" | send) $(printf '%s' "$body" | send -H 'webhook-id: s3')" \
  '401 ["error","refused"] 401 ["error","refused"]' "so is one without a signature, even with a token"
unset WEBHOOK_SECRET
leave
follow env WEBHOOK_TOKEN="a b'\$c" "$examples/webhook-in" 0
IFS= read -r url <&3
mv store away
echo 'no store' >store
is "$(json alice hi n7 | send)" '503 ["error","refused"]' "a store that cannot be used"
rm store
mv away store
is "$(dm-tail alice --peek | wc -l)" 3 "nothing else was sent"
leave
done_testing
