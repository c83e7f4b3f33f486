-- Which messages this store keeps of each conversation: the last ones, or those of the last microseconds; NULL for all.
ALTER TABLE hub ADD COLUMN messages_limit INTEGER CHECK (messages_limit > 0);
ALTER TABLE hub ADD COLUMN messages_age INTEGER CHECK (messages_age > 0);

-- The conversations of which this store has not kept all messages. It has all messages from the floor on; of the messages
-- below the floor, some are here and all are on the hub.
CREATE TABLE hub_floor (
  conversation INTEGER PRIMARY KEY REFERENCES conversation,
  -- The number and the time of the first message that was kept.
  seq INTEGER NOT NULL CHECK (seq > 1),
  at INTEGER NOT NULL,
  -- When messages below the floor were last fetched from the hub; 0 if they were removed since.
  fetched_at INTEGER NOT NULL DEFAULT 0,
  -- Whether the log is pulled again from its beginning: there is no floor then, but what was below it is no news.
  is_past INTEGER NOT NULL DEFAULT 0 CHECK (is_past IN (0, 1)),
  -- The messages below the floor that the user had deleted for themselves when the log was last pulled again: the first
  -- and last numbers of ranges, separated by spaces.
  hidden TEXT
) STRICT;

-- The messages below a floor that a program wants to read.
CREATE TABLE hub_page (
  conversation INTEGER NOT NULL REFERENCES conversation,
  from_seq INTEGER NOT NULL CHECK (from_seq BETWEEN 1 AND to_seq),
  to_seq INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  PRIMARY KEY (conversation, from_seq)
) STRICT, WITHOUT ROWID;
