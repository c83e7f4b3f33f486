"""The text of Slack's blocks and attachments (https://docs.slack.dev/reference/block-kit/blocks/)."""
import lines

DEPTH = 20  # of elements in elements


def texts(blocks):
    """The text of each block that has one, with Slack's escapes."""
    return [text for block in lines.entries(blocks) if (text := shown(block, 0).strip('\n'))]


def attachment(part):
    """The text of an attachment: its own, that of its blocks, or its fallback."""
    own = [part.get(name) for name in ('pretext', 'title', 'text')]
    own += [f"{field.get('title') or ''}: {field.get('value') or ''}" for field in lines.entries(part.get('fields'))]
    own = [text for text in own if isinstance(text, str) and text] + texts(part.get('blocks'))
    for message in lines.entries(part.get('message_blocks')):
        own += texts((message.get('message') or {}).get('blocks') if isinstance(message.get('message'), dict) else None)
    fallback = part.get('fallback') or part.get('image_url') or part.get('from_url')
    return '\n'.join(own) or (fallback if isinstance(fallback, str) else '')


def shown(element, depth):
    """The text of a block or an element."""
    if depth > DEPTH or not isinstance(element, dict):
        return ''
    kind = element.get('type')
    if kind == 'user':
        return f"<@{element.get('user_id')}>"
    if kind == 'channel':
        return f"<#{element.get('channel_id')}>"
    if kind == 'usergroup':
        return f"<!subteam^{element.get('usergroup_id')}>"
    if kind == 'broadcast':
        return f"<!{element.get('range')}>"
    if kind == 'emoji':
        return emoji(element)
    if kind == 'link':
        url, text = element.get('url') or '', element.get('text')
        return f'<{url}|{text}>' if text else f'<{url}>'
    if kind == 'date':
        return lines.words(element.get('fallback')) or ''
    if kind in ('image', 'video'):
        return text_of(element.get('title')) or lines.words(element.get('alt_text')) or ''
    inner = element.get('elements')
    if isinstance(inner, list):
        join = '\n' if kind in ('rich_text_list', 'rich_text') else ' ' if kind == 'context' else ''
        mark = '• ' if kind == 'rich_text_list' else ''
        return join.join(mark + shown(item, depth + 1) for item in inner)
    parts = [text_of(element.get('text'))] + [text_of(field) for field in lines.entries(element.get('fields'))]
    return '\n'.join(part for part in parts if part)


def emoji(element):
    """The characters of an emoji, or its name between colons."""
    try:
        return ''.join(chr(int(code, 16)) for code in element['unicode'].split('-'))
    except lines.UNEXPECTED:
        return f":{element.get('name')}:"


def text_of(value):
    """A text, or the text of a text object."""
    value = value.get('text') if isinstance(value, dict) else value
    return value if isinstance(value, str) else ''
