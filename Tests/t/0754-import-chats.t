#!/bin/sh
# Forms of Slack, Signal, Apple's Messages and IRC that tools other than the usual ones write.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/import.sh"

# spoken: the texts of the lines.
spoken() { jq -r 'select(.sender) | "\(.created_at[:19]) \(.sender) \(.text // "" | @json)"' "$work/lines"; }

# Slack: blocks, attachments, reactions, edits, and files that a tool has added.
mkdir -p tool/general tool/__uploads/F0123456
printf '[{"id":"U1","name":"nia"}]' >tool/users.json
printf '[{"id":"C1","name":"general","members":["U1"]}]' >tool/channels.json
cp whatsapp/photo.jpg tool/__uploads/F0123456/boat.jpg
cat >tool/general/2022-01-01.json <<'END'
[{"type": "message", "user": "U1", "ts": "1641024000.000000", "text": "", "blocks": [{"type": "rich_text", "elements": [
  {"type": "rich_text_section", "elements": [{"type": "text", "text": "only in blocks "}, {"type": "user", "user_id": "U1"}, {"type": "emoji", "name": "boat", "unicode": "26f5"}]},
  {"type": "rich_text_list", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "one"}]}]}]}]},
 {"type": "message", "user": "U1", "ts": "1641024001.000000", "text": "look", "attachments": [{"title": "A page", "text": "about", "fallback": "x"}],
  "edited": {"user": "U1", "ts": "1"}, "reactions": [{"name": "boat", "users": ["U1", "U2"], "count": 2}]},
 {"type": "message", "user": "U1", "ts": "1641024002.000000", "text": "", "files": [{"id": "F0123456", "name": "boat.jpg"}]},
 {"type": "message", "user": 7, "ts": "1641024003.000000", "text": "x"}, {"type": "message", "ts": null}]
END
from slack tool
adds_up Slack
report "read: 5, kept: 3, left out: 2" "Slack, with blocks"
report "messages were edited; they have their last text: 1; the first: general/2022-01-01.json, message 2" "edits are counted"
report "reactions to messages are not imported: 2; the first: general/2022-01-01.json, message 2" "and reactions"
is "$(spoken)" '2022-01-01T08:00:00 nia "only in blocks @nia⛵\n• one"
2022-01-01T08:00:01 nia "look\nA page\nabout"
2022-01-01T08:00:02 nia ""' "blocks and attachments are texts"
is "$(jq -r '.attachments // empty | .[].name' "$work/lines")" boat.jpg "and files are attached"

# Slack: a channel that is in no list, and a conversation of slackdump.
mkdir -p tool/lost
printf '[{"type": "message", "user": "U1", "ts": "1641024004.000000", "text": "in no list"}]' >tool/lost/2022-01-01.json
printf '%s' '{"channel_id": "C0123456", "name": "dumped", "messages": [{"user": "U1", "ts": "1641024005.000000", "text": "question",
 "slackdump_thread_replies": [{"user": "U1", "ts": "1641024006.000000", "thread_ts": "1641024005.000000", "text": "answer"}]}]}' \
  >tool/C0123456.json
from slack tool
adds_up Slack
report "read: 8, kept: 6, left out: 2" "messages of channels that are in no list are read"
report "channels are in no list of channels; they are groups of those who wrote: 1; the first: lost" "and counted"
is "$(jq -r 'select(.text == "in no list" or .text == "question" or .text == "answer") | [.sender, .reply_to_nonce != null] | @csv' \
  "$work/lines" | paste -sd ' ')" '"nia",false "nia",false "nia",true' "and those of slackdump, with their answers"

# Telegram: the numbers of users before 2021, a poll with parts, and a name of a user that is hostile.
printf '%s' '{"name": "Old", "type": "private_group", "id": 7, "messages": [
 {"id": 1, "type": "message", "date": "2017-01-01T06:20:09.248Z", "from": "Nia", "from_id": 19, "text": "old"},
 {"id": 2, "type": "message", "date": "2017-01-01T06:21:00", "from": "Nia", "from_id": 19, "text": "",
  "poll": {"question": ["Who", {"type": "bold", "text": "?"}], "answers": [{"text": ["I"]}, {"text": "we"}]}},
 {"id": "3\nforged: 1", "type": "message", "date": null, "text": "x"}]}' >old.json
from telegram old.json --me alice
adds_up Telegram
report "read: 3, kept: 2, left out: 1" "numbers of users are read"
report "messages whose fields cannot be read left out: 1; the first: old.json, chat 1, message 3 forged: 1" \
  "an id cannot add a line to the report"
is "$(spoken)" '2017-01-01T06:20:09 nia "old"
2017-01-01T06:21:00 nia "Who?\n- I\n- we"' "and polls"

# Discord: a channel in two files, whose names are not in order, and a forwarded message.
part='{"guild": {"name": "G"}, "channel": {"id": "1", "type": "GuildTextChat", "name": "c"}, "messages": [{"type": "Default", "author": {"id": "1", "name": "nia"},'
printf '%s' "$part"' "id": "5", "timestamp": "2022-02-02T10:00:00+00:00", "content": "second", "reference": {"messageId": "4"}}]}' >'c [part 10].json'
printf '%s' "$part"' "id": "4", "timestamp": "2022-02-01T10:00:00+00:00", "content": "", "forwardedMessage": {"content": "first"}}]}' >'c [part 9].json'
from discord c*.json
report "read: 2, kept: 2, left out: 0" "a channel in two files"
is "$(spoken)" '2022-02-01T10:00:00 nia "[forwarded]\nfirst"
2022-02-02T10:00:00 nia "second"' "is in the order of its times"
is "$(jq -c 'select(.sender) | .reply_to_nonce != null' "$work/lines" | paste -sd ' ')" "false true" "with a reply to the first file"
printf '%s' '{"guild": 7, "channel": {"id": "1", "name": []}, "messages": [{"type": "Default", "author": {"id": "1", "name": "nia"}, "id": "5", "timestamp": "2022-02-02T10:00:00+00:00", "content": "one"}]}' >guild.json
from discord guild.json
report "read: 1, kept: 1, left out: 0" "a channel whose names are wrong"

# Signal: notifications of a subscription, and groups without names.
envelope='"source":"+1","sourceName":"Nia","timestamp":1700000000000,"dataMessage":{"timestamp":1700000000000,"message":"one"'
printf '%s\n' "{\"method\":\"receive\",\"params\":{\"subscription\":0,\"result\":{\"envelope\":{$envelope}}}}}" \
  "{\"envelope\":{$envelope,\"groupInfo\":{\"groupId\":\"a\"}}}}" "{\"envelope\":{$envelope,\"groupInfo\":{\"groupId\":\"b\"}}}}" >result
from signal result --me alice
adds_up Signal
report "read: 3, kept: 3, left out: 0" "envelopes in a result are read"
is "$(jq -r 'select(.is_group) | .title' "$work/lines" | sort -u | wc -l)" 2 "two groups without names have different titles"

# signal-export: calls, reactions and stickers.
mkdir -p desktop/Nia
printf '%s\n' '{"date":"2022-01-01T10:00:00","sender":"Nia","body":"Missed voice call  ","call":true}' \
  '{"date":"2022-01-01T10:00:01","sender":"Nia","body":"  ","sticker":{"emoji":"","id":"1"},"reactions":[["Me","x"]]}' >desktop/Nia/data.json
from signal desktop/Nia/data.json --me alice
report "calls left out: 1; the first: line 1" "calls are counted"
report "reactions to messages are not imported: 1; the first: line 2" "and reactions"
is "$(spoken)" '2022-01-01T10:00:01 nia "[sticker]"' "and a sticker is a message"

# Apple's Messages: a file outside of the folders of attachments.
printf '%s\n' '{"id":1,"chat_id":3,"guid":"a","sender":"+1555","text":"look","created_at":"2022-01-01T10:00:00Z","attachments":[{"original_path":"/etc/passwd"}]}' >outside
from imsg outside --me alice
report "files are outside of the folders of attachments (see --attachments); their names are in the text: 1; the first: line 1" \
  "a file outside of the folders is not attached"
is "$(spoken)" '2022-01-01T10:00:00 1555 "look\n[file passwd]"' "and named"

# Apple's Messages: a group in which one other person has written.
printf '%s\n' '{"id":1,"chat_id":3,"guid":"a","sender":"+1555","is_from_me":false,"text":"hi","created_at":"2022-01-01T10:00:00Z","is_group":true,"chat_name":"Family","participants":["+1555","+1666"],"reactions":[{"type":"love"}]}' >family
from imsg family --me alice
adds_up imsg
is "$(jq -c 'select(.type == "conversation") | [.is_group, .title, .participants]' "$work/lines")" \
  '[true,"Family",["1555","1666","alice"]]' "is a group with its name and participants"
report "reactions to messages are not imported: 1; the first: line 1" "reactions are counted"

# IRC: the stamps of HexChat, supybot, irssi with dates, dircproxy and eggdrop.
cat >'#forms.log' <<'END'
**** BEGIN LOGGING AT Fri Aug 17 12:30:00 2018
Aug 17 12:34:56 <nick>	hexchat
Aug 17 12:34:57 *	nick waves
Aug 17 12:34:58 *	bob (~b@example.org) has joined
2018-08-18T02:05:04  <nick> supybot
2018-08-18T04:05:05+02:00 <nick> zone
[2018-08-18 12:34:56] <nick> brackets
2018-08-18 19:14 <@nick> irssi
[19 Aug 08:42] <nick> dircproxy
[00:00] --- Mon Aug 20 2018
[12:34] <nick> eggdrop
[12:34] Action: nick nods
[12:35] -nick- a notice
END
from irc '#forms.log'
adds_up IRC
report "read: 13, kept: 10, left out: 3" "logs of several programs"
is "$(spoken)" '2018-08-17T12:34:56 nick "hexchat"
2018-08-17T12:34:57 nick "* nick waves"
2018-08-18T02:05:04 nick "supybot"
2018-08-18T02:05:05 nick "zone"
2018-08-18T12:34:56 nick "brackets"
2018-08-18T19:14:00 nick "irssi"
2018-08-19T08:42:00 nick "dircproxy"
2018-08-20T12:34:00 nick "eggdrop"
2018-08-20T12:34:00 nick "* nick nods"
2018-08-20T12:35:00 nick "-nick- a notice"' "have their times and texts"
imported 10 "all of them"

# energymech: the date is in the name of the file, and what is no message has three stars.
cat >'#mech_20180821.log' <<'END'
[12:34:56] *** Joins: nick (~n@example.org)
[12:34:57] <nick> energymech
[12:34:58] * nick left for lunch
[12:34:59] *** nick sets mode: +o bob
[12:35:00] -nick- a notice
[12:35:01] *** bob was kicked by nick (bye)
[12:35:02] *** nick changes topic to "x"
[12:35:03] *** nick is now known as nick_
[12:35:04] *** Quits: nick_ (Ping timeout)
END
from irc '#mech_20180821.log'
adds_up energymech
report "read: 9, kept: 3, left out: 6" "energymech"
is "$(spoken)" '2018-08-21T12:34:57 nick "energymech"
2018-08-21T12:34:58 nick "* nick left for lunch"
2018-08-21T12:35:00 nick "-nick- a notice"' "has the day of the name of the file"
is "$(jq -r 'select(.sender).conversation' "$work/lines" | sort -u)" '+#mech' "and the name of the channel"

# What mIRC says itself, addresses after nicks, clocks of twelve hours, Konversation, and notices of WeeChat.
cat >'#more.log' <<'END'
[Monday 20 August 2018] [23:55:28] <nick>	konversation
[1:05pm] * Disconnected (Connection reset)
[1:06pm] * Joins: bob (~b@example.org)
[1:07pm] * Set by bob on Mon Aug 20
[1:08pm] * bob sets quiet on *!*@*
[2018-08-21 1:09 PM] <nick!~n@example.org> an address
[2018-08-21 1:10 PM] * nick!~n@example.com nods
2018-08-21 13:11:00	--	Notice(nick): a notice
2018-08-21 13:12:00 <a bridge> spaces
[13:13] who: knows
END
from irc '#more.log'
adds_up "more of IRC"
report "read: 10, kept: 5, left out: 5" "events that are written as actions are left out"
report "lines in no known form left out: 1; the first: line 10" "and counted apart from lines of an unknown form"
is "$(spoken)" '2018-08-20T23:55:28 nick "konversation"
2018-08-21T13:09:00 nick "an address"
2018-08-21T13:10:00 nick "* nick nods"
2018-08-21T13:11:00 nick "-nick- a notice"
2018-08-21T13:12:00 a-bridge "spaces"' "a nick has no address"

# Archives of channels with a folder for each day.
mkdir -p 2018/08/22
printf '=== bob is now known as rob\n[00:01] <nick> a folder\n' >'2018/08/22/#day.txt'
from irc '2018/08/22/#day.txt'
report "lines that nobody has said left out: 1; the first: line 1" "a change of a nick is left out"
is "$(spoken)" '2018-08-22T00:01:00 nick "a folder"' "the folders say the day"

# Years at both ends of the calendar.
printf '%s 00:00 <nick> x\n' 0001-01-01 9999-12-31 2020-01-01 >'#ends.log'
for zone in UTC Asia/Tokyo America/New_York; do
  exits 0 "years 1 and 9999 in $zone" env TZ=$zone "$import/irc" '#ends.log'
  is "$(printf %s "$err" | grep -c Traceback)" 0 "have no trace"
done

# Dates without a year over two years, one of which has a 29th of February.
printf '[%s 12:00] <nick> x\n' '14 Jan' '29 Feb' '27 Nov' '03 Feb' >'#years.log'
touch -d 2019-06-01 '#years.log'
from irc '#years.log'
is "$(jq -r 'select(.sender).created_at[:10]' "$work/lines" | paste -sd ' ')" '2016-01-14 2016-02-29 2016-11-27 2017-02-03' \
  "dates without a year end before the time of the file"

# Two chats of the same two people, one of which is earlier; a clock that is wrong; a channel whose members nobody knows.
line='{"id":%d,"chat_id":%d,"guid":"%d","sender":"+1777","text":"%s","created_at":"%s-01-01T10:00:00Z"}\n'
{
  printf "$line" 1 1 1 new 2022 2 2 2 old 2020 3 1 3 future 9000 4 2 4 later 2021
} >two.jsonl
from imsg two.jsonl --me alice
report "chats have the same two people as another one, and became groups: 1; the first: 1777 and alice" "a second chat is a group"
report "messages are of the future, and got the time of the one before: 1; the first: line 3" "a time of the future is not kept"
imported 4 "both"
printf '[{"type":"message","user":"U1","ts":"1641024007.000000","text":"x"}]' >tool/general/2022-01-01.json
printf '[{"id":"C1","name":"general","members":null}]' >tool/channels.json
from slack tool
imported 4 "a channel without a list of members"

# Hostile files: each importer says what it left out, and ends by itself.
python3 - <<'END'
import os
open('deep', 'w').write('[' * 100000)
open('empty', 'w')
open('long', 'w').write('{"x":"' + 'x' * 20000000 + '"}\n')
open('random', 'wb').write(os.urandom(10000))
open('wrong', 'w').write('{"messages": [1, null, {}, {"id": NaN, "type": []}], "participants": 7, "channel": {"id": 1e999}}')
END
for script in discord imsg instagram irc mail matrix messenger signal telegram whatsapp; do
  for file in deep empty long random wrong; do
    exits 65 "$script of a file that is $file" sh -c 'ulimit -v 2000000; exec "$1" "$2" --files unpacked' sh "$import/$script" $file
    is "$(printf %s "$err" | grep -c Traceback)" 0 "without a trace"
  done
done
is "$(find unpacked 2>/dev/null | wc -l)" 0 "and nothing is written"
truncate -s 300M large
for script in imsg irc signal; do
  exits 65 "$script of a file of 300 MB" "$import/$script" large
  like "$err" "*$script: files of more than 256 MiB, which can be split, left out: 1; the first: large*" "says so"
done
mkfifo pipe
exits 66 "a pipe in place of a file" timeout 20 "$import/telegram" pipe
done_testing
