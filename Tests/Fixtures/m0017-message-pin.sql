-- The messages that are pinned for everybody in a conversation. A row has the number of the message instead of its key,
-- because a linked store may have left the message on the hub.
CREATE TABLE message_pin (
  conversation INTEGER NOT NULL REFERENCES conversation,
  seq INTEGER NOT NULL CHECK (seq BETWEEN 1 AND 1099511627776),
  user INTEGER NOT NULL REFERENCES user,
  at INTEGER NOT NULL,
  PRIMARY KEY (conversation, seq)
) STRICT, WITHOUT ROWID;
-- A change may be a pin: 16.
CREATE TABLE new_change (
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
INSERT INTO new_change SELECT rev, at, kind, conversation, user, from_seq, to_seq, sender, digest FROM change ORDER BY rev;
UPDATE sqlite_sequence SET seq = max(seq, (SELECT seq FROM sqlite_sequence WHERE name = 'change')) WHERE name = 'new_change';
DROP TABLE change;
ALTER TABLE new_change RENAME TO change;
