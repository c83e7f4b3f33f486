"""Reads what an export consists of: a file, a folder or a ZIP file that a stranger may have made.

Nothing outside of the folder or the ZIP file is read, and nothing is written except into the folder of unpacked files. A file
that is too large, or that would grow too much when it is unpacked, is refused, and the rest goes on.
"""
import atexit
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import unicodedata
import zipfile
import zlib

LINE_LIMIT = 2**20  # bytes of a line of text
RECORD_LIMIT = 2**24  # bytes of a line of JSON
JSON_LIMIT = 2**29  # bytes of a JSON file, which is read into memory as a whole
MEMBER_LIMIT = 2**28  # the same in a ZIP file, where a small file may unpack into a large one
TEXT_LIMIT = 2**28  # bytes of a file of lines, which take about ten times as much memory
FILE_LIMIT = 2**32  # bytes of an attachment, as of dm-attach
TOTAL_LIMIT = 2**37  # bytes of all unpacked attachments of a run
# What a ZIP file with a wrong structure raises besides BadZipFile.
BAD_ZIP = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, ValueError, KeyError)


class Unreadable(Exception):
    """A file that cannot be used; its text is the reason."""


def is_inside(name):
    """Whether a name, which the maker of the export has chosen, leads to something in the export."""
    return bool(name) and not re.search('[\0\\\\]|^/|^[A-Za-z]:', name) and '..' not in name.split('/')


def opened(path):
    """A regular file as a stream of bytes; '-' is standard input."""
    if path == '-':
        return sys.stdin.buffer
    # A pipe or a device of that name would block, or never end.
    if not stat.S_ISREG(os.stat(path).st_mode) and not path.startswith('/dev/'):
        raise OSError(None, 'it is not a file')
    return open(path, 'rb')


def is_too_large(stream):
    """Whether a file of lines has too many for the memory; a pipe has not."""
    return os.fstat(stream.fileno()).st_size > TEXT_LIMIT


def raw_lines(stream, limit):
    """The lines of a stream of bytes with their numbers; None for one that is longer than the limit."""
    number = 0
    while line := stream.readline(limit + 1):
        number += 1
        if len(line) <= limit or line.endswith(b'\n'):
            yield number, line
            continue
        while line and not line.endswith(b'\n'):
            line = stream.readline(limit)
        yield number, None


def text_lines(stream, importer, where, limit=LINE_LIMIT, fallback=None):
    """The lines of a text with their numbers, in UTF-8 or in UTF-16 with a byte order mark; None for one that is too long.

    where makes the place of a line number. Bytes that are not UTF-8 are read as the fallback encoding, else as U+FFFD.
    """
    start = stream.peek(4)[:4]
    if start[:2] in (b'\xff\xfe', b'\xfe\xff'):
        data = stream.read(MEMBER_LIMIT + 1)
        if len(data) > MEMBER_LIMIT:
            raise Unreadable('it is in UTF-16 and too large; convert it to UTF-8')
        for number, line in enumerate(data.decode('utf-16', 'replace').split('\n'), 1):
            yield number, line.rstrip('\r')
        return
    for number, line in raw_lines(stream, limit):
        if line is not None:
            line = (line.removeprefix(b'\xef\xbb\xbf') if number == 1 else line).rstrip(b'\r\n')
            try:
                line = line.decode()
            except UnicodeDecodeError:
                importer.note('lines have bytes that are not UTF-8', where(number))
                line = line.decode(fallback or 'utf-8', 'replace')
        yield number, line


def parsed(data, name):
    """The value of JSON in UTF-8, or in UTF-16 or UTF-32 as Python detects them."""
    try:
        return json.loads(data.decode(json.detect_encoding(data), 'replace'))
    except json.JSONDecodeError as error:
        raise Unreadable(f'{name}, line {error.lineno}: it is not JSON; export it again, or correct the line') from None
    except (ValueError, RecursionError, MemoryError):
        raise Unreadable(f'{name}: it is not JSON that can be read; export it again') from None


def json_lines(stream):
    """The objects of JSON lines, each with its line number; None for a line that is not a JSON object."""
    for number, line in raw_lines(stream, RECORD_LIMIT):
        value = None
        if line is not None and not line.strip(b'\xef\xbb\xbf \t\r\n'):
            continue
        if line is not None:
            try:
                value = parsed(line.removeprefix(b'\xef\xbb\xbf'), '')
            except Unreadable:
                pass
        yield number, value if isinstance(value, dict) else None


class Unpacked:
    """The folder of the files that were unpacked: --files DIR, else a private folder."""

    def __init__(self, folder):
        self.given, self.folder, self.total = folder, None, 0

    def path(self, export, name, size, source):
        """The path of a file with the bytes of a stream, which has at most `size` bytes."""
        if not self.folder:
            self.folder = os.path.abspath(self.given) if self.given else tempfile.mkdtemp(prefix='dm-import-')
            os.makedirs(self.folder, 0o700, exist_ok=True)
            if not self.given:
                atexit.register(self.name_or_remove)
        self.total += size
        if self.total > TOTAL_LIMIT or size > shutil.disk_usage(self.folder).free - 2**20:
            raise Unreadable('there is no room for it')
        base = unicodedata.normalize('NFC', name.rsplit('/', 1)[-1])
        base = re.sub('[\\x00-\\x1f\\x7f/\\\\]', '_', base).encode('utf-8', 'replace')[-200:].decode('utf-8', 'ignore')
        folder = os.path.join(self.folder, f'{zlib.crc32(f"{export}/{name}".encode("utf-8", "replace")):08x}')
        if os.path.islink(folder):
            raise Unreadable('a link is in its place')
        os.makedirs(folder, 0o700, exist_ok=True)
        path = os.path.join(folder, base if base not in ('', '.', '..') else 'file')
        if os.path.lexists(path):
            os.unlink(path)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), 'wb') as file:
            shutil.copyfileobj(source, file, 2**20)
        return path

    def name_or_remove(self):
        print(f"{os.path.basename(sys.argv[0])}: the files were unpacked into {self.folder}; "
              'remove it after the import', file=sys.stderr)


class Export:
    """The files of an export: a folder, a ZIP file, or a single file with those beside it."""

    def __init__(self, path, files=None):
        """files is the folder to unpack into; raises Unreadable."""
        self.path, self.zip, self.single, self.unpacked = path, None, None, Unpacked(files)
        self.folder = path
        if path == '-':
            raise Unreadable('an export cannot be read from standard input; save it to a file, and name that')
        try:
            if os.path.isdir(path):
                return
            with opened(path) as file:
                is_zip = file.read(2) == b'PK'
            if is_zip:
                self.zip = zipfile.ZipFile(path)
            else:
                self.folder, self.single = os.path.split(os.path.abspath(path))
        except OSError as error:
            raise Unreadable(f"cannot read '{path}': {error.strerror or error}") from None
        except BAD_ZIP as error:
            raise Unreadable(f"cannot read '{path}' as a folder or a ZIP file: {error}") from None

    def names(self):
        """The names of the files, with slashes between the folders, sorted; of a single file, its name."""
        if self.single:
            return [self.single]
        if self.zip:
            return sorted({info.filename for info in self.zip.infolist() if not info.is_dir() and is_inside(info.filename)})
        found = []
        for folder, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if not os.path.islink(os.path.join(folder, name))]
            found += [os.path.relpath(os.path.join(folder, name), self.folder) for name in names]
        return sorted(found)

    def path_of(self, name):
        """The path of a regular file in the folder; None if there is none, or if a link leads out of the folder."""
        if not is_inside(name):
            return None
        path, folder = os.path.join(self.folder, name), os.path.realpath(self.folder)
        try:
            if not stat.S_ISREG(os.lstat(path).st_mode) or os.path.commonpath([os.path.realpath(path), folder]) != folder:
                return None
        except (OSError, ValueError):
            return None
        return path

    def open(self, name):
        """A file as a stream of bytes, with its size; raises Unreadable."""
        try:
            if self.zip:
                info = self.zip.getinfo(name)
                if info.flag_bits & 1:
                    raise Unreadable('it is encrypted')
                return self.zip.open(info), info.file_size
            path = self.path_of(name)
            if not path:
                raise Unreadable('it is not there')
            return open(path, 'rb'), os.path.getsize(path)
        except (OSError, *BAD_ZIP) as error:
            raise Unreadable('it cannot be read' if not isinstance(error, KeyError) else 'it is not there') from None

    def json(self, name):
        """The value of a JSON file; raises Unreadable."""
        stream, size = self.open(name)
        with stream:
            limit = MEMBER_LIMIT if self.zip else JSON_LIMIT
            if size > limit:
                raise Unreadable(f'{name}: it has more than {limit >> 20} MiB')
            try:
                return parsed(stream.read(limit), name)
            except (OSError, *BAD_ZIP):
                raise Unreadable(f'{name}: it cannot be read; export it again') from None

    def file(self, name):
        """The path of a file that a message names, unpacked if need be; None if the export does not have it.

        Raises Unreadable for a file that is there and is refused.
        """
        name = re.sub('^(\\./)+', '', name)
        if not is_inside(name):
            return None
        if not self.zip:
            path = self.path_of(name)
            if path and os.path.getsize(path) > FILE_LIMIT:
                raise Unreadable('it is too large')
            return path and os.path.abspath(path)
        try:
            info = self.zip.getinfo(name)
        except KeyError:
            return None
        is_bomb = info.file_size > 2**24 and info.file_size > 200 * info.compress_size
        if info.file_size > FILE_LIMIT or is_bomb or stat.S_ISLNK(info.external_attr >> 16):
            raise Unreadable('it is too large, or a link')
        try:
            stream, size = self.open(name)
            with stream:
                return self.unpacked.path(os.path.basename(self.path), name, size, stream)
        except (OSError, *BAD_ZIP):
            raise Unreadable('it cannot be unpacked') from None
