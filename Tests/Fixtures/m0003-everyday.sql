ALTER TABLE conversation ADD COLUMN avatar_url TEXT;
-- From here on `last_message` is the newest that is no tombstone.
-- Microseconds that what is said from now on lives; NULL for ever.
ALTER TABLE conversation ADD COLUMN expire_after INTEGER CHECK (expire_after > 0);

ALTER TABLE participant ADD COLUMN is_owner INTEGER NOT NULL DEFAULT 0 CHECK (is_owner IN (0, 1));
-- The last message that a former participant may see; NULL for one who is in.
ALTER TABLE participant ADD COLUMN left_seq INTEGER;
ALTER TABLE participant ADD COLUMN muted_until INTEGER;
-- Gone from the user's lists until something new is said, and as long as he blocks the other of the two.
ALTER TABLE participant ADD COLUMN is_deleted INTEGER NOT NULL DEFAULT 0 CHECK (is_deleted IN (0, 1));
ALTER TABLE participant ADD COLUMN is_blocked INTEGER NOT NULL DEFAULT 0 CHECK (is_blocked IN (0, 1));
ALTER TABLE participant ADD COLUMN draft_text TEXT;
-- Of the messages that are in no read_range: those that the user's blocking hides, and those of the others that
-- mention him.
ALTER TABLE participant ADD COLUMN blocked_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE participant ADD COLUMN mention_count INTEGER NOT NULL DEFAULT 0;

ALTER TABLE message ADD COLUMN edited_at INTEGER;
ALTER TABLE message ADD COLUMN expires_at INTEGER;
-- A tombstone has neither text nor mentions nor reactions.
ALTER TABLE message ADD COLUMN deleted_at INTEGER;
-- 1 conversation_created, 2 user_joined, 3 user_left, 4 title_changed; `subject` is the handle or the title.
ALTER TABLE message ADD COLUMN system_kind INTEGER;
ALTER TABLE message ADD COLUMN subject TEXT;
-- The handles of those whom the text mentions, separated by spaces.
ALTER TABLE message ADD COLUMN mentions TEXT;
ALTER TABLE message ADD COLUMN reaction_count INTEGER NOT NULL DEFAULT 0;
-- Of all that was said, so that what a disk changes is noticed.
ALTER TABLE message ADD COLUMN digest INTEGER;
CREATE INDEX message_expiring ON message (expires_at) WHERE expires_at IS NOT NULL AND deleted_at IS NULL;

-- What a participant never sees: said before he joined or while he was away, or deleted by him. Disjoint.
-- All of it lies in his read_range too, so that it does not count as unread.
CREATE TABLE hidden_range (
  conversation INTEGER NOT NULL REFERENCES conversation,
  user INTEGER NOT NULL REFERENCES user,
  from_seq INTEGER NOT NULL,
  to_seq INTEGER NOT NULL CHECK (to_seq >= from_seq),
  is_deleted INTEGER NOT NULL CHECK (is_deleted IN (0, 1)),
  PRIMARY KEY (conversation, user, from_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE mention (
  conversation INTEGER NOT NULL REFERENCES conversation,
  user INTEGER NOT NULL REFERENCES user,
  seq INTEGER NOT NULL,
  PRIMARY KEY (conversation, user, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE reaction (
  message INTEGER NOT NULL REFERENCES message,
  user INTEGER NOT NULL REFERENCES user,
  emoji TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (message, user)
) STRICT, WITHOUT ROWID;

CREATE TABLE block (
  user INTEGER NOT NULL REFERENCES user,
  blocked INTEGER NOT NULL REFERENCES user,
  at INTEGER NOT NULL,
  PRIMARY KEY (user, blocked)
) STRICT, WITHOUT ROWID;
CREATE INDEX block_blocked ON block (blocked);

-- For whoever runs the store: what was reported, as it was then.
CREATE TABLE report (
  id INTEGER PRIMARY KEY,
  message INTEGER NOT NULL REFERENCES message,
  reporter INTEGER NOT NULL REFERENCES user,
  at INTEGER NOT NULL,
  reason TEXT,
  text TEXT,
  UNIQUE (message, reporter)
) STRICT;

-- When a tool of upkeep was used last.
CREATE TABLE upkeep (
  tool TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The words of each message, found by its id; the text itself stands in `message`, and how long it is is no matter.
CREATE VIRTUAL TABLE search USING fts5(text, content = '', columnsize = 0, tokenize = "unicode61 remove_diacritics 2");

UPDATE participant SET is_owner = 1 WHERE (conversation, user) IN (
  SELECT id, coalesce(
    (SELECT user FROM participant WHERE conversation = conversation.id AND user = creator),
    (SELECT min(user) FROM participant WHERE conversation = conversation.id))
  FROM conversation WHERE direct_low IS NULL);
