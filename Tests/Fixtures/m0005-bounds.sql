-- Bounds that every row keeps, and digests of the rows that had none. SQLite adds no CHECK to a table that is there, so
-- each of these is made anew (sqlite.org/lang_altertable.html, section 7). No number of a message is over 2^40, which is
-- written out because each opening parses it.

CREATE TABLE new_store (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  uuid BLOB NOT NULL CHECK (length(uuid) = 16)
) STRICT;
INSERT INTO new_store (id, uuid) SELECT 1, uuid FROM store;
DROP TABLE store;
ALTER TABLE new_store RENAME TO store;

-- `last_message` is the newest that is not deleted, `expire_after` the lifetime of new messages in microseconds.
CREATE TABLE new_conversation (
  id INTEGER PRIMARY KEY,
  uuid BLOB NOT NULL UNIQUE CHECK (length(uuid) = 16),
  direct_low INTEGER REFERENCES user,
  direct_high INTEGER REFERENCES user,
  title TEXT,
  creator INTEGER REFERENCES user,
  is_imported INTEGER NOT NULL DEFAULT 0 CHECK (is_imported IN (0, 1)),
  created_at INTEGER NOT NULL,
  avatar_url TEXT,
  expire_after INTEGER CHECK (expire_after > 0),
  last_seq INTEGER NOT NULL DEFAULT 0 CHECK (last_seq BETWEEN 0 AND 1099511627776),
  last_message INTEGER,
  last_activity INTEGER NOT NULL,
  CHECK ((direct_low IS NULL) = (direct_high IS NULL)),
  CHECK (direct_low IS NULL OR (direct_low <= direct_high AND title IS NULL))
) STRICT;
INSERT INTO new_conversation SELECT id, uuid, direct_low, direct_high, title, creator, is_imported, created_at, avatar_url,
  expire_after, last_seq, last_message, last_activity FROM conversation;
DROP TABLE conversation;
ALTER TABLE new_conversation RENAME TO conversation;
CREATE UNIQUE INDEX conversation_direct ON conversation (direct_low, direct_high) WHERE direct_low IS NOT NULL;
CREATE INDEX conversation_title ON conversation (title) WHERE title IS NOT NULL;

-- `left_seq` is the last message that a former participant may see. `is_deleted`: not in the user's lists until something
-- new is said; `is_blocked`: not while they block the other of the two. `blocked_count` and `mention_count` are of the
-- messages in no read_range: those that the user's blocks hide, and those of others that mention the user.
CREATE TABLE new_participant (
  conversation INTEGER NOT NULL REFERENCES conversation,
  user INTEGER NOT NULL REFERENCES user,
  joined_at INTEGER NOT NULL,
  left_seq INTEGER CHECK (left_seq BETWEEN 0 AND 1099511627776),
  is_owner INTEGER NOT NULL DEFAULT 0 CHECK (is_owner IN (0, 1)),
  is_pinned INTEGER NOT NULL DEFAULT 0 CHECK (is_pinned IN (0, 1)),
  is_archived INTEGER NOT NULL DEFAULT 0 CHECK (is_archived IN (0, 1)),
  is_deleted INTEGER NOT NULL DEFAULT 0 CHECK (is_deleted IN (0, 1)),
  muted_until INTEGER,
  draft_text TEXT,
  is_blocked INTEGER NOT NULL DEFAULT 0 CHECK (is_blocked IN (0, 1)),
  last_activity INTEGER,
  delivered_seq INTEGER NOT NULL DEFAULT 0 CHECK (delivered_seq BETWEEN 0 AND 1099511627776),
  read_count INTEGER NOT NULL DEFAULT 0 CHECK (read_count >= 0),
  blocked_count INTEGER NOT NULL DEFAULT 0 CHECK (blocked_count >= 0),
  mention_count INTEGER NOT NULL DEFAULT 0 CHECK (mention_count >= 0),
  PRIMARY KEY (conversation, user)
) STRICT, WITHOUT ROWID;
INSERT INTO new_participant SELECT conversation, user, joined_at, left_seq, is_owner, is_pinned, is_archived, is_deleted,
  muted_until, draft_text, is_blocked, last_activity, delivered_seq, max(read_count, 0), max(blocked_count, 0),
  max(mention_count, 0) FROM participant;
DROP TABLE participant;
ALTER TABLE new_participant RENAME TO participant;
CREATE INDEX participant_activity ON participant (user, is_pinned, last_activity);

-- `system_kind`: 1 conversation_created, 2 user_joined, 3 user_left, 4 title_changed, 5 history_imported; `subject` is the handle or the title.
-- `mentions` are the handles of the users that the text mentions, separated by spaces. A tombstone keeps its number, sender
-- and times.
CREATE TABLE new_message (
  id INTEGER PRIMARY KEY,
  uuid BLOB NOT NULL UNIQUE CHECK (length(uuid) = 16),
  conversation INTEGER NOT NULL REFERENCES conversation,
  seq INTEGER NOT NULL CHECK (seq BETWEEN 1 AND 1099511627776),
  sender INTEGER NOT NULL REFERENCES user,
  created_at INTEGER NOT NULL,
  text TEXT,
  nonce TEXT,
  reply_to BLOB CHECK (length(reply_to) = 16),
  edited_at INTEGER,
  expires_at INTEGER,
  deleted_at INTEGER,
  system_kind INTEGER CHECK (system_kind BETWEEN 1 AND 5),
  subject TEXT,
  mentions TEXT,
  reaction_count INTEGER NOT NULL DEFAULT 0 CHECK (reaction_count >= 0),
  digest INTEGER,
  attachment_count INTEGER NOT NULL DEFAULT 0 CHECK (attachment_count >= 0),
  UNIQUE (conversation, seq),
  CHECK (deleted_at IS NULL OR text IS NULL AND mentions IS NULL AND edited_at IS NULL AND reaction_count = 0
    AND attachment_count = 0)
) STRICT;
INSERT INTO new_message SELECT id, uuid, conversation, seq, sender, created_at, text, nonce, reply_to, edited_at, expires_at,
  deleted_at, system_kind, subject, mentions, reaction_count, digest, attachment_count FROM message;
DROP TABLE message;
ALTER TABLE new_message RENAME TO message;
CREATE UNIQUE INDEX message_nonce ON message (conversation, nonce, sender) WHERE nonce IS NOT NULL;
CREATE INDEX message_created ON message (created_at);
CREATE INDEX message_expiring ON message (expires_at) WHERE expires_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX message_attached ON message (conversation, seq) WHERE attachment_count > 0;

CREATE TABLE new_read_range (
  conversation INTEGER NOT NULL REFERENCES conversation,
  user INTEGER NOT NULL REFERENCES user,
  from_seq INTEGER NOT NULL CHECK (from_seq BETWEEN 1 AND to_seq),
  to_seq INTEGER NOT NULL CHECK (to_seq <= 1099511627776),
  PRIMARY KEY (conversation, user, from_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO new_read_range SELECT * FROM read_range;
DROP TABLE read_range;
ALTER TABLE new_read_range RENAME TO read_range;

CREATE TABLE new_receipt (
  conversation INTEGER NOT NULL REFERENCES conversation,
  user INTEGER NOT NULL REFERENCES user,
  from_seq INTEGER NOT NULL CHECK (from_seq BETWEEN 1 AND to_seq),
  to_seq INTEGER NOT NULL CHECK (to_seq <= 1099511627776),
  at INTEGER NOT NULL,
  PRIMARY KEY (conversation, user, from_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO new_receipt SELECT * FROM receipt;
DROP TABLE receipt;
ALTER TABLE new_receipt RENAME TO receipt;

CREATE TABLE new_read_mark (
  conversation INTEGER NOT NULL REFERENCES conversation,
  to_seq INTEGER NOT NULL CHECK (to_seq <= 1099511627776),
  from_seq INTEGER NOT NULL CHECK (from_seq BETWEEN 1 AND to_seq),
  reader INTEGER REFERENCES user,
  PRIMARY KEY (conversation, to_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO new_read_mark SELECT * FROM read_mark;
DROP TABLE read_mark;
ALTER TABLE new_read_mark RENAME TO read_mark;

CREATE TABLE new_hidden_range (
  conversation INTEGER NOT NULL REFERENCES conversation,
  user INTEGER NOT NULL REFERENCES user,
  from_seq INTEGER NOT NULL CHECK (from_seq BETWEEN 1 AND to_seq),
  to_seq INTEGER NOT NULL CHECK (to_seq <= 1099511627776),
  is_deleted INTEGER NOT NULL CHECK (is_deleted IN (0, 1)),
  PRIMARY KEY (conversation, user, from_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO new_hidden_range SELECT * FROM hidden_range;
DROP TABLE hidden_range;
ALTER TABLE new_hidden_range RENAME TO hidden_range;

-- `sender`, of a change of status: whose messages they are; NULL when they are of all senders but `user`. `rev` has no holes,
-- so `digest` is of the other columns.
CREATE TABLE new_change (
  rev INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 11),
  conversation INTEGER,
  user INTEGER,
  from_seq INTEGER,
  to_seq INTEGER,
  sender INTEGER,
  digest INTEGER,
  CHECK ((from_seq IS NULL) = (to_seq IS NULL)),
  CHECK (from_seq IS NULL OR from_seq BETWEEN 1 AND to_seq AND to_seq <= 1099511627776)
) STRICT;
INSERT INTO new_change (rev, at, kind, conversation, user, from_seq, to_seq, sender)
  SELECT rev, at, kind, conversation, user, from_seq, to_seq, sender FROM change ORDER BY rev;
UPDATE sqlite_sequence SET seq = max(seq, (SELECT seq FROM sqlite_sequence WHERE name = 'change')) WHERE name = 'new_change';
DROP TABLE change;
ALTER TABLE new_change RENAME TO change;

ALTER TABLE consumer ADD COLUMN digest INTEGER;

-- For each of the tables whose rows have no digest: the sum of the digests of all of them.
CREATE TABLE table_digest (
  name TEXT PRIMARY KEY,
  digest INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
