#!/bin/sh
# Chats of WhatsApp as phones of many languages export them: dates, notices, placeholders, ZIP files.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/import.sh"

# dated LINE TIME: a chat of this line has a message of this time.
dated() {
  printf '%b\n' "$1" >dated.txt
  is "$("$import/whatsapp" dated.txt 2>/dev/null | jq -r '.created_at // empty | .[:19]')" "$2" "the date of '$1'"
}
while IFS='|' read -r line time; do dated "$line" "$time"; done <<'END'
[\0342\0200\0217٢٧\0342\0200\0217/٣\0342\0200\0217/٢٠٢٢، ٩:٤١:٣٥ م] Bob: x|2022-03-27T21:41:35
٢٧/٣/٢٠٢٢، ٩:٤١ ص - Bob: x|2022-03-27T09:41:00
[21:41:35, 27/3/22] Bob: x|2022-03-27T21:41:35
[3/27/2565 BE, 21:41:35] Bob: x|2022-03-27T21:41:35
27/3/2565 21:41 - Bob: x|2022-03-27T21:41:00
[3/27/R4, 21:41:35] Bob: x|2022-03-27T21:41:35
[R4/3/27 21:41:35] Bob: x|2022-03-27T21:41:35
۲۰۲۲/۳/۲۷،\0342\0200\0217 ۲۱:۴۱ - Bob: x|2022-03-27T21:41:00
۱۴۰۱/۱/۷, ۹:۴۱ ب.ظ. - Bob: x|2022-03-27T21:41:00
19:07, 20 Sep 2013 - Bob: x|2013-09-20T19:07:00
18 Mar 2014 12:14 - Bob: x|2014-03-18T12:14:00
7/20/16, 5:13:36 PM: Bob: x|2016-07-20T17:13:36
[1/30/18, 00:04:03 AM] Bob: x|2018-01-30T00:04:03
[12/31/21, 11:58:01\0342\0200\0257PM] Bob: x|2021-12-31T23:58:01
31/12/21 11:58 p. m. - Bob: x|2021-12-31T23:58:00
2021년 1월 5일 오후 3:04, Bob : x|2021-01-05T15:04:00
[2021. 1. 5. 오후 3:04:05] Bob: x|2021-01-05T15:04:05
[2021/1/5 下午3:04:05] Bob: x|2021-01-05T15:04:05
[31.12.2021 ÖS 11:58:01] Bob: x|2021-12-31T23:58:01
31.12.2021 klo 23.58 - Bob: x|2021-12-31T23:58:00
2021. 12. 31. 23:58 - Bob: x|2021-12-31T23:58:00
31/12/21, 11:58 μ.μ. - Bob: x|2021-12-31T23:58:00
৩১/১২/২১, ১১:৫৮ PM - Bob: x|2021-12-31T23:58:00
21/12/31, 23:58 - Bob: x|2021-12-31T23:58:00
01/02/22, 10:00 - Bob: x|2022-02-01T10:00:00
1/2/22, 10:00 - Bob: x|2022-01-02T10:00:00
1/2/22 10:00 a. m. - Bob: x|2022-02-01T10:00:00
2022-03-27, 21 h 41 - Bob: x|2022-03-27T21:41:00
[2022-03-27, 21 h 41 min 35 s] Bob: x|2022-03-27T21:41:35
[22. 3. 27., 오후 9:41:35] Bob: x|2022-03-27T21:41:35
2022/3/27, 下晝9:41 - Bob: x|2022-03-27T21:41:00
27/3/22, 9:41 หลังเที่ยง - Bob: x|2022-03-27T21:41:00
END
printf '18 Mar 12:14 - Bob: x\n20 Jan 12:15 - Bob: y\n' >dated.txt
touch -d 2015-02-01 dated.txt
is "$("$import/whatsapp" dated.txt 2>/dev/null | jq -r '.created_at // empty | .[:10]' | paste -sd ' ')" \
  "2014-03-18 2015-01-20" "dates without a year end in the year of the file"
printf '05/01/22, 10:00 - Bob: x\n5/01/22, 10:01 - Bob: y\n' >dated.txt
exits 64 "dates of two forms that could be of two days" "$import/whatsapp" dated.txt
like "$err" "*say --day-first or --month-first" "need an option"

# What WhatsApp writes itself, in a group of an iPhone that is German.
cat >notices.txt <<'END'
[27.03.22, 21:00:00] Wanderung: ‎Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.
[27.03.22, 21:00:00] Wanderung: ‎Bob hat diese Gruppe erstellt.
‎[27.03.22, 21:00:02] Ann: ‎Bild weggelassen
‎[27.03.22, 21:00:03] Ann: ‎Standort: https://maps.google.com/?q=51.5,-0.12
‎[27.03.22, 21:00:04] Bob: ‎Kontaktkarte ausgelassen
[27.03.22, 21:00:06] Bob: ‎Diese Nachricht wurde gelöscht.
[27.03.22, 21:00:07] ~ Bob: Hallo ‎<Diese Nachricht wurde bearbeitet.>
[27.03.22, 21:00:08] Bob: null
[27.03.22, 21:00:12] Ann: copied:
[10:00, 31/12/2021] Zoe: from another chat
END
from whatsapp notices.txt
adds_up "a chat with notices"
report "read: 9, kept: 5, left out: 4" "what has a sender is a message, whatever mark it begins with"
report "lines of WhatsApp itself left out: 2; the first: line 1" "except notices"
report "messages that were deleted left out: 1; the first: line 6" "deleted messages are counted"
report "messages that are only 'null' left out: 1; the first: line 8" "and those that are 'null'"
report "messages only say that a file was not exported; they stay as texts: 1; the first: line 3" "and placeholders"
is "$(jq -r 'select(.sender) | "\(.conversation) \(.sender) \(.text | @json)"' "$work/lines")" \
  '+Wanderung ann "Bild weggelassen"
+Wanderung ann "Standort: https://maps.google.com/?q=51.5,-0.12"
+Wanderung bob "Kontaktkarte ausgelassen"
+Wanderung bob "Hallo"
+Wanderung ann "copied:\n[10:00, 31/12/2021] Zoe: from another chat"' "a chat that was pasted stays a text"

# Texts and names with dashes; notices of members who are shown with marks around their numbers.
cat >dashes.txt <<'END'
[27.03.22, 21:00:00] Wanderung: ‎Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.
[27.03.22, 21:00:01] Ann: -2
[27.03.22, 21:00:02] --: - one
- two
[27.03.22, 21:00:03] Ann: -
‎[27.03.22, 21:00:04] Ann: ‎<attached: - plan.pdf>
[27.03.22, 21:00:05] ‪+49 170 5550123‬: ‎‪+49 170 5550123‬ was added
[27.03.22, 21:00:06] ‪+49 170 5550123‬: hi
END
from whatsapp dashes.txt
report "read: 7, kept: 5, left out: 2" "texts that begin with dashes are kept"
is "$(jq -r 'select(.sender) | .text | @json' "$work/lines" | paste -sd ' ')" \
  '"-2" "- one\n- two" "-" "<attached: - plan.pdf>" "hi"' "with the dashes"
is "$(jq -r 'select(.type == "user") | .display_name // .handle' "$work/lines" | paste -sd ' ')" 'Ann -- +49 170 5550123' \
  "and so are their senders"

# A rehearsal.
exits 0 "--dry-run" "$import/whatsapp" notices.txt --dry-run
is "$out" "people: 2
  ann (Ann): messages: 3
  bob (Bob): messages: 2
conversations: 1
  +Wanderung (group): messages: 5, from 2022-03-27 to 2022-03-27" "prints the people and conversations, and no lines"

# ZIP files, with files that are refused.
mkdir zip
printf '[27.03.22, 21:00:02] Ann: <attached: %s>\n' photo.jpg ../../escape.jpg bomb.jpg link.jpg >zip/_chat.txt
python3 - <<'END'
import stat, zipfile
with zipfile.ZipFile('WhatsApp Chat - Two.zip', 'w', zipfile.ZIP_DEFLATED) as file:
    file.write('zip/_chat.txt', '_chat.txt')
    file.write('whatsapp/photo.jpg', 'photo.jpg')
    file.writestr('../../escape.jpg', 'x')
    file.writestr('bomb.jpg', bytes(100 << 20))
    link = zipfile.ZipInfo('link.jpg')
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    file.writestr(link, '/etc/passwd')
END
from whatsapp 'WhatsApp Chat - Two.zip' --files unpacked
report "messages: 4, attachments: 1" "a ZIP file of an iPhone"
report "files are refused, because it is too large, or a link: 2; the first: line 3" "bombs and links are refused"
is "$(find . "$work/.." -maxdepth 1 -name 'escape*'; find unpacked -type f | sed 's,.*/,,')" photo.jpg \
  "nothing else is unpacked"
imported 4 "its messages"
is "$(said ann +Two | head -n 1 | cut -d ' ' -f 2-)" 'Ann "" photo.jpg' "have the file"
from whatsapp 'WhatsApp Chat - Two.zip'
folder=$(sed -n 's/.*unpacked into \(.*\); remove.*/\1/p' "$work/report")
ok "without --files, the files are in a folder that the report names" test -f "$folder"/*/photo.jpg
is "$(stat -c %a "$folder")" 700 "of its own"
rm -rf "$folder"

# Broken files.
printf '\377\376' >utf16.txt
printf '12/31/21, 10:00 - Bob: ünïcode\n' | iconv -t UTF-16LE >>utf16.txt
is "$("$import/whatsapp" utf16.txt 2>/dev/null | jq -r '.text // empty')" ünïcode "a text in UTF-16 is read"
printf '\357\273\27712/31/21, 10:00 - Bob: one\r\n12/31/21, 10:01 - Bob: tw\366\r\n' >broken.txt
from whatsapp broken.txt
report "lines have bytes that are not UTF-8: 1; the first: line 2" "other bytes are counted"
is "$(jq -r '.text // empty' "$work/lines" | paste -sd ' ')" "one tw�" "and the rest is kept"
printf '1/17/25, 1:23\303\242\342\202\254\302\257pm - Bob: gr\303\203\302\274n\n' >twice.txt
from whatsapp twice.txt
is "$(jq -r 'select(.sender) | "\(.created_at[11:16]) \(.text)"' "$work/lines")" "13:23 grün" \
  "UTF-8 that was taken for another encoding is mended"
{ printf '12/31/21, 10:00 - Bob: one\n'; head -c 300000000 /dev/zero | tr '\0' x; printf '\n12/31/21, 10:01 - Bob: two\n'; } >long.txt
exits 0 "a line of 300 MB" sh -c 'ulimit -v 200000; "$1" long.txt' sh "$import/whatsapp"
like "$err" "*lines that are too long left out: 1; the first: line 2*" "takes no memory, and is counted"
cp -R "$import" small
sed 's/^CHAT_LIMIT = 2\*\*27/CHAT_LIMIT = 60/' "$import/whatsapp" >small/whatsapp
printf '12/31/21, 10:0%d - Bob: one\ntwo\n' 0 1 2 3 >much.txt
exits 0 "a chat that is longer than the limit" small/whatsapp much.txt
like "$err" "*read: 4, kept: 2, left out: 2*messages after 0 MiB, for which the chat can be split, left out: 2; the first: line 5*" \
  "has its first messages, and the others are counted"
done_testing
