"""What the importers share: handles, nonces, import lines, and the report at the end.

A name of an export becomes a handle by the first of these rules that applies:
 1. The map (--map FILE) has it: two columns with a tab between them, the name in the export and the handle in dm. A name that
    people choose as they like, besides one that is theirs alone, is not looked up.
 2. It is made of the name: in lower case, with '-' for white space, without emoji, control characters and punctuation
    except - _ . @ | [ ] { } ^ ` and backslash, without - . @ at its start, and at most 64 bytes long.
 3. If nothing is left of the name, or something like a UUID, the handle is 'user-' and eight digits of its SHA-256.
If two people of one run would get the same handle, or a name becomes the handle of --me, the later one gets '-' and four or more
digits of the SHA-256 of what the export knows them by. The name itself is the display name. Use the same map when you repeat an import: messages are recognized by sender
and nonce. If the store had a user before, dm-import refuses what they say, unless the map has them: they may be somebody else
of that name. 'dm-import --same-users' takes them to be the same.

The report at the end adds up: the entries that were read are those that were kept and those that were left out, by reason.
"""
import datetime
import gc
import hashlib
import json
import os
import re
import sys
import unicodedata
import uuid
import sources
from arguments import Arguments, add_me
from fields import (EPOCH, UNEXPECTED, attachment, clean, entries, instant, microseconds, moment, pieces, plain, plain_bytes,
                    stamp, words)

FILES_LIMIT = 32  # files of a message
encoded = json.JSONEncoder(ensure_ascii=False).encode
quoted = json.encoder.encode_basestring


def fail(status, message):
    print(f'{os.path.basename(sys.argv[0])}: {message}', file=sys.stderr)
    sys.exit(status)


def opened(path):
    """A file as a stream of bytes; '-' is standard input. Ends the program if it cannot be read."""
    try:
        return sources.opened(path)
    except OSError as error:
        fail(66, f"cannot read '{path}': {error.strerror}")


def json_lines(path, importer):
    """The objects of a file of JSON lines, each with its line number; None for a line that is not a JSON object."""
    with opened(path) as stream:
        if sources.is_too_large(stream):
            return importer.refuse(path)
        for number, value in sources.json_lines(stream):
            importer.entry()
            yield number, value


def export(path, options):
    """The files of an export. Ends the program if it cannot be read."""
    try:
        return sources.Export(path, options.files)
    except sources.Unreadable as error:
        fail(66, str(error))


def handles(path):
    """The names of a map, each with the number of its line and the handle. Ends the program at a line that is wrong."""
    found = {}
    with opened(path) as file:
        for number, line in enumerate(file.read(2**26).decode('utf-8-sig', 'replace').split('\n'), 1):
            name, tab, handle = line.rstrip('\r').partition('\t')
            handle = handle.strip()
            if not line.strip():
                continue
            if not name or not handle or re.search(r'\s', handle):
                fail(65, f"'{path}', line {number}: expected a name of the export, a tab and a handle; correct the line")
            if found.setdefault(name, (number, handle))[1] != handle:
                fail(65, f"'{path}', line {number}: line {found[name][0]} has another handle for this name; remove one")
    return found


class Importer:
    """Writes import lines on standard output, and counts."""

    def __init__(self, arguments):
        self.source = os.path.basename(sys.argv[0])
        self.map = {}
        if arguments.map:
            self.map = handles(arguments.map)
        # The names of the map, with their places, that the export has not had so far.
        self.unused = {name: f'{arguments.map}, line {number}' for name, (number, _) in self.map.items()}
        self.is_dry, self.has_summary = arguments.dry_run, arguments.dry_run or arguments.summary
        self.handles, self.last = {}, {}
        # Of each handle, what the export knows its user by. That of the user who imports is nobody else's, whatever
        # somebody calls themselves.
        self.owners = {getattr(arguments, 'me', None): None}
        self.equal, self.pairs = {}, {}
        self.now = microseconds(datetime.datetime.now(datetime.timezone.utc))
        self.read = self.kept = self.left = self.attachments = 0
        self.report = {}
        # For the summary: the people by handle, with their name and the number of their messages; and the conversations.
        self.people, self.conversations = {}, {}
        # dm-import adds in one transaction what it can read at once, so it gets many lines at once.
        sys.stdout = open(sys.stdout.fileno(), 'w', 2**20, encoding='utf-8', newline='\n', closefd=False)

    def write(self, **line):
        if not self.is_dry:
            sys.stdout.write(encoded({k: v for k, v in line.items() if v is not None and v != []}) + '\n')

    def user(self, key, name=None, shown=None):
        """The handle of a user, written once.

        key is what the export knows them by, name what the handle is made of, shown the display name.
        """
        if key in self.handles:
            return self.handles[key]
        name = name or key
        shown = shown or name
        self.unused.pop(key, None), self.unused.pop(name, None)
        mapped = next((self.map[n][1] for n in (key, name) if n in self.map), None)
        handle = self.handles[key] = mapped or self.derived(key, name)
        display = clean(shown, 256)
        self.people.setdefault(handle, [display, 0])
        self.write(type='user', handle=handle, display_name=display if display and display != handle else None,
                   is_known=True if mapped else None)
        return handle

    def derived(self, key, name):
        digits = hashlib.sha256(plain(name).encode()).hexdigest()
        text = clean(name, 4096).lower().replace(' ', '-')
        text = ''.join(c for c in text if unicodedata.category(c)[0] in 'LMN' or c in '-_.@|[]{}^`\\')
        text = unicodedata.normalize('NFC', text).lstrip('-.@').encode()[:64].decode('utf-8', 'ignore').rstrip('-.')
        if not text or re.fullmatch('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}', text):
            text = f'user-{digits[:8]}'
        digits = hashlib.sha256(plain(key).encode()).hexdigest()
        longer = (f"{text.encode()[:63 - count].decode('utf-8', 'ignore')}-{digits[:count]}" for count in range(4, 60, 4))
        return next(handle for handle in (text, *longer) if self.owners.setdefault(handle, key) == key)

    def titled(self, title, fallback):
        """The group of a title, which those who write in it join."""
        title = clean(title, 256) or fallback
        self.conversations.setdefault('+' + title, [f'+{title}', True, 0, None, None])
        return '+' + title, '{"conversation": ' + quoted('+' + title)

    def conversation(self, key, participants, title=None):
        """A conversation by what the export knows it by, written once: a group with a title, or the direct one of two."""
        id = str(uuid.uuid5(uuid.NAMESPACE_URL, plain(f'{self.source}:{key}')))
        if id not in self.last:
            self.last[id] = -sys.maxsize
            participants = sorted(set(participants))
            pair = tuple(participants)
            if title is None and self.pairs.setdefault(pair, id) != id:
                title = ' and '.join(participants)
                self.note('chats have the same two people as another one, and became groups', title)
            title = clean(title, 256) or self.source if title is not None else None
            self.conversations[id] = [title and f'+{title}' or ' and '.join(participants), title is not None, 0, None, None]
            self.write(type='conversation', id=id, is_group=title is not None, participants=pair, title=title)
        return id, '{"conversation_id": ' + quoted(id)

    def entry(self):
        """Counts something that was read and that is to be kept or left out."""
        self.read += 1

    def json(self, export, name):
        """The value of a JSON file of an export; None if it cannot be read, which counts as left out."""
        try:
            value = export.json(name)
        except sources.Unreadable as error:
            self.entry()
            return self.leave('files that cannot be read', str(error))
        return [] if value is None else value

    def each(self, items, place_of, read):
        """What `read` makes of each item and its place; items of which it makes nothing are left out."""
        made = []
        for number, item in enumerate(items, 1):
            place = place_of(number, item)
            self.entry()
            try:
                made.append(read(item, place))
            except UNEXPECTED:
                self.leave('messages whose fields cannot be read', place)
        return [value for value in made if value]

    def message(self, conversation, key, sender, time, text, place, reply=None, files=(), id=None):
        """Writes a message, and returns its nonce.

        key is what the export knows the sender by, time the microseconds since 1970, place where the message was read, id
        what the export knows the message by. A message that is earlier than the one before it in its conversation gets that
        one's time, because the order of an export is better than the clocks that made it. A file is a path, or a path and a
        name.
        """
        where, start = conversation
        before = self.last.get(where, -sys.maxsize)
        at = max(time, before)
        if at > time:
            self.note('messages were earlier than the one before, and got its time', place)
        elif time > self.now:
            self.note('messages are of the future, and got the time of the one before', place)
            at = before if before > -sys.maxsize else self.now
        self.last[where] = at
        self.count(where, sender, at)
        parts, first = pieces(plain(text)), None
        parts += [''] * (-(-len(files) // FILES_LIMIT) - len(parts))
        for number, piece in enumerate(parts):
            nonce = self.nonce(f'{where}\0id\0{id}\0{number}' if id is not None else f'{where}\0{time}\0{key}\0{piece}')
            said = f', "text": {quoted(piece)}' if piece else ''
            line = f'{start}, "sender": {quoted(sender)}, "created_at": "{stamp(at)}"{said}, "nonce": "{nonce}"'
            if reply and not first:
                line += f', "reply_to_nonce": "{reply}"'
            if some := files[number * FILES_LIMIT:(number + 1) * FILES_LIMIT]:
                line += f', "attachments": {encoded([attachment(file) for file in some])}'
            if not self.is_dry:
                sys.stdout.write(line + '}\n')
            first = first or nonce
        self.kept += 1
        self.attachments += len(files)
        return first

    def nonce(self, same):
        """A nonce for what a message has; the second message that has the same gets another one."""
        count = self.equal.get(same, 0)
        self.equal[same] = count + 1
        return hashlib.sha256(plain_bytes(f'{self.source}\0{same}\0{count}')).hexdigest()[:32]

    def count(self, where, sender, time):
        self.people.setdefault(sender, [None, 0])[1] += 1
        chat = self.conversations[where]
        chat[2] += 1
        chat[3], chat[4] = chat[3] if chat[3] is not None else time, time

    def note(self, what, place, count=1):
        """Counts something for the report, with the place of the first; never with the text of a message."""
        counted, first = self.report.get(what) or (0, clean(str(place), 1024))
        self.report[what] = (counted + count, first)

    def leave(self, what, place, count=1):
        """Counts entries that are left out."""
        self.left += count
        self.note(f'{what} left out', place, count)

    def refuse(self, path):
        """Leaves out a file of lines that is too large."""
        self.entry()
        self.leave(f'files of more than {sources.TEXT_LIMIT >> 20} MiB, which can be split,', path)

    def settle(self, what, place):
        """Counts what was read and is neither kept nor left out, because a conversation could not be written."""
        if rest := self.read - self.kept - self.left:
            self.leave(what, place, rest)

    def say(self, text):
        """Adds a line to the report that counts nothing."""
        self.report[text] = None

    def attached(self, export, wanted, place):
        """The files that an export has of those that a message names, and lines of text that name the others.

        wanted are pairs of the name in the export, or None, and the name to show.
        """
        found, absent = [], []
        for name, shown in wanted:
            try:
                path = export.file(name) if name else None
                if not path:
                    self.note('files are not there; their names are in the text', place)
            except sources.Unreadable as error:
                path = None
                self.note(f'files are refused, because {error}; their names are in the text', place)
            if path:
                found.append((path, shown or os.path.basename(name)))
            else:
                absent.append(f"[file {clean(shown or os.path.basename(name or '') or 'without a name', 256)}]")
        return found, absent

    def summary(self, file):
        """Prints the people and the conversations that the lines make."""
        def day(time):
            return (EPOCH + datetime.timedelta(microseconds=time)).strftime('%Y-%m-%d')

        print(f'people: {len(self.people)}', file=file)
        for handle, (name, count) in self.people.items():
            shown = f' ({name})' if name and name != handle else ''
            print(f'  {handle}{shown}: messages: {count}', file=file)
        chats = [chat for chat in self.conversations.values() if chat[2]]
        print(f'conversations: {len(chats)}', file=file)
        for title, is_group, count, first, last in chats:
            kind = 'group' if is_group else 'direct'
            print(f'  {title} ({kind}): messages: {count}, from {day(first)} to {day(last)}', file=file)

    def finish(self):
        """Prints the report on standard error; fails if nothing could be read."""
        for place in self.unused.values():
            self.note('names of the map are not in the export', place)
        if self.has_summary:
            self.summary(sys.stdout if self.is_dry else sys.stderr)
        sys.stdout.flush()
        print(f'{self.source}: messages: {self.kept}, attachments: {self.attachments}', file=sys.stderr)
        print(f'{self.source}: read: {self.read}, kept: {self.kept}, left out: {self.left}', file=sys.stderr)
        for what, counted in self.report.items():
            print(f"{self.source}: {what}{f': {counted[0]}; the first: {counted[1]}' if counted else ''}", file=sys.stderr)
        if self.read != self.kept + self.left:
            fail(70, f'{self.read - self.kept - self.left} entries are neither kept nor left out; this is a fault of the importer')
        if not self.kept:
            fail(65, 'nothing could be read; see --help for what is expected')


def run(main):
    """Runs an importer; a reader that leaves early ends it."""
    gc.disable()  # An importer has many objects and no cycles, so that each search for them takes long and finds nothing.
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)
