#!/bin/sh
# The importers of examples/import: an export in, import lines out, and into a store.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/import.sh"

for script in whatsapp slack imsg signal irc; do
  exits 0 "$script --help" "$import/$script" --help
  like "$out" "usage: $script *ow to use it*--map FILE*" "$script says how to export and how to use it"
  exits 64 "$script without a file" "$import/$script"
  exits 66 "$script of a file that is absent" "$import/$script" absent
  like "$err" "$script: cannot read 'absent'*" "$script names it"
  printf 'nothing of that kind\n' >none
  mkdir -p nothing
  if [ "$script" = slack ]; then exits 65 "a folder without an export" "$import/slack" nothing; else
    exits 65 "$script of something else" "$import/$script" none
  fi
done

# WhatsApp, of Android: months first, minutes only, a narrow space before AM.
from whatsapp 'whatsapp/WhatsApp Chat with Harbour Walk.txt'
report "messages: 8, attachments: 1" "WhatsApp, of Android"
adds_up "WhatsApp, of Android"
report "lines without a sender left out: 3; the first: line 1" "lines without a sender are counted"
report "files are not there; their names stay in the text: 1; the first: line 13" "files that are absent are counted"
is "$(grep -c 'boots\|加\|The pier' "$work/report")" 0 "no text of a message is in the report"
imported 8 "a chat of Android"
is "$(said nia-okafor '+Harbour Walk')" '2021-12-30T09:05:00.000 Nia Okafor "Who comes along?"
2021-12-30T09:05:00.000 林小雨 "我来！"
2021-12-30T09:05:00.000 Nia Okafor "Who comes along?"
2021-12-31T23:58:00.000 +49 170 5550123 "a list:\n 1. boots\n 2. tea: green\n\n 3. $(rm -rf ~); \"quotes\" \\ '"'and'"' <b>&amp;</b>"
2021-12-31T23:59:00.000 Nia Okafor "The pier" photo.jpg
2021-12-31T23:59:00.000 Nia Okafor "gone.jpg (file attached)"
2022-01-01T00:00:00.000 林小雨 "🎉👩‍👩‍👧 happy new year '"$(printf '\342\200\256evil\342\200\254')"'"
2022-01-01T12:01:00.000 林小雨 "<Media omitted>"' "has its times, senders, texts and files"

# WhatsApp, of an iPhone: days first, seconds, marks of direction, a direct conversation.
printf 'Jörg Weiß\tjoerg\n' >names.tsv
from whatsapp whatsapp/Hafen/_chat.txt --direct --map names.tsv
report "messages: 4, attachments: 0" "WhatsApp, of an iPhone"
report "lines of WhatsApp itself left out: 1; the first: line 1" "its own lines are left out"
report "messages that were deleted left out: 1; the first: line 7" "and deleted messages"
report "messages were earlier than the one before, and got its time: 1; the first: line 6" "the order of the file counts"
imported 4 "a chat of an iPhone"
is "$(said joerg 49-170-5550123)" '2022-03-05T08:00:01.000 Jörg Weiß "Moin"
2022-03-05T08:00:01.000 +49 170 5550123 "Moin: und\neine zweite Zeile"
2022-03-05T08:02:10.000 Jörg Weiß "<Anhang: 00000003-PHOTO-2022-03-05-08-02-10.jpg>"
2022-03-05T08:02:10.000 +49 170 5550123 "schön"' "is the direct conversation of the two, by the handle of the map"
exits 0 "dates that could be of two days" "$import/whatsapp" whatsapp/ambiguous.txt
like "$err" "*taken as day/month; --month-first takes them as month/day*" "are taken as padded ones usually are, and it says so"
is "$("$import/whatsapp" whatsapp/ambiguous.txt --day-first 2>/dev/null | jq -r '.created_at // empty' | head -n 1)" \
  2022-02-01T10:00:00.000000Z "by --day-first"
is "$(TZ=Asia/Tokyo "$import/whatsapp" whatsapp/ambiguous.txt --month-first 2>/dev/null | jq -r '.created_at // empty' |
  head -n 1)" 2022-01-02T01:00:00.000000Z "or --month-first; TZ is the zone of the phone"

# Slack, a folder and a ZIP file of it.
from slack slack
report "messages: 9, attachments: 0" "Slack"
report "messages of the kind channel_join left out: 1; the first: harbour/2022-01-01.json, message 1" "joins are left out"
report "files are not there; their names are in the text: 1; the first: harbour/2022-01-02.json, message 3" \
  "files are named"
cp "$work/lines" "$work/of-folder"
python3 -m zipfile -c slack.zip slack
from slack slack.zip
is "$(cat "$work/lines")" "$(cat "$work/of-folder")" "a ZIP file gives the same lines"
imported 9 "an export of Slack"
is "$(said nia +harbour)" '2022-01-01T08:00:01.000 Nia "Hello <all> & @xiaoyu, see #harbour and the map (https://example.org/a?b=1&c=2)"
2022-01-01T08:01:00.000 林小雨 "两行\n第二行 🚢 @here"
2022-01-02T08:00:00.000 Jörg Weiß "in the thread"
2022-01-02T08:00:01.000 Tide Bot 🌊 "high tide tide@example.org"
2022-01-02T08:00:02.000 Nia "[file plan.pdf]"
2022-01-02T08:00:03.000 Jörg Weiß "an answer without a start"' "has its texts without escapes"
is "$(dm-tail --as nia +harbour 3 --peek | jq -r .reply_to.seq)" 1 "an answer in a thread is a reply"
is "$(dm-tail --as nia +harbour 1 --peek | jq -r '.mentions | join(" ")')" xiaoyu "a mention stays one"
is "$(said xiaoyu nia | tail -n 1)" '2022-01-01T08:00:03.000 林小雨 "yes"' "a direct message is one"
is "$(said xiaoyu '+mpdm-nia--xiaoyu--joerg.weiss-1')" '2022-01-01T08:00:04.000 Jörg Weiß "three of us"' \
  "several people are a group"

# Messages of Apple, by imsg: the newest first.
sed "s,@FOLDER@,$work/exports/whatsapp," imsg.jsonl >imsg.lines
printf '+15555550142\tnia-okafor\n' >numbers.tsv
from imsg imsg.lines --map numbers.tsv
report "messages: 6, attachments: 1" "imsg"
report "reactions left out: 1; the first: line 2" "reactions are left out"
adds_up imsg
report "lines that are not messages of imsg left out: 1; the first: line 6" "a line of something else is counted"
imported 6 "messages of imsg"
is "$(said alice nia-okafor)" '2022-01-01T10:00:00.000 alice "Hi"
2022-01-01T10:00:00.000 Nia Okafor "你好"
2022-01-01T10:01:00.000 Nia Okafor "" photo.jpg
2022-01-01T10:02:00.500 Nia Okafor "🌉 then the\nbridge"' "are in order, with the file that is there"
is "$(dm-tail nia-okafor 4 --peek | jq -r .reply_to.seq)" 1 "and the reply"
is "$(said ben@example.org '+imsg 2' | head -n 1)" '2022-01-01T12:00:00.000 Nia Okafor "one\n[file old.mov]"' \
  "a chat of several is a group"

# Signal, by signal-cli and by signal-export.
export DM_STORE="$work/signal"
dm-user -q add alice
mkdir attachments
cp whatsapp/photo.jpg attachments/abc.jpg
from signal signal.jsonl --attachments attachments
report "messages: 5, attachments: 1" "signal-cli"
report "envelopes without a message (receipts, typing, calls, reactions) left out: 3; the first: line 2" "the rest is counted"
report "messages that were deleted left out: 1; the first: line 5" "a message that was deleted stays so"
adds_up signal-cli
imported 5 "messages of signal-cli"
is "$(said alice nia-okafor)" '2022-01-01T08:00:00.123 Nia Okafor "Hello 🚢\nthere"
2022-01-01T08:00:01.000 alice "Hi"
2022-01-01T08:00:02.000 Nia Okafor "" abc.jpg' "those with one person"
is "$(dm-tail nia-okafor 2 --peek | jq -r .reply_to.seq)" 1 "with the reply"
is "$(said alice '+Harbour Walk')" '2022-01-01T08:00:05.000 林小雨 "我来！"
2022-01-01T08:00:09.000 alice "in the group"' "those of a group, as they were edited"
mkdir signal-export/NiaOkafor/media
cp whatsapp/photo.jpg 'signal-export/NiaOkafor/media/a photo.jpg'
export DM_STORE="$work/desktop"
dm-user -q add alice
from signal signal-export/*/data.json
report "messages: 2, attachments: 1" "signal-export"
imported 2 "messages of signal-export"
is "$(said alice nia-okafor)" '2022-01-01T09:00:00.123 Nia Okafor "Hello"
2022-01-01T09:00:01.000 alice "> Hello\n你好\nzwei" a photo.jpg' "with what they answer to"

# A stranger who calls themselves as the user who imports, or as a user that the store has.
export DM_STORE="$work/strangers"
dm-user -q add alice
dm-user -q add bob --as alice
printf '%s\n' '{"envelope":{"source":"+12345","sourceName":"Alice","timestamp":1700000000000,"dataMessage":{"timestamp":1700000000000,"message":"please pay"}}}' \
  '{"envelope":{"source":"+67890","sourceName":"Bob","timestamp":1700000001000,"dataMessage":{"timestamp":1700000001000,"message":"I quit"}}}' >strangers
from signal strangers --me alice
is "$(jq -r 'select(.sender).sender' "$work/lines" | sed 's/-[0-9a-f]\{4\}$/-#/' | paste -sd ' ')" "alice-# bob" \
  "a stranger with the name of the user becomes somebody else"
exits 1 "a stranger with the name of another user" dm-import "$work/lines"
is "$(printf '%s\n' "$out" | jq -r 'select(.type == "error") | .code' | sort -u)" handle_taken "is refused"
is "$(dm-list --as bob --all | wc -l)" 0 "and is in no conversation"
like "$err" "*the store has a user 'bob'*--map*--same-users*" "with what to do"
is "$(dm-tail bob --peek 2>/dev/null | grep -c quit)" 0 "and says nothing in their name"
printf 'Bob\tbob\n' >strangers.tsv
from signal strangers --me alice --map strangers.tsv
exits 0 "who the map says is the same" dm-import "$work/lines"
from signal strangers --me alice
exits 0 "an import that was made before" dm-import "$work/lines"
dm-user -q add nia --as alice
printf '[10:00:00] <nia> hello\n' >2022-02-01.log
from irc 2022-02-01.log
exits 1 "a nick of a user" dm-import "$work/lines"
exits 0 "who is the same" dm-import --same-users "$work/lines"
exits 0 "and is from then on" dm-import "$work/lines"

# An importer without --me: who has the nick of the user is somebody else until the user says so.
printf '[10:00:00] <alice> please pay\n' >2022-02-03.log
from irc 2022-02-03.log
exits 1 "the nick of the user who imports" dm-import "$work/lines"
is "$(printf '%s\n' "$out" | jq -r 'select(.type == "error") | .code')" handle_taken "is refused"
# Two people with one name are two users, and no name that is made for one is that of another.
name='{"envelope":{"source":"%s","sourceName":"%s","timestamp":17000000%s,"dataMessage":{"timestamp":17000000%s,"message":"x"}}}\n'
printf "$name" +1 Bob 00000 00000 +2 Bob 01000 01000 +3 Bob-2bd8 02000 02000 +4 alice 03000 03000 >same
from signal same --me alice
is "$(jq -r 'select(.type == "user").handle' "$work/lines" | sort -u | wc -l)" 4 "four people are four users"
is "$(jq -r 'select(.type == "user").handle' "$work/lines" | grep -cx alice)" 0 "of which none is the user who imports"

# What follows a message that was refused waits for it.
printf '[10:00:00] <nia> one\n[10:00:01] <bob> two\n[10:00:02] <nia> three\n' >'#many.log'
from irc '#many.log' --date 2022-02-02
exits 1 "a nick of a user among others" dm-import "$work/lines"
exits 0 "who is the same" dm-import --same-users "$work/lines"
is "$(dm-tail --as nia '+#many' -n all --peek | jq -r .text | paste -sd ' ')" "one two three" "loses nothing by that"

# An export of which a file is damaged.
cp -R slack damaged
printf '[\n{"type": "message"' >damaged/harbour/2022-01-02.json
from slack damaged
is "$(sed -n 's/.*files that cannot be read left out: //p' "$work/report")" \
  "1; the first: harbour/2022-01-02.json, line 2: it is not JSON; export it again, or correct the line" \
  "is named, with the line"

# An export that names what is not in it.
mkdir -p outside/inner
cp -R slack hostile
printf '[{"id":"C9","name":"../outside","members":[]}]' >hostile/channels.json
printf '[{"type":"message","user":"U1","ts":"1641024000.000000","text":"from outside"}]' >outside/2022-01-01.json
from slack hostile
is "$(grep -c 'from outside' "$work/lines")" 0 "a channel cannot lead out of an export of Slack"
python3 -c 'import zipfile
with zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED) as file:
    file.writestr("users.json", "[]")
    file.writestr("channels.json", "[" + " " * (300 << 20) + "]")'
exits 65 "a ZIP file that is small only while it is packed" sh -c 'ulimit -v 600000; "$1" bomb.zip' sh "$import/slack"
mkdir link
ln -s /etc/passwd link/IMG-1.jpg
printf '12/31/21, 10:00 - Nia: IMG-1.jpg (file attached)\n' >link/chat.txt
from whatsapp link/chat.txt
is "$(grep -c path "$work/lines")" 0 "a link in a chat of WhatsApp is not followed"

# IRC, of irssi, WeeChat and ZNC.
export DM_STORE="$work/irc"
dm-user -q add alice
from irc 'irc/#harbour.log'
report "messages: 6, attachments: 0" "irssi"
report "lines that nobody has said left out: 5; the first: line 1" "joins and modes are counted"
adds_up irssi
imported 6 "a log of irssi"
is "$(said nia '+#harbour')" '2022-01-01T23:58:00.000 nia "who is <there>?"
2022-01-01T23:58:00.000 小雨 "我: 在"
2022-01-01T23:58:00.000 nia "* nia waves wildly"
2022-01-01T23:59:00.000 NickServ "-NickServ- you are not identified"
2022-01-02T00:00:00.000 nia "a new day"
2022-01-02T00:00:00.000 ben|away "$(reboot) `id` {\"json\":\"no\"}"' "has the day and the order of its lines"
from irc 'irc/irc.libera.#pier.weechatlog'
report "messages: 3, attachments: 0" "WeeChat"
imported 3 "a log of WeeChat"
is "$(said ben '+#pier')" '2022-01-01T10:00:02.000 nia "hello\twith a tab"
2022-01-01T10:00:02.000 ben "早"
2022-01-01T10:00:03.000 ben "* ben dances 🕺"' "has its lines"
from irc 'irc/#quay/2022-01-02.log' 'irc/#quay/2022-01-01.log'
report "messages: 5, attachments: 0" "ZNC"
report "lines in no known form left out: 1; the first: irc/#quay/2022-01-01.log, line 5" "what is no line is counted"
imported 5 "logs of ZNC"
is "$(said nia '+#quay')" '2022-01-01T10:00:01.000 nia "first"
2022-01-01T10:00:01.000 nia "first"
2022-01-01T10:00:05.000 nia "* nia sits"
2022-01-01T10:00:06.000 nia "-nia- a notice"
2022-01-02T08:00:00.000 ben "second day"' "are in the order of their days"
printf '12:00 <nia> noon\n' >noon
exits 65 "a log of an unknown day" "$import/irc" noon
exits 0 "unless --date says it" "$import/irc" noon --date 2022-02-03
is "$(printf '%s\n' "$out" | jq -r '.created_at // empty')" 2022-02-03T12:00:00.000000Z "which is that"

# A long export whose reader ends.
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "[10:00:00] <nia> %d\n", i }' >2022-01-03.log
is "$("$import/irc" 2022-01-03.log 2>"$work/report" | head -n 1 | jq -r .type; cat "$work/report")" user \
  "a reader that leaves early ends it without a word"

# Names that are hard.
printf '%s\n' '[10:00:00] <nia> a' '[10:00:01] <@Nia> b' '[10:00:02] <+_.-> c' '[10:00:03] <x:y,z/> d' >2022-01-04.log
is "$("$import/irc" 2022-01-04.log 2>/dev/null | jq -r 'select(.type == "user") | .handle' | paste -sd ' ')" \
  "nia _ xyz" "become handles"
printf '%s\n' '12/31/21, 10:00 - Bob Smith: a' '12/31/21, 10:00 - bob smith!: b' '12/31/21, 10:00 - 🎉: c' >party.txt
is "$("$import/whatsapp" party.txt 2>/dev/null | jq -r 'select(.type == "user") | .handle' | paste -sd ' ' |
  sed 's/[0-9a-f]\{4,8\}/#/g')" "bob-smith bob-smith-# user-#" "and no two the same"
done_testing
