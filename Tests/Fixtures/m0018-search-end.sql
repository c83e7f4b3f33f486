-- The key of the last message whose words the search index has. The few messages after it are indexed together later, and
-- until then, a search reads their texts. Without a row, the index has no message.
CREATE TABLE search_end (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  message INTEGER NOT NULL
) STRICT;
INSERT INTO search_end (id, message) SELECT 1, id FROM message ORDER BY id DESC LIMIT 1;
-- Whether a participant has unread messages. The flag is 0 where `last_activity` is NULL, because a send changes no row
-- there.
ALTER TABLE participant ADD COLUMN is_unread INTEGER NOT NULL DEFAULT 0 CHECK (is_unread IN (0, 1));
UPDATE participant SET is_unread = 1 WHERE last_activity IS NOT NULL AND read_count + blocked_count
  < coalesce(left_seq, (SELECT c.last_seq FROM conversation c WHERE c.id = participant.conversation));
CREATE INDEX participant_unread ON participant (user) WHERE is_unread;
