-- What a former participant still sees of a group: as it was when they left. `participants` are the handles of those
-- who were in it then, separated by spaces.
CREATE TABLE former (
  user INTEGER NOT NULL REFERENCES user,
  conversation INTEGER NOT NULL REFERENCES conversation,
  title TEXT,
  avatar_url TEXT,
  expire_after INTEGER CHECK (expire_after > 0),
  participants TEXT NOT NULL,
  PRIMARY KEY (user, conversation)
) STRICT, WITHOUT ROWID;
INSERT INTO former (user, conversation, title, avatar_url, expire_after, participants)
  SELECT p.user, c.id, c.title, c.avatar_url, c.expire_after, coalesce((SELECT group_concat(u.handle, ' ')
    FROM participant o JOIN user u ON u.id = o.user WHERE o.conversation = c.id AND o.left_seq IS NULL), '')
  FROM participant p JOIN conversation c ON c.id = p.conversation WHERE p.left_seq IS NOT NULL;

-- The messages that imports added: how many, and the number of the last. While they are all that an imported conversation
-- has, anybody may import into it.
CREATE TABLE history (
  conversation INTEGER PRIMARY KEY REFERENCES conversation,
  message_count INTEGER NOT NULL CHECK (message_count > 0),
  last_seq INTEGER NOT NULL CHECK (last_seq >= message_count)
) STRICT;
-- Where the change log is complete, it has every message that was sent.
INSERT INTO history (conversation, message_count, last_seq)
  SELECT id, last_seq, last_seq FROM conversation WHERE is_imported AND last_seq > 0
  AND (SELECT min(rev) FROM change) = 1
  AND id NOT IN (SELECT conversation FROM change WHERE kind = 1 AND conversation IS NOT NULL);
