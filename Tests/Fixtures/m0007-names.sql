-- What a user calls a conversation. It goes before titles, and only that user sees it.
CREATE TABLE own_name (
  user INTEGER NOT NULL REFERENCES user,
  conversation INTEGER NOT NULL REFERENCES conversation,
  name TEXT NOT NULL,
  PRIMARY KEY (user, conversation),
  UNIQUE (user, name)
) STRICT, WITHOUT ROWID;

ALTER TABLE user ADD COLUMN sends_read_receipts INTEGER NOT NULL DEFAULT 1 CHECK (sends_read_receipts IN (0, 1));

-- Of a forwarded message: who said it first.
ALTER TABLE message ADD COLUMN forwarded_from INTEGER REFERENCES user;
