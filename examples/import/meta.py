"""Reads the messages of 'Download your information' of Facebook's Messenger and of Instagram, which have one form.

message_N.json has participants, title, thread_path and messages, with sender_name, timestamp_ms, content, photos, videos,
audio_files, files, gifs, sticker, share, reactions, is_unsent. Texts are UTF-8 that was taken for Latin-1. What is downloaded
from an encrypted chat has participants, threadName and messages with senderName, timestamp, text, media.
"""
import os
import re
import lines

MEDIA = ('photos', 'videos', 'audio_files', 'files', 'gifs')
NAMES = re.compile(r'(^|/)(message_\d+|[^/]+_\d+)\.json$')


def mended(text):
    """A text whose bytes in UTF-8 were taken for letters of Latin-1; others stay as they are."""
    text = lines.words(text) or ''
    try:
        return text.encode('latin-1').decode('utf-8')
    except UnicodeError:
        return text


class Threads:
    """All threads of an export, and who of their participants the user is."""

    def __init__(self, export, importer, options):
        self.export, self.importer, self.options, self.found = export, importer, options, {}
        for name in export.names():
            if not (export.single or NAMES.search(name)):
                continue
            data = importer.json(export, name)
            if data is None:
                continue
            try:
                self.add(name, data)
            except lines.UNEXPECTED:
                importer.entry()
                importer.leave('files that are not of messages', name)
        self.me = options.my_name or self.common()

    def add(self, name, data):
        """Adds a file; a thread may have several."""
        if not isinstance(data['messages'], list):
            raise TypeError
        people = [mended(person.get('name') if isinstance(person, dict) else person) for person in data['participants']]
        title = mended(data.get('title') if 'title' in data else data.get('threadName'))
        key = lines.words(data.get('thread_path')) or os.path.dirname(name) or name
        if 'threadName' in data:
            key, title = lines.words(data['threadName']), re.sub(r'_\d+$', '', title)
        thread = self.found.setdefault(key, {'people': [], 'title': title, 'messages': []})
        thread['people'] = list(dict.fromkeys(thread['people'] + people))
        thread['messages'] += [(name, number, message) for number, message in enumerate(data['messages'], 1)]

    def common(self):
        """The participant of all threads, if there is one; else, of a thread of two, the one whose name is not its title."""
        sets = [set(thread['people']) for thread in self.found.values() if thread['people']]
        everywhere = set.intersection(*sets) if sets else set()
        if len(everywhere) == 1:
            return everywhere.pop()
        for thread in self.found.values():
            rest = [person for person in thread['people'] if person != thread['title']]
            if len(thread['people']) == 2 and len(rest) == 1 and rest[0] in everywhere:
                return rest[0]
        return None

    def write(self):
        if not self.me and self.found:
            self.importer.say('who you are is not clear from the participants; --my-name says it')
        for key, thread in self.found.items():
            try:
                self.write_thread(key, thread)
            except lines.UNEXPECTED:
                self.importer.settle('messages of chats whose fields cannot be read', thread['messages'][0][0])

    def write_thread(self, key, thread):
        importer = self.importer
        read = importer.each(
            thread['messages'], lambda _, item: f'{item[0]}, message {item[1]}',
            lambda item, place: self.message(item[2], place, thread))
        if not read:
            return
        people = dict.fromkeys(thread['people'] + [sender for sender, *_ in read])
        handles = {name: self.options.me if name == self.me else importer.user(name) for name in people if name}
        is_pair = len(handles) <= 2 and not self.options.as_groups
        conversation = importer.conversation(
            key + (':group' if self.options.as_groups else ''), handles.values(), None if is_pair else thread['title'] or 'chat')
        # The newest is first.
        for sender, time, text, files, place in sorted(reversed(read), key=lambda item: item[1]):
            importer.message(conversation, sender, handles[sender], time, text, place, files=files)

    def message(self, message, place, thread):
        """The sender, time, text, files and place of a message; None if it is left out."""
        importer = self.importer
        sender = mended(message.get('sender_name') or message.get('senderName')) or 'unknown'
        time = lines.moment(int(message['timestamp_ms'] if 'timestamp_ms' in message else message['timestamp']) * 1000)
        if message.get('is_unsent') or message.get('isUnsent'):
            return importer.leave('messages that were deleted', place)
        parts = [mended(message.get('content') if 'content' in message else message.get('text'))]
        share = message.get('share') if isinstance(message.get('share'), dict) else {}
        parts += [text for text in (mended(share.get('share_text')), mended(share.get('link'))) if text not in parts[0]]
        wanted = [file for name in MEDIA for file in lines.entries(message.get(name))] + lines.entries(message.get('media'))
        if isinstance(message.get('sticker'), dict):
            wanted.append(message['sticker'])
        files, absent = importer.attached(
            self.export, [(self.name(mended(file.get('uri')), place), os.path.basename(mended(file.get('uri')))) for file in wanted], place)
        text = '\n'.join(part for part in parts + absent if part)
        reactions = lines.entries(message.get('reactions'))
        if reactions:
            importer.note('reactions to messages are not imported', place, len(reactions))
        if not text and not files:
            return importer.leave('messages without a text', place)
        return sender, time, text, files, place

    def name(self, uri, place):
        """The name of a file in the export, which may be a part of what was downloaded."""
        if not uri or '://' in uri:
            return None
        uri = re.sub(r'^(\./)+', '', uri)
        folder = place.rsplit(', ', 1)[0].rpartition('/')[0]
        every = self.names
        candidates = [uri, f'{folder}/{uri}', f'{folder}/{uri.split("/", 4)[-1]}']
        candidates += ['/'.join(uri.split('/')[-2:]) if not folder else f"{folder}/{'/'.join(uri.split('/')[-2:])}"]
        found = next((name for name in candidates if name.lstrip('/') in every), None)
        if not found:
            found = next((name for name in every if name.endswith('/' + uri)), uri)
        return found.lstrip('/')

    @property
    def names(self):
        if not hasattr(self, 'all_names'):
            names = self.export.names()
            if self.export.single:
                names = [os.path.relpath(os.path.join(folder, name), self.export.folder)
                         for folder, _, some in os.walk(self.export.folder) for name in some]
            self.all_names = dict.fromkeys(names)
        return self.all_names


def main(description):
    arguments = lines.Arguments(description)
    arguments.add_argument('exports', metavar='EXPORT', nargs='+', help='message_1.json, or a folder or ZIP file with such files')
    lines.add_me(arguments)
    arguments.add_argument('--my-name', metavar='NAME', help='your name in the export [whose chats they are]')
    options = arguments.parse_args()
    importer = lines.Importer(options)
    for path in options.exports:
        Threads(lines.export(path, options), importer, options).write()
    importer.finish()
