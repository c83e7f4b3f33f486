#!/bin/sh
# Telegram, Discord, Matrix, Messenger, Instagram and mail: an export in, import lines out, and into a store.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/import.sh"

for script in telegram discord matrix messenger instagram mail; do
  exits 0 "$script --help" "$import/$script" --help
  like "$out" "usage: $script *ow to use it*--map FILE*" "$script says how to use it"
  exits 66 "$script of a file that is absent" "$import/$script" absent
  printf 'nothing of that kind\n' >none
  exits 65 "$script of something else" "$import/$script" none
done

# Telegram: an account with a direct chat, a group and the user's own notes.
mkdir -p telegram/photos
cp whatsapp/photo.jpg telegram/photos/photo_1.jpg
cat >telegram/result.json <<'END'
{"about": "x", "personal_information": {"user_id": 1, "first_name": "Alice"}, "chats": {"about": "x", "list": [
 {"name": "Nia Okafor", "type": "personal_chat", "id": 2, "messages": [
  {"id": 1, "type": "message", "date": "2022-01-01T10:00:00", "date_unixtime": "1641031200", "from": "Nia Okafor",
   "from_id": "user2", "text": ["see ", {"type": "text_link", "text": "the map", "href": "https://example.org/"}, "!"]},
  {"id": 2, "type": "message", "date_unixtime": "1641031260", "from": "Alice", "from_id": "user1", "text": "hi", "reply_to_message_id": 1,
   "edited": "2022-01-01T10:05:00", "reactions": [{"type": "emoji", "count": 2, "emoji": "👍"}]},
  {"id": 3, "type": "message", "date_unixtime": "1641031320", "from": "Nia Okafor", "from_id": "user2", "text": "",
   "photo": "photos/photo_1.jpg", "forwarded_from": "Zoe"},
  {"id": 4, "type": "message", "date_unixtime": "1641031320", "from": "Nia Okafor", "from_id": "user2", "text": "",
   "file": "(File not included. Change data exporting settings to download.)", "file_name": "plan.pdf"},
  {"id": 5, "type": "service", "date_unixtime": "1641031380", "actor": "Alice", "actor_id": "user1", "action": "phone_call", "text": ""},
  {"id": 6, "type": "message", "date_unixtime": "NaN", "from_id": "user2", "text": "x"},
  {"id": 7, "type": "message", "date_unixtime": "1641031390", "from_id": "user2", "text": {"x": 1}},
  {"id": 8, "type": "message", "date_unixtime": "1641031390", "from": "Nia Okafor", "from_id": "user2", "text": "", "photo": "../../../etc/passwd"}]},
 {"name": "Harbour", "type": "private_supergroup", "id": 3, "messages": [
  {"id": 1, "type": "message", "date_unixtime": "1641031200", "from": "Ben", "from_id": "user4", "text": "one"},
  {"id": 2, "type": "message", "date_unixtime": "1641031201", "from": "Ben", "from_id": "user5", "text": "another Ben"},
  {"id": 3, "type": "message", "date_unixtime": "1641031202", "from": null, "from_id": "user6", "text": "gone"}]},
 {"type": "saved_messages", "id": 1, "messages": [
  {"id": 9, "type": "message", "date_unixtime": "1641031200", "from": "Alice", "from_id": "user1", "text": "a note"}]}, 7]}}
END
from telegram telegram --map /dev/null
adds_up Telegram
report "read: 12, kept: 9, left out: 3" "Telegram, an account"
report "service messages (phone_call) left out: 1; the first: result.json, chat 1, message 5" "calls are counted"
report "messages whose fields cannot be read left out: 2; the first: result.json, chat 1, message 6" "wrong fields are counted"
report "reactions to messages are not imported: 2; the first: result.json, chat 1, message 2" "reactions are counted"
imported 9 "an account of Telegram"
is "$(said alice nia-okafor | cut -d ' ' -f 2-)" 'Nia Okafor "see the map (https://example.org/)!"
alice "hi"
Nia Okafor "[forwarded from Zoe]" photo_1.jpg
Nia Okafor "[file plan.pdf]"
Nia Okafor "[file passwd]"' "a direct chat"
is "$(dm-tail nia-okafor 2 --peek | jq -r .reply_to.seq)" 1 "with the reply"
is "$(said ben +Harbour | cut -d ' ' -f 2- | paste -sd ' ')" 'Ben "one" Ben "another Ben" user6 "gone"' "two people of one name are two"
is "$(said alice alice | cut -d ' ' -f 2-)" 'alice "a note"' "own notes"
cp "$work/lines" "$work/of-folder"
(cd telegram && python3 -m zipfile -c ../telegram.zip result.json photos)
from telegram telegram.zip --files telegram-files
is "$(grep -v path "$work/lines")" "$(grep -v path "$work/of-folder")" "a ZIP file gives the same lines"

# store NAME: an own store, with alice.
store() {
  export DM_STORE="$work/$1"
  dm-user -q --as alice add alice
}
# Discord, by DiscordChatExporter.
store discord
cat >discord.json <<'END'
{"guild": {"id": "0", "name": "Harbour"}, "channel": {"id": "10", "type": "GuildTextChat", "category": "Text", "name": "general"},
 "messages": [
 {"id": "1", "type": "Default", "timestamp": "2022-02-01T10:00:00.123+01:00", "timestampEdited": "2022-02-01T10:01:00+01:00", "content": "Hello",
  "author": {"id": "100", "name": "nia", "nickname": "Nia 🚢"}, "attachments": [{"id": "5", "url": "whatsapp/photo.jpg", "fileName": "boat.jpg"}],
  "reactions": [{"emoji": {"name": "👍"}, "count": 3}]},
 {"id": "2", "type": "Reply", "timestamp": "2022-02-01T10:00:01+01:00", "content": "", "author": {"id": "101", "name": "ben"},
  "embeds": [{"title": "A page", "url": "https://example.org", "description": "about"}], "reference": {"messageId": "1"}},
 {"id": "3", "type": "GuildMemberJoin", "timestamp": "2022-02-01T10:00:02+01:00", "content": "Joined.", "author": {"id": "102", "name": "x"}},
 {"id": "4", "type": "Default", "timestamp": "2022-02-01T10:00:03+01:00", "content": "x", "author": null}]}
END
from discord discord.json
adds_up Discord
report "read: 4, kept: 2, left out: 2" "Discord"
report "messages of the kind GuildMemberJoin left out: 1; the first: discord.json, message 3" "joins are counted"
report "reactions to messages are not imported: 3; the first: discord.json, message 1" "and reactions"
imported 2 "a channel of Discord"
is "$(said nia '+Harbour / general')" '2022-02-01T09:00:00.123 Nia 🚢 "Hello" boat.jpg
2022-02-01T09:00:01.000 ben "A page\nabout\nhttps://example.org"' "has texts, embeds and files"
is "$(dm-tail --as nia '+Harbour / general' 2 --peek | jq -r .reply_to.seq)" 1 "and replies"

# Matrix, by Element.
store matrix
cat >export.json <<'END'
{"room_name": "Pier", "room_creator": "@nia:example.org", "exported_by": "Alice (@alice:example.org)", "messages": [
 {"type": "m.room.member", "sender": "@nia:example.org", "state_key": "@nia:example.org", "event_id": "$0", "origin_server_ts": 1646128799000, "content": {"membership": "join", "displayname": "Nia M"}},
 {"type": "m.room.message", "sender": "@nia:example.org", "event_id": "$1", "origin_server_ts": 1646128800000, "content": {"msgtype": "m.text", "body": "one"}},
 {"type": "m.room.message", "sender": "@alice:example.org", "event_id": "$2", "origin_server_ts": 1646128801000, "content": {"msgtype": "m.text", "body": "> <@nia:example.org> one\n\ntwo", "m.relates_to": {"m.in_reply_to": {"event_id": "$1"}}}},
 {"type": "m.room.message", "sender": "@nia:example.org", "event_id": "$3", "origin_server_ts": 1646128802000, "content": {"msgtype": "m.text", "body": "* uno", "m.new_content": {"msgtype": "m.text", "body": "uno"}, "m.relates_to": {"rel_type": "m.replace", "event_id": "$1"}}},
 {"type": "m.reaction", "sender": "@nia:example.org", "event_id": "$4", "origin_server_ts": 1646128803000, "content": {"m.relates_to": {"rel_type": "m.annotation", "event_id": "$2", "key": "👍"}}},
 {"type": "m.room.message", "sender": "@nia:example.org", "event_id": "$5", "origin_server_ts": 1646128804000, "content": {}},
 {"type": "m.room.message", "sender": "@nia:example.org", "event_id": "$6", "origin_server_ts": 1646128805000, "content": {"msgtype": "m.image", "body": "photo.jpg", "url": "mxc://x"}},
 {"type": "m.room.encrypted", "sender": "@nia:example.org", "event_id": "$7", "origin_server_ts": 1646128806000, "content": {}}]}
END
mkdir element
cp export.json element
cp whatsapp/photo.jpg 'element/photo-3-1-2022 at 10:00:05.jpg'
from matrix element
adds_up Matrix
report "read: 8, kept: 3, left out: 5" "Matrix"
imported 3 "a room of Matrix"
is "$(said alice +Pier | cut -d ' ' -f 2-)" 'Nia M "uno"
alice "two"
Nia M "" photo.jpg' "has edits and files"
is "$(dm-tail +Pier 2 --peek | jq -r .reply_to.seq)" 1 "and replies"

# Messenger and Instagram: UTF-8 that was taken for Latin-1, the newest first.
mkdir -p meta/messages/inbox/joerg_1/photos meta/messages/inbox/group_2
cp whatsapp/photo.jpg meta/messages/inbox/joerg_1/photos/1.jpg
cat >meta/messages/inbox/joerg_1/message_1.json <<'END'
{"participants": [{"name": "J\u00c3\u00b6rg"}, {"name": "Alice S"}], "title": "J\u00c3\u00b6rg", "thread_path": "inbox/joerg_1", "messages": [
 {"sender_name": "Alice S", "timestamp_ms": 1651399203000, "content": "gone", "is_unsent": true},
 {"sender_name": "J\u00c3\u00b6rg", "timestamp_ms": 1651399202000, "photos": [{"uri": "messages/inbox/joerg_1/photos/1.jpg"}]},
 {"sender_name": "Alice S", "timestamp_ms": 1651399201000, "content": "Gr\u00c3\u00bc\u00c3\u009fe \u00f0\u009f\u009a\u00a2", "reactions": [{"reaction": "x", "actor": "J\u00c3\u00b6rg"}]}]}
END
cat >meta/messages/inbox/group_2/message_1.json <<'END'
{"participants": [{"name": "Zoe"}, {"name": "J\u00c3\u00b6rg"}, {"name": "Alice S"}], "title": "Three", "thread_path": "inbox/group_2", "messages": [
 {"sender_name": "Zoe", "timestamp_ms": 1651399201000, "share": {"link": "https://example.org"}}]}
END
for script in messenger instagram; do
  store "$script"
  from $script meta
  adds_up "$script"
  report "read: 4, kept: 3, left out: 1" "$script"
  report "messages that were deleted left out: 1; the first: messages/inbox/joerg_1/message_1.json, message 1" "deleted ones are counted"
  imported 3 "chats of $script"
  is "$(said alice jörg | cut -d ' ' -f 2-)" 'alice "Grüße 🚢"
Jörg "" 1.jpg' "the user is who is in all chats; letters are mended"
  is "$(said alice +Three | cut -d ' ' -f 2-)" 'Zoe "https://example.org"' "a group has its title"
done

# Mail: an mbox file and a Maildir.
store mail
python3 - <<'END'
import email.message, mailbox
def make(id, sender, subject, text, day, reply=None, file=None):
    mail = email.message.EmailMessage()
    mail['Message-ID'], mail['From'], mail['Subject'] = id, sender, subject
    mail['Date'] = f'Sat, {day:02} Jan 2022 10:00:00 +0100'
    if reply:
        mail['In-Reply-To'] = mail['References'] = reply
    mail.set_content(text)
    if file:
        mail.add_attachment(open(file, 'rb').read(), maintype='image', subtype='jpeg', filename='phötø.jpg')
    return mail
mails = [make('<1@x>', 'Nïa <nia@example.org>', 'Überfahrt', 'Hello\nthere', 1),
         make('<2@x>', 'ben@example.org', 'Re: Überfahrt', 'Answer', 2, '<1@x>', 'whatsapp/photo.jpg'),
         make('<3@x>', 'Zoe <zoe@example.org>', 'Other', 'From the start', 3)]
box, folder = mailbox.mbox('box'), mailbox.Maildir('Mail')
for mail in mails:
    box.add(mail), folder.add(mail)
box.flush()
END
printf 'From x\nSubject: nothing\n\nno date\n' >>box
from mail box
adds_up mail
report "read: 4, kept: 3, left out: 1" "an mbox file"
imported 3 "mail"
is "$(said nia +Überfahrt)" '2022-01-01T09:00:00.000 Nïa "Hello\nthere"
2022-01-02T09:00:00.000 ben "Answer" phötø.jpg' "a thread is a group, with its files"
is "$(dm-tail --as nia +Überfahrt 2 --peek | jq -r .reply_to.seq)" 1 "and replies"
is "$(said zoe +Other | cut -d ' ' -f 2-)" 'Zoe "From the start"' "a line that begins with 'From' is a text"
printf '\nFrom bob at example.org  Sat Jan  1 10:00:00 2022\nFrom: bob at example.org (Bob B)\nDate: Sat, 1 Jan 2022 10:00:00 +0000\nSubject: s\n\none\n\nFrom here on\ntwo\n\nFrom eve at example.org  Sat Jan  1 11:00:00 2022\nFrom: eve at example.org (Eve)\nDate: Sat, 1 Jan 2022 11:00:00 +0000\n\nthree\n' >archive
from mail archive --list l
report "read: 2, kept: 2, left out: 0" "an archive of a mailing list"
is "$(jq -r 'select(.sender) | "\(.sender) \(.text | @json)"' "$work/lines")" 'bob "s\n\none\n\nFrom here on\ntwo"
eve "three"' "has its addresses, and lines that begin with 'From'"
from mail Mail --list Letters
report "read: 3, kept: 3, left out: 0" "a Maildir"
imported 3 "a list"
is "$(said ben +Letters | cut -d ' ' -f 2-)" 'Nïa "Überfahrt\n\nHello\nthere"
ben "Answer" phötø.jpg
Zoe "Other\n\nFrom the start"' "is one group"
done_testing
