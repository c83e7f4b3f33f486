-- What the migrations lead to, made from them by make generate. A new store begins with it, in a tenth of their time.
CREATE TABLE user (
  id INTEGER PRIMARY KEY,
  handle TEXT NOT NULL UNIQUE CHECK (length(handle) > 0),
  display_name TEXT,
  bio TEXT,
  avatar_url TEXT,
  shows_presence INTEGER NOT NULL DEFAULT 1 CHECK (shows_presence IN (0, 1)),
  created_at INTEGER NOT NULL
, sends_read_receipts INTEGER NOT NULL DEFAULT 1 CHECK (sends_read_receipts IN (0, 1))) STRICT;
CREATE TABLE conversation_alias (
  uuid BLOB PRIMARY KEY CHECK (length(uuid) = 16),
  conversation INTEGER NOT NULL REFERENCES conversation
) STRICT, WITHOUT ROWID;
CREATE TABLE consumer (
  id INTEGER PRIMARY KEY,
  user INTEGER NOT NULL REFERENCES user,
  name TEXT NOT NULL CHECK (length(name) > 0),
  rev INTEGER NOT NULL CHECK (rev >= 0),
  seq INTEGER NOT NULL CHECK (seq >= 0),
  used_at INTEGER NOT NULL,
  skipped_count INTEGER NOT NULL DEFAULT 0,
  conversations TEXT,
  marks_delivered INTEGER NOT NULL CHECK (marks_delivered IN (0, 1)), digest INTEGER,
  UNIQUE (user, name)
) STRICT;
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
CREATE TABLE report (
  id INTEGER PRIMARY KEY,
  message INTEGER NOT NULL REFERENCES message,
  reporter INTEGER NOT NULL REFERENCES user,
  at INTEGER NOT NULL,
  reason TEXT,
  text TEXT,
  UNIQUE (message, reporter)
) STRICT;
CREATE TABLE upkeep (
  tool TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5(text, content = '', columnsize = 0, tokenize = "unicode61 remove_diacritics 2");
CREATE TABLE attachment (
  id INTEGER PRIMARY KEY,
  uuid BLOB NOT NULL UNIQUE CHECK (length(uuid) = 16),
  -- Who prepared it; as long as it is in no message, nobody else can send it.
  user INTEGER NOT NULL REFERENCES user,
  created_at INTEGER NOT NULL,
  message INTEGER REFERENCES message,
  -- Its place among those of its message: 1, 2, 3 ….
  place INTEGER CHECK (place > 0),
  -- 1 image, 2 video, 3 audio, 4 voice, 5 file.
  kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 5),
  name TEXT NOT NULL CHECK (length(name) > 0),
  mime_type TEXT NOT NULL CHECK (length(mime_type) > 0),
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  width INTEGER CHECK (width > 0),
  height INTEGER CHECK (height > 0),
  -- Microseconds.
  duration INTEGER CHECK (duration >= 0),
  -- How loud each 64th of a voice is.
  waveform BLOB CHECK (length(waveform) = 64),
  thumbnail_sha256 BLOB CHECK (length(thumbnail_sha256) = 32),
  thumbnail_mime_type TEXT CHECK (length(thumbnail_mime_type) > 0),
  thumbnail_size_bytes INTEGER CHECK (thumbnail_size_bytes > 0),
  thumbnail_width INTEGER CHECK (thumbnail_width > 0),
  thumbnail_height INTEGER CHECK (thumbnail_height > 0),
  -- Of all that stands here, so that what a disk changes is noticed.
  digest INTEGER,
  CHECK ((message IS NULL) = (place IS NULL)),
  CHECK ((width IS NULL) = (height IS NULL)),
  CHECK ((thumbnail_sha256 IS NULL) = (thumbnail_mime_type IS NULL)),
  CHECK ((thumbnail_sha256 IS NULL) = (thumbnail_size_bytes IS NULL)),
  CHECK ((thumbnail_sha256 IS NULL) = (thumbnail_width IS NULL)),
  CHECK ((thumbnail_sha256 IS NULL) = (thumbnail_height IS NULL))
) STRICT;
CREATE UNIQUE INDEX attachment_message ON attachment (message, place) WHERE message IS NOT NULL;
CREATE TABLE "store" (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  uuid BLOB NOT NULL CHECK (length(uuid) = 16)
) STRICT;
CREATE TABLE "conversation" (
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
CREATE UNIQUE INDEX conversation_direct ON conversation (direct_low, direct_high) WHERE direct_low IS NOT NULL;
CREATE INDEX conversation_title ON conversation (title) WHERE title IS NOT NULL;
CREATE TABLE "participant" (
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
  mention_count INTEGER NOT NULL DEFAULT 0 CHECK (mention_count >= 0), is_unread INTEGER NOT NULL DEFAULT 0 CHECK (is_unread IN (0, 1)),
  PRIMARY KEY (conversation, user)
) STRICT, WITHOUT ROWID;
CREATE INDEX participant_activity ON participant (user, is_pinned, last_activity);
CREATE TABLE "message" (
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
  attachment_count INTEGER NOT NULL DEFAULT 0 CHECK (attachment_count >= 0), forwarded_from INTEGER REFERENCES user, link_preview_count INTEGER NOT NULL DEFAULT 0 CHECK (link_preview_count IN (0, 1)),
  UNIQUE (conversation, seq),
  CHECK (deleted_at IS NULL OR text IS NULL AND mentions IS NULL AND edited_at IS NULL AND reaction_count = 0
    AND attachment_count = 0)
) STRICT;
CREATE UNIQUE INDEX message_nonce ON message (conversation, nonce, sender) WHERE nonce IS NOT NULL;
CREATE INDEX message_created ON message (created_at);
CREATE INDEX message_expiring ON message (expires_at) WHERE expires_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX message_attached ON message (conversation, seq) WHERE attachment_count > 0;
CREATE TABLE "read_range" (
  conversation INTEGER NOT NULL REFERENCES conversation,
  user INTEGER NOT NULL REFERENCES user,
  from_seq INTEGER NOT NULL CHECK (from_seq BETWEEN 1 AND to_seq),
  to_seq INTEGER NOT NULL CHECK (to_seq <= 1099511627776),
  PRIMARY KEY (conversation, user, from_seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE "receipt" (
  conversation INTEGER NOT NULL REFERENCES conversation,
  user INTEGER NOT NULL REFERENCES user,
  from_seq INTEGER NOT NULL CHECK (from_seq BETWEEN 1 AND to_seq),
  to_seq INTEGER NOT NULL CHECK (to_seq <= 1099511627776),
  at INTEGER NOT NULL, rev INTEGER NOT NULL DEFAULT 0 CHECK (rev >= 0),
  PRIMARY KEY (conversation, user, from_seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE "read_mark" (
  conversation INTEGER NOT NULL REFERENCES conversation,
  to_seq INTEGER NOT NULL CHECK (to_seq <= 1099511627776),
  from_seq INTEGER NOT NULL CHECK (from_seq BETWEEN 1 AND to_seq),
  reader INTEGER REFERENCES user,
  PRIMARY KEY (conversation, to_seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE "hidden_range" (
  conversation INTEGER NOT NULL REFERENCES conversation,
  user INTEGER NOT NULL REFERENCES user,
  from_seq INTEGER NOT NULL CHECK (from_seq BETWEEN 1 AND to_seq),
  to_seq INTEGER NOT NULL CHECK (to_seq <= 1099511627776),
  is_deleted INTEGER NOT NULL CHECK (is_deleted IN (0, 1)), is_unseen INTEGER NOT NULL DEFAULT 0 CHECK (is_unseen IN (0, 1)),
  PRIMARY KEY (conversation, user, from_seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE table_digest (
  name TEXT PRIMARY KEY,
  digest INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE former (
  user INTEGER NOT NULL REFERENCES user,
  conversation INTEGER NOT NULL REFERENCES conversation,
  title TEXT,
  avatar_url TEXT,
  expire_after INTEGER CHECK (expire_after > 0),
  participants TEXT NOT NULL, left_rev INTEGER CHECK (left_rev >= 0), delivered TEXT,
  PRIMARY KEY (user, conversation)
) STRICT, WITHOUT ROWID;
CREATE TABLE history (
  conversation INTEGER PRIMARY KEY REFERENCES conversation,
  message_count INTEGER NOT NULL CHECK (message_count > 0),
  last_seq INTEGER NOT NULL CHECK (last_seq >= message_count)
) STRICT;
CREATE TABLE own_name (
  user INTEGER NOT NULL REFERENCES user,
  conversation INTEGER NOT NULL REFERENCES conversation,
  name TEXT NOT NULL,
  PRIMARY KEY (user, conversation),
  UNIQUE (user, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE picture (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
  bytes BLOB NOT NULL CHECK (length(bytes) BETWEEN 1 AND 10240)
) STRICT;
CREATE TABLE link_preview (
  message INTEGER PRIMARY KEY REFERENCES message,
  url TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT,
  site TEXT,
  place INTEGER CHECK (place > 0)
) STRICT;
CREATE TABLE message_pin (
  conversation INTEGER NOT NULL REFERENCES conversation,
  seq INTEGER NOT NULL CHECK (seq BETWEEN 1 AND 1099511627776),
  user INTEGER NOT NULL REFERENCES user,
  at INTEGER NOT NULL,
  PRIMARY KEY (conversation, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE "change" (
  rev INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 16),
  conversation INTEGER,
  user INTEGER,
  from_seq INTEGER,
  to_seq INTEGER,
  sender INTEGER,
  digest INTEGER,
  CHECK ((from_seq IS NULL) = (to_seq IS NULL)),
  CHECK (from_seq IS NULL OR from_seq BETWEEN 1 AND to_seq AND to_seq <= 1099511627776)
) STRICT;
CREATE TABLE search_end (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  message INTEGER NOT NULL
) STRICT;
CREATE INDEX participant_unread ON participant (user) WHERE is_unread;
