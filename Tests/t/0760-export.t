#!/bin/sh
# dm-export: pages, Markdown, mail and lines, in a folder or on standard output.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
people
export DM_USER=alice
cd "$work" || exit 1

dm-conversation -q create --title ops bob carol
dm-user -q set --display-name 'Bob <b>Smith</b>' --as bob
one=$(dm-send +ops "one & only" | jq -r .id)
dm-send -q --as bob +ops --reply-to 2 "two: see https://example.org/a?b=1&c=2, it is good"
dm-send -q +ops --attach "$examples/photo.jpg" 'a photo' 2>/dev/null
printf '<script>alert(1)</script>' >evil.html
dm-send -q +ops --as-file --attach evil.html 2>/dev/null
dm-edit -q react --as carol 🎉 +ops:2
dm-edit -q pin --as bob +ops:2

# What lines, mails and pages could be broken with.
hostile="$(printf '</p></script><script>alert(1)</script> <img src=x onerror=alert(2)> "onclick="alert(3)" \47 &lt; ]]> -->\n')
From mallory@example.org Thu Jan  1 00:00:00 1970
>From mallory
From: mallory
--dm-$one
Bcc: eve@example.org
# heading
1. list
> **bob** 14:31 · 9
[link](javascript:alert(4)) \`code\` *strong* _x_ ~~y~~ | table | javascript:alert(5)
$(printf '\r\nBcc: eve@example.org\033[2J\033]0;title\007\302\233 \342\200\256txt')"
dm-send -q --as bob -- +ops "$hostile"
dm-send -q --as bob -- +ops "$(printf 'x%.0s' $(seq 2000)) end "

# control FILE...: bytes that could control a terminal, or turn text around.
control() { cat "$@" | tr -d '\n' | LC_ALL=C grep -acE "$(printf '[\001-\037\177]|\302[\200-\237]|\342\200[\250-\256]')"; }

for format in html markdown mbox json; do
  exits 0 "an export to $format" dm-export +ops --to $format "$format"
  is "$(printf '%s' "$out" | jq -c '[.type, .name, .format, .message_count, .attachments_count, .missing_count, .is_partial]')" \
    '["exported","ops","'$format'",7,2,0,false]' "reports what it has"
  is "$(control "$format"/*.* "$format"/ops/*.*)" 0 "without control characters"
  is "$(find $format \( -type d ! -perm 700 \) -o \( -type f ! -perm 600 \))" "" "for the user alone"
  is "$(find $format -name '.dm-*')" "" "and with no unfinished file"
  find $format -type f -exec stat -c '%n %i %s %y' {} + | sort >before
  is "$(dm-export +ops --to $format "$format" | jq -c '[.message_count, .written_count]')" '[7,0]' "a repetition writes nothing"
  find $format -type f ! -name export.jsonl -exec stat -c '%n %i %s %y' {} + | sort >after
  is "$(grep -v export.jsonl before | diff - after)" "" "and leaves the files as they are"
done

# JSON.
jq -r '.attachments[]?.path' json/ops/messages.jsonl >paths
is "$(wc -l <paths)" 2 "the lines have the paths of the files"
is "$(cd json/ops && xargs sha256sum <../../paths | cut -c-64 | sort)" \
  "$(dm-tail +ops -n all | jq -r '.attachments[]?.sha256' | sort)" "which are the contents"
is "$(jq -r .type json/ops/messages.jsonl | uniq -c | tr -s ' \n' ' ')" " 3 user 1 conversation 7 message " \
  "users and the conversation are before the messages"
{ dm-import --same-users --store "$work/copy" --folder json/ops json/ops/messages.jsonl || echo failed; } 2>&1 | grep -v '^{' >errors
is "$(cat errors)" "" "dm-import takes all of them"
shape='[.id, .seq, .sender, .text, .created_at, .reply_to.id, .system_kind, .subject, .nonce,
  (.attachments // [] | map([.name, .kind, .mime_type, .sha256, .size_bytes]))]'
is "$(dm-tail +ops -n all --peek --store "$work/copy" | jq -c "$shape")" "$(dm-tail +ops -n all --peek | jq -c "$shape")" \
  "and the copy has the same messages, answers and files"
is "$(dm-export +ops --to json - | jq -c '[.type, (.attachments[]?.path // empty)]' | sort | uniq -c | tr -s ' \n' ' ')" \
  ' 1 ["conversation"] 7 ["message"] 3 ["user"] ' "a stream has no paths"

# Pages.
page=html/ops/page1.html
cat >check.py <<'PY'
import sys, html.parser, xml.etree.ElementTree as tree
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    tree.fromstring(text)
    class Page(html.parser.HTMLParser):
        open = []
        def handle_starttag(self, tag, attributes):
            assert tag not in ("script", "iframe", "object", "base", "form", "link"), tag
            for name, value in attributes:
                assert not name.startswith("on"), name
                if name in ("href", "src"):
                    assert value.startswith(("#", "page", "files/", "https://", "http://", "../index", "ops/", "bob/")), value
            if tag not in ("meta", "img"): self.open.append(tag)
        def handle_startendtag(self, tag, attributes):
            if tag not in ("meta", "img"): assert False, tag
            self.handle_starttag(tag, attributes)
        def handle_endtag(self, tag): assert self.open.pop() == tag
    page = Page()
    page.feed(text)
    assert page.open == []
PY
ok "the pages are well-formed, and have no scripts" python3 check.py html/index.html $page
like "$(cat $page)" "*<a rel=\"noreferrer nofollow\" href=\"https://example.org/a?b=1&amp;c=2\">https://example.org/a?b=1&amp;c=2</a>, it*" \
  "addresses are links"
is "$(grep -c 'href="javascript' $page)" 0 "but only those of the web"
like "$(cat $page)" '*<article id="2" class="mine">*<a href="#3">3</a>*<article id="3">*answers <a href="#2">2 (alice: one &amp; only)</a>*' \
  "answers have links in both directions"
like "$(cat $page)" '*<b>Bob &lt;b&gt;Smith&lt;/b&gt; (bob)</b>*' "names are text"
like "$(cat $page)" '*<img loading="lazy" src="files/*-photo.jpg" alt="photo.jpg" width="300" height="400"/>*' "pictures are shown"
like "$(cat $page)" '*href="files/*-evil.html.bin"*' "a page that was attached is not opened by a browser"
like "$(cat $page)" '*🎉 carol*' "with reactions"
like "$(cat $page)" '*<article id="2" class="mine">*</a>, pinned by bob</p>*<article id="3">*' "and pins"
is "$(grep -c 'pinned by' $page)" 1 "only of pinned messages"
like "$(cat $page)" "*prefers-color-scheme: dark*@media print*" "dark, and on paper"
for file in $(grep -o 'src="[^"]*"' $page | cut -d'"' -f2); do ok "what a page shows is there" test -f "html/ops/$file"; done
# Where Chromium is installed, it opens the page: 300 MB are too much for the set-up of the tests.
if command -v chromium >/dev/null; then
  timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" --dump-dom "file://$work/$page" \
    >dom 2>/dev/null
  is "$(grep -c '<article' dom)" 7 "Chromium shows all messages"
  is "$(grep -c '<script' dom)" 0 "and no scripts"
fi
dm-export +ops --to html - >stream.html
ok "a stream is one page" python3 check.py stream.html
is "$(grep -c '<article' stream.html)" 7 "with all messages"

# Markdown.
text=$(cat markdown/ops/messages.md)
is "$(echo "$text" | grep -c '^\*\*')" 7 "Markdown has a line above each message that no text can have"
is "$(echo "$text" | grep -c '<script\|<img')" 0 "and no tags"
is "$(echo "$text" | grep -c '^[^>*#!]')" 2 "other lines are only of reactions and files"
like "$text" "*· 2, pinned by bob
*" "pins are notes"
like "$text" "*> one &amp; only*answers 2 (alice: one &amp; only)*<https://example.org/a?b=1&c=2>*" "with answers and links"
like "$text" '*> \\# heading*> 1\\. list*> &gt; \\\*\\\*bob\\\*\\\**\[link\\\](javascript*' "and escapes"
[ "$(dm-export +ops --to markdown --max-bytes 500 - | wc -c)" -le 500 ]
is $? 0 "as many bytes as asked for"
like "$(dm-export +ops --to markdown --max-bytes 2500 - | sed 's/xx*/x/')" "# +ops

6 earlier messages left out
*
> x end*" "have the newest messages"
exits 0 "a folder with the newest messages" dm-export +ops --to markdown --max-bytes 2500 newest
is "$(printf '%s' "$out" | jq -c '[.message_count, .attachments_count, .written_count, .first_at == .last_at]')" '[1,0,1,true]' \
  "counts only these"
[ ! -e newest/ops/files ]
is $? 0 "and has only their files"
exits 0 "with more bytes" dm-export +ops --to markdown --max-bytes 20k newest
is "$(printf '%s' "$out" | jq -c '[.message_count, .attachments_count]') $(cat newest/ops/files/* | wc -c)" \
  "[7,2] $(cat markdown/ops/files/* | wc -c)" "they are copied"
for size in 700 1000 2400 3000 4000; do
  [ "$(dm-export -q +ops --to markdown --max-bytes $size sized && wc -c <sized/ops/messages.md)" -le $size ]
  is $? 0 "a file of at most $size bytes"
done
is "$(dm-export +ops --to markdown --since 3 --before 5 - | grep -c '^\*\*')" 2 "or those of a range"

# Mail.
cat >mail.py <<'PY'
import mailbox, re, sys, email.header
box = mailbox.mbox(sys.argv[1])
mails = list(box)
print(len(mails))
ids = {m["Message-ID"] for m in mails}
for m in mails:
    assert m.get_all("Bcc") is None and not re.search("\n[^ ]", m["Subject"]), m["Subject"]
    assert m["In-Reply-To"] is None or m["In-Reply-To"] in ids
    assert not m.defects and all(not p.defects for p in m.walk()), m.defects
print(sum(m["In-Reply-To"] is not None for m in mails))
for m in mails:
    for part in m.walk():
        if part.get_filename():
            open("part-" + part.get_filename(), "wb").write(part.get_payload(decode=True))
texts = [next(p for p in m.walk() if p.get_content_type() == "text/plain") for m in mails]
sys.stdout.write(texts[5].get_payload(decode=True).decode("utf-8"))
PY
exits 0 "Python reads the mailbox" python3 mail.py mbox/ops/messages.mbox
is "$(echo "$out" | sed -n 1,2p | tr '\n' ' ')" "7 1 " "with all mails and answers"
is "$(grep -c '^X-DM-Notes: pinned by bob' mbox/ops/messages.mbox)" 1 "and a note of a pin"
is "$(echo "$out" | sed -n '3,5p')" "$(printf '%s' "$hostile" | head -n 3)" "and texts as they were written"
is "$(grep -c '^From ' mbox/ops/messages.mbox)" 7 "no text begins a mail"
cmp -s part-evil.html evil.html
is $? 0 "attachments are in it"
is "$(sha256sum part-photo.jpg | cut -c-64)" "$(dm-tail +ops 4 | jq -r '.attachments[0].sha256')" "whole"
is "$(LC_ALL=C awk 'length > 998' mbox/ops/messages.mbox | wc -l)" 0 "and no line is too long for mail"

# What changes.
dm-edit -q text +ops:2 "one, edited"
dm-edit -q delete --for-everyone +ops:4
dm-send -q --as bob +ops eight
file=$(ls html/ops/files | grep photo)
is "$(dm-export +ops --to html html | jq -c '[.message_count, .attachments_count, .written_count]')" '[7,1,1]' \
  "a second run adds what is new"
like "$(cat $page)" "*one, edited*eight*" "and has edits"
is "$(grep -c 'a photo' $page)" 0 "but no message that was deleted"
[ -n "$file" ] && [ ! -e "html/ops/files/$file" ]
is $? 0 "nor its picture"
is "$(dm-export --as carol +ops --to json - | jq -s 'map(select(.type == "message")) | length')" 7 "others see theirs"
dm-user -q block bob
is "$(dm-export +ops --to json - | jq -r 'select(.type == "message").sender' | sort -u)" alice "messages of a blocked user are left out"
dm-user -q unblock bob

dm-edit -q delete +ops:7
is "$(dm-export +ops --to markdown - | grep -c 'x end')" 0 "and so are those that the user has deleted for themselves"

# Several conversations.
dm-send -q bob "for bob"
dm-attach --as-file --name '../"><b>
x.svg' evil.html --to bob | dm-send -q
dm-conversation -q create --title BOB carol
dm-conversation -q create --title ../../etc carol
dm-conversation -q archive +BOB
exits 0 "all conversations" dm-export --all --to html all
is "$(find all -mindepth 1 -maxdepth 1 | tr B-O b-o | sort | tr '\n' ' ')" \
  "all/_.._etc all/bob all/bob-2 all/export.jsonl all/index.html all/ops " \
  "are in folders of their own"
is "$(grep -c '<li>' all/index.html)" 4 "which a page lists"
is "$(find all -path '*/files/*' | grep -vcE '/files/[0-9a-f]{16}-[A-Za-z0-9_.-]+$')" 0 "and names of files are plain"
is "$(dm-export bob --to mbox - | python3 -c 'import email, sys
print([p.get_filename() for p in email.message_from_file(sys.stdin).walk() if p.get_filename()], end="")' | wc -l)" 0 \
  "also in mails"
dm-conversation -q title +ops new
dm-export -q --all --to html all
is "$(find all -mindepth 1 -maxdepth 1 -type d | wc -l)" 4 "and a new title does not change"
is "$(dm-export bob +BOB --to mbox - | grep -c '^From ')" 3 "one stream has several"

# What is refused.
mkdir other
echo mine >other/file
exits 73 "a folder with other files" dm-export bob --to html other
like "$err" "dm-export: 'other' has other files and is not an export; name an empty or a new folder" "is refused"
is "$(ls -A other)" file "and stays as it is"
exits 73 "an export in another format" dm-export bob --to mbox html
exits 73 "an export of another user" dm-export alice --as bob --to html html
like "$err" "dm-export: 'html' has what 'alice' sees, and you are 'bob'; name another folder" "is refused"
exits 73 "a part of what is there" dm-export bob --to html --since 1d all
like "$err" "*has all messages of *" "is refused"
exits 73 "the folder of a store" dm-export bob --to html "$DM_STORE"
exits 73 "or one in it" dm-export bob --to html "$DM_STORE/attachments/x"
exits 73 "a file" dm-export bob --to html other/file
cp -R all torn
head -c 20 all/export.jsonl >>torn/export.jsonl
exits 73 "a damaged list" dm-export bob --to html torn
like "$err" "dm-export: line 5 of 'torn/export.jsonl' is damaged; name another folder, or remove 'torn' first" "is named with its line"
exits 64 "no format" dm-export bob folder
exits 64 "no folder" dm-export --to html bob
exits 64 "a limit that no other format has" dm-export bob --to html --max-bytes 1k -
exits 64 "all, and one" dm-export --all bob --to html folder
exits 67 "an unknown user" dm-export bbo --to html folder
[ ! -e folder ]
is $? 0 "make nothing"
bob=$(jq -r 'select(.is_group | not).path' all/export.jsonl | cut -d/ -f1)
rm -r "all/$bob"
ln -s "$work/other" "all/$bob"
exits 73 "a link in an export" dm-export bob --to html all
is "$(ls -A other)" file "leads nowhere"

# What fails.
rm "$DM_STORE"/attachments/*/*
exits 1 "a content that is not there" dm-export +new --to markdown damaged
like "$err" "dm-export: left out 'evil.html' of +new:5: the content *" "is named"
is "$(printf '%s' "$out" | jq -c '[.code // .message_count, .missing_count]' | tr '\n' ' ')" '["store_damaged",null] [7,1] ' "and the rest goes on"
like "$(cat damaged/new/messages.md)" "*
evil.html (file, 25 bytes)
*" "without a link"
exits 0 "what was copied before" dm-export +new --to html html
for n in 1 2; do head -c 60000 /dev/zero | tr '\0' x | dm-send -q bob; done
exits 74 "a full disk" sh -c 'ulimit -f 128; dm-export bob --to json full'
like "$err" "*dm-export: cannot write 'full/bob/messages.jsonl': *; see whether *" "is an error"
is "$(find full -type f ! -name export.jsonl)" "" "and leaves no part of a file"

# A title that is the name of the list of the pages.
dm-conversation -q create --as carol --title index.html alice
dm-send -q --as carol +index.html hi
ok "a group with the name of a file of the export" dm-export +index.html --to html titled
ok "also a second time" dm-export +index.html --to html titled
is "$(find titled -name 'index.html*' | sort | paste -sd ' ') $(find titled -name index.html -type f)" \
  "titled/index.html titled/index.html-2 titled/index.html" "gets a folder of another name"

# Characters of several scalars: a sign with a mark, a joiner or a prefix is still the sign.
dm-user -q add dave
export DM_USER=dave
dm-conversation -q create --title marks bob
dm-send -q +marks "$(printf 'https://a.b/\340\265\216<script alert(document.domain)//')"
dm-send -q +marks "$(printf 'https://a.b/>\342\200\215![x](https://evil.example/track.png)')"
dm-send -q +marks "$(printf 'https://a.b/\303\251_[x]|y')"
dm-send -q +marks '    four spaces'
printf x >'# heading'
printf x >'1. x'
dm-send -q +marks --as-file --attach '# heading' 2>/dev/null
dm-send -q +marks --as-file --attach '1. x' 2>/dev/null
text=$(dm-export +marks --to markdown -)
is "$(echo "$text" | grep -c '<script\|>[^ ]*!\[')" 0 "marks smuggle no tags and no images into Markdown"
like "$text" '*> <https://a.b/%E0%B5%8E>&lt;script*> <https://a.b/>&gt;*!\\\[x\\\](<https://evil.example/track.png>)*' \
  "an address ends where it ends without the marks"
like "$text" '*<https://a.b/%C3%A9_\[x\]%7Cy>*' "and has only characters of a URL"
like "$text" '*
> &nbsp;   four spaces
*' "four spaces begin no block of code"
is "$(echo "$text" | grep -c '^\\# heading\|^1\\. x')" 2 "the names of files begin no heading and no list"
title=$(printf '&\314\201\314\202\314\203%.0s' $(seq 28))
dm-conversation -q title +marks "$title"
for size in 256 300 400; do
  [ "$(dm-export "+$title" --to markdown --max-bytes $size - | wc -c)" -le $size ]
  is $? 0 "a long title has room in $size bytes"
done
dm-send -q bob "$(printf 'none \357\277\276 \357\277\277')"
dm-export bob --to html - >nonchars.html
ok "a page with characters that XML does not allow is well-formed" python3 check.py nonchars.html

# Names that differ only in how their letters are composed, for the same content.
printf same >"$(printf 'caf\303\251.txt')"
printf same >"$(printf 'cafe\314\201.txt')"
dm-conversation -q create --title files bob
dm-send -q +files --as-file --attach "$(printf 'caf\303\251.txt')" --attach "$(printf 'cafe\314\201.txt')" 2>/dev/null
dm-export -q +files --to json composed
is "$(jq -r '.attachments[]?.path' composed/files/messages.jsonl | (cd composed/files && tr '\n' '\0' | xargs -0 cat))" samesame \
  "both files are there"
copy=$(jq -r '.attachments[0].path? // empty' composed/files/messages.jsonl)
rm "composed/files/$copy"
mkdir "composed/files/$copy"
exits 1 "a folder that has the name of a copy" dm-export +files --to json composed
like "$err" "*left out '*.txt' of +files:2: 'composed/files/files/*.txt' is a folder; remove it*" "is named"
is "$(ls -A "composed/files/$copy")" "" "and nothing is saved in it"

# Times before the year 1000, and many reactions.
printf '%s\n' '{"conversation":"+old","sender":"dave","text":"zero","created_at":"0001-01-01T00:00:00Z"}' | dm-import -q
exits 0 "a message of the year 1" dm-export +old --to html old
like "$(cat old/old/page1.html)" "*<h2>Mon 0001-01-01</h2>*" "has a date of four digits"
popular=$(dm-send +old popular | jq -r .id)
for n in $(seq 100); do dm-user -q add "a-reader-with-a-long-name-$n"; done
seq 100 | sed 's/.*/a-reader-with-a-long-name-&/' | xargs dm-conversation -q add +old --with-history
for n in $(seq 100); do dm-edit -q react --as "a-reader-with-a-long-name-$n" 🎉 "$popular"; done
dm-export +old --to mbox - >reactions.mbox
is "$(LC_ALL=C awk 'length > 78' reactions.mbox | wc -l)" 0 "no line of a header is long"
is "$(python3 -c 'import mailbox, email.header
print(len(str(email.header.make_header(email.header.decode_header(next(m for m in mailbox.mbox("reactions.mbox") if m["X-DM-Reactions"])["X-DM-Reactions"]))).split(",")))')" \
  100 "and all reactions are there"
done_testing
