-- Whose messages a change of status is about; NULL for all but those of `user`, whose receipt it was.
ALTER TABLE change ADD COLUMN sender INTEGER;

-- Where a named consumer of a user stands: everything up to the change `rev` is done, and of the change after it the
-- messages up to `seq`. `conversations` is a JSON array of those that its stream is about, NULL for all;
-- `marks_delivered` says whether what it acknowledges counts as delivered.
CREATE TABLE consumer (
  id INTEGER PRIMARY KEY,
  user INTEGER NOT NULL REFERENCES user,
  name TEXT NOT NULL CHECK (length(name) > 0),
  rev INTEGER NOT NULL CHECK (rev >= 0),
  seq INTEGER NOT NULL CHECK (seq >= 0),
  used_at INTEGER NOT NULL,
  skipped_count INTEGER NOT NULL DEFAULT 0,
  conversations TEXT,
  marks_delivered INTEGER NOT NULL CHECK (marks_delivered IN (0, 1)),
  UNIQUE (user, name)
) STRICT;
