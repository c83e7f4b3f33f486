-- Changes may be about messages that wait for a hub: 12 waiting, 13 waiting and changed, 14 taken back, 15 ordered. Of the
-- first three, `from_seq` is a place in the outbox.
CREATE TABLE new_change (
  rev INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 15),
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
