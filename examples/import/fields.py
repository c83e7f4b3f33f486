"""Fields of an export: what may be wrong with them, and the texts, names and times that dm accepts."""
import datetime
import functools
import re
import unicodedata

SECONDS = [f':{second // 60:02}:{second % 60:02}' for second in range(3600)]  # those of an hour
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
# Letters and marks that nobody sees (Default_Ignorable_Code_Point of Unicode); dm refuses them in names.
UNSEEN = re.compile('[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]')
TEXT_LIMIT = 64 * 1024
# What reading a field may raise that is absent or not of the expected kind.
UNEXPECTED = (TypeError, KeyError, ValueError, AttributeError, OverflowError, IndexError, RecursionError)


def words(value):
    """A field that is a string or absent."""
    if not isinstance(value, str | None):
        raise TypeError
    return value


def entries(value):
    """A field that is a list of objects or absent; anything else in it is skipped."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def microseconds(time):
    """The microseconds since 1970 of a time; one without a zone is of this machine's zone."""
    whole = time.replace(microsecond=0) if time.microsecond else time
    return int(whole.timestamp()) * 10**6 + time.microsecond


def instant(text):
    """The microseconds since 1970 of a time of ISO 8601; one without a zone is UTC."""
    time = datetime.datetime.fromisoformat(re.sub(r'(\.\d{6})\d+', r'\1', text).replace('Z', '+00:00'))
    return microseconds(time if time.tzinfo else time.replace(tzinfo=datetime.timezone.utc))


def stamp(time):
    """The time of ISO 8601 of microseconds since 1970."""
    hour, rest = divmod(time, 3600 * 10**6)
    second, rest = divmod(rest, 10**6)
    return hour_stamp(hour) + SECONDS[second] + (f'.{rest:06}Z' if rest else '.000000Z')


@functools.lru_cache(1024)
def hour_stamp(hour):
    return (EPOCH + datetime.timedelta(hours=hour)).isoformat()[:13]


def moment(time):
    """Checks microseconds since 1970: a whole number, of a time that dm accepts."""
    if type(time) is not int or not -62135596800 * 10**6 <= time < 253402300800 * 10**6:
        raise ValueError
    return time


def clean(text, limit):
    """A name that dm accepts: without control, format and unseen characters, in one line, at most `limit` bytes."""
    text = UNSEEN.sub('', unicodedata.normalize('NFC', plain(text)))
    text = ''.join(c for c in text if c.isspace() or unicodedata.category(c) not in ('Cc', 'Cf', 'Cs'))
    return ' '.join(text.split()).encode()[:limit].decode('utf-8', 'ignore').strip()


def plain(text):
    """A text that dm accepts: without NUL and halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')
    return text.replace('\0', '\ufffd')


def plain_bytes(text):
    """The same in UTF-8."""
    try:
        return text.encode().replace(b'\0', b'\xef\xbf\xbd')
    except UnicodeEncodeError:
        return plain(text).encode()


def pieces(text):
    """The text, in as many pieces as it has times 64 KiB."""
    if len(text) * 4 <= TEXT_LIMIT:
        return [text]
    found, data = [], text.encode()
    while len(data) > TEXT_LIMIT:
        piece = data[:TEXT_LIMIT].decode('utf-8', 'ignore')
        found.append(piece)
        data = data[len(piece.encode()):]
    return [*found, data.decode()]


def attachment(file):
    """A file of a message, which is a path, or a path and a name."""
    path, name = (file, '') if isinstance(file, str) else (file[0], clean(file[1], 255))
    return {'path': path, 'name': name} if name else {'path': path}
