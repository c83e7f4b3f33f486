-- Times are microseconds since 1970-01-01T00:00:00Z. `uuid` is 16 bytes. `seq` counts 1, 2, 3 … without holes.

CREATE TABLE store (
  uuid BLOB NOT NULL CHECK (length(uuid) = 16)
) STRICT;

CREATE TABLE user (
  id INTEGER PRIMARY KEY,
  handle TEXT NOT NULL UNIQUE CHECK (length(handle) > 0),
  display_name TEXT,
  bio TEXT,
  avatar_url TEXT,
  shows_presence INTEGER NOT NULL DEFAULT 1 CHECK (shows_presence IN (0, 1)),
  created_at INTEGER NOT NULL
) STRICT;

-- A direct conversation has a pair and no title, a group a title or none and no pair. `last_message` is the row whose
-- number is `last_seq`, so that a list finds it at once.
CREATE TABLE conversation (
  id INTEGER PRIMARY KEY,
  uuid BLOB NOT NULL UNIQUE CHECK (length(uuid) = 16),
  direct_low INTEGER REFERENCES user,
  direct_high INTEGER REFERENCES user,
  title TEXT,
  creator INTEGER REFERENCES user,
  is_imported INTEGER NOT NULL DEFAULT 0 CHECK (is_imported IN (0, 1)),
  created_at INTEGER NOT NULL,
  last_seq INTEGER NOT NULL DEFAULT 0,
  last_message INTEGER,
  last_activity INTEGER NOT NULL,
  CHECK ((direct_low IS NULL) = (direct_high IS NULL)),
  CHECK (direct_low IS NULL OR (direct_low <= direct_high AND title IS NULL))
) STRICT;
CREATE UNIQUE INDEX conversation_direct ON conversation (direct_low, direct_high)
  WHERE direct_low IS NOT NULL;
-- Other ids of a conversation: those under which stores whose history was imported knew the same pair.
CREATE TABLE conversation_alias (
  uuid BLOB PRIMARY KEY CHECK (length(uuid) = 16),
  conversation INTEGER NOT NULL REFERENCES conversation
) STRICT, WITHOUT ROWID;
CREATE INDEX conversation_title ON conversation (title) WHERE title IS NOT NULL;

-- `last_activity` repeats the conversation's, so that a user's newest conversations are one index away; it is NULL
-- in large groups, where a send would have to touch too many rows. `read_count` is the size of the user's read_range.
CREATE TABLE participant (
  conversation INTEGER NOT NULL REFERENCES conversation,
  user INTEGER NOT NULL REFERENCES user,
  joined_at INTEGER NOT NULL,
  is_pinned INTEGER NOT NULL DEFAULT 0 CHECK (is_pinned IN (0, 1)),
  is_archived INTEGER NOT NULL DEFAULT 0 CHECK (is_archived IN (0, 1)),
  last_activity INTEGER,
  read_count INTEGER NOT NULL DEFAULT 0,
  delivered_seq INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (conversation, user)
) STRICT, WITHOUT ROWID;
CREATE INDEX participant_activity ON participant (user, is_pinned, last_activity);

CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  uuid BLOB NOT NULL UNIQUE CHECK (length(uuid) = 16),
  conversation INTEGER NOT NULL REFERENCES conversation,
  seq INTEGER NOT NULL CHECK (seq > 0),
  sender INTEGER NOT NULL REFERENCES user,
  created_at INTEGER NOT NULL,
  text TEXT,
  nonce TEXT,
  reply_to BLOB CHECK (length(reply_to) = 16),
  UNIQUE (conversation, seq)
) STRICT;
CREATE UNIQUE INDEX message_nonce ON message (conversation, nonce, sender) WHERE nonce IS NOT NULL;
CREATE INDEX message_created ON message (created_at);

-- What a user has read or written, for himself: disjoint and never adjacent. `--unread` subtracts from it.
CREATE TABLE read_range (
  conversation INTEGER NOT NULL REFERENCES conversation,
  user INTEGER NOT NULL REFERENCES user,
  from_seq INTEGER NOT NULL,
  to_seq INTEGER NOT NULL CHECK (to_seq >= from_seq),
  PRIMARY KEY (conversation, user, from_seq)
) STRICT, WITHOUT ROWID;

-- Who read what when, kept for ever: disjoint for each user, because only what is read for the first time is added.
CREATE TABLE receipt (
  conversation INTEGER NOT NULL REFERENCES conversation,
  user INTEGER NOT NULL REFERENCES user,
  from_seq INTEGER NOT NULL,
  to_seq INTEGER NOT NULL CHECK (to_seq >= from_seq),
  at INTEGER NOT NULL,
  PRIMARY KEY (conversation, user, from_seq)
) STRICT, WITHOUT ROWID;

-- The receipts of all users laid over each other, disjoint: `reader` is the only one, or NULL where there are several.
-- A message is `read` where that is anyone but its sender.
CREATE TABLE read_mark (
  conversation INTEGER NOT NULL REFERENCES conversation,
  to_seq INTEGER NOT NULL,
  from_seq INTEGER NOT NULL CHECK (to_seq >= from_seq),
  reader INTEGER REFERENCES user,
  PRIMARY KEY (conversation, to_seq)
) STRICT, WITHOUT ROWID;

-- What happened, in commit order. Rows are named, never repeated: a reader joins them as they are now.
CREATE TABLE change (
  rev INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  conversation INTEGER,
  user INTEGER,
  from_seq INTEGER,
  to_seq INTEGER
) STRICT;
