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
"""
import argparse
import collections
import datetime
import getpass
import hashlib
import json
import os
import re
import sys
import unicodedata
import uuid

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
# Letters and marks that nobody sees (Default_Ignorable_Code_Point of Unicode); dm refuses them in names.
UNSEEN = re.compile('[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]')
TEXT_LIMIT = 64 * 1024
# What reading a field may raise that is absent or not of the expected kind.
UNEXPECTED = (TypeError, KeyError, ValueError, AttributeError, OverflowError)


class Arguments(argparse.ArgumentParser):
    """The command line of an importer, whose --help begins with its header comment."""

    def __init__(self, description):
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.add_argument('--map', metavar='FILE', help='names of the export and handles of dm, separated by a tab')

    def error(self, message):
        self.exit(64, f'{self.prog}: {message}; see --help\n')


def add_me(arguments):
    arguments.add_argument(
        '--me', metavar='HANDLE', default=os.environ.get('DM_USER') or getpass.getuser(),
        help='your own handle [$DM_USER, else the login name]')


def fail(status, message):
    print(f'{os.path.basename(sys.argv[0])}: {message}', file=sys.stderr)
    sys.exit(status)


def content(path):
    """The bytes of a file; '-' is standard input."""
    try:
        if path == '-':
            return sys.stdin.buffer.read()
        with open(path, 'rb') as file:
            return file.read()
    except OSError as error:
        fail(66, f"cannot read '{path}': {error.strerror}")


def json_lines(path):
    """The objects of a file of JSON lines, each with its line number; None for a line that is no JSON object."""
    for number, line in enumerate(content(path).decode('utf-8', 'replace').split('\n'), 1):
        if line.strip():
            try:
                value = json.loads(line)
            except ValueError:
                value = None
            yield number, value if isinstance(value, dict) else None


def words(value):
    """A field that is a string or absent."""
    if not isinstance(value, str | None):
        raise TypeError
    return value


def microseconds(time):
    """The microseconds since 1970 of a time; one without a zone is of this machine's zone."""
    return (time.astimezone(datetime.timezone.utc) - EPOCH) // datetime.timedelta(microseconds=1)


def clean(text, limit):
    """A name that dm accepts: without control, format and unseen characters, in one line, at most `limit` bytes."""
    text = UNSEEN.sub('', unicodedata.normalize('NFC', text))
    text = ''.join(c for c in text if c.isspace() or unicodedata.category(c) not in ('Cc', 'Cf', 'Cs'))
    return ' '.join(text.split()).encode()[:limit].decode('utf-8', 'ignore').strip()


def plain(text):
    """A text that dm accepts: without NUL and halves of surrogate pairs."""
    return text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace').replace('\0', '\ufffd')


def pieces(text):
    """The text, in as many pieces as it has times 64 KiB."""
    while len(text.encode()) > TEXT_LIMIT:
        piece = text.encode()[:TEXT_LIMIT].decode('utf-8', 'ignore')
        yield piece
        text = text[len(piece):]
    yield text


class Importer:
    """Writes import lines on standard output, and counts."""

    def __init__(self, arguments):
        self.source = os.path.basename(sys.argv[0])
        self.map = {}
        if arguments.map:
            for line in content(arguments.map).decode('utf-8', 'replace').splitlines():
                name, _, handle = line.partition('\t')
                if name and handle.strip():
                    self.map[name] = handle.strip()
        self.handles, self.last = {}, {}
        # Of each handle, what the export knows its user by. That of the user who imports is nobody else's, whatever
        # somebody calls themselves.
        self.owners = {getattr(arguments, 'me', None): None}
        self.equal = collections.Counter()
        self.messages = self.attachments = 0
        self.report = {}
        sys.stdout.reconfigure(encoding='utf-8', newline='\n')

    def write(self, **line):
        print(json.dumps({k: v for k, v in line.items() if v is not None and v != []}, ensure_ascii=False))

    def user(self, key, name=None, shown=None):
        """The handle of a user, written once.

        key is what the export knows them by, name what the handle is made of, shown the display name.
        """
        if key in self.handles:
            return self.handles[key]
        name = name or key
        shown = shown or name
        mapped = next((self.map[n] for n in (key, name) if n in self.map), None)
        handle = self.handles[key] = mapped or self.derived(key, name)
        display = clean(shown, 256)
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
        return {'conversation': '+' + (clean(title, 256) or fallback)}

    def conversation(self, key, participants, title=None):
        """A conversation by what the export knows it by, written once: a group with a title, or the direct one of two."""
        id = str(uuid.uuid5(uuid.NAMESPACE_URL, f'{self.source}:{key}'))
        if id not in self.last:
            self.last[id] = -sys.maxsize
            self.write(
                type='conversation', id=id, is_group=title is not None, participants=sorted(set(participants)),
                title=clean(title, 256) or self.source if title is not None else None)
        return {'conversation_id': id}

    def message(self, conversation, key, sender, time, text, place, reply=None, files=()):
        """Writes a message, and returns its nonce.

        key is what the export knows the sender by, time the microseconds since 1970, place where the message was read.
        A message that is earlier than the one before it in its conversation gets that one's time, because the order of
        an export is better than the clocks that made it.
        """
        where = conversation.get('conversation_id') or conversation['conversation']
        at = max(time, self.last.get(where, time))
        if at > time:
            self.note('messages were earlier than the one before, and got its time', place)
        self.last[where] = at
        first, files = None, [{'path': path} for path in files]
        for piece in pieces(plain(text)):
            same = (where, str(time), key, piece)
            nonce = hashlib.sha256('\0'.join((self.source, *same, str(self.equal[same]))).encode()).hexdigest()[:32]
            self.equal[same] += 1
            self.write(
                **conversation, sender=sender, created_at=(
                    EPOCH + datetime.timedelta(microseconds=at)).strftime('%Y-%m-%dT%H:%M:%S.%fZ'),
                text=piece or None, nonce=nonce, reply_to_nonce=None if first else reply,
                attachments=None if first else files)
            first = first or nonce
        self.messages += 1
        self.attachments += len(files)
        return first

    def note(self, what, place):
        """Counts something for the report, with the place of the first; never with the text of a message."""
        count, first = self.report.get(what, (0, place))
        self.report[what] = (count + 1, first)

    def leave(self, what, place):
        self.note(f'{what} left out', place)

    def finish(self):
        """Prints the report on standard error; fails if nothing could be read."""
        sys.stdout.flush()
        print(f'{self.source}: messages: {self.messages}, attachments: {self.attachments}', file=sys.stderr)
        for what, (count, first) in self.report.items():
            print(f'{self.source}: {what}: {count}; the first: {first}', file=sys.stderr)
        if not self.messages:
            fail(65, 'nothing could be read; see --help for what is expected')


def run(main):
    """Runs an importer; a reader that leaves early ends it."""
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
