-- The statements of dm-send for a message to :to, in its transaction; :c is the conversation, :me the sender.
-- The shell checkpoints the WAL when it closes the database: its default, and the fastest setting here.
PRAGMA user_version;
PRAGMA application_id;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA journal_size_limit = 8388608;
BEGIN IMMEDIATE;
PRAGMA user_version;
SELECT id FROM user WHERE handle = 'me';
SELECT id FROM user WHERE handle = ':to';
SELECT id, uuid, direct_low IS NULL, is_imported, last_seq, last_activity FROM conversation
WHERE direct_low = :low AND direct_high = :high;
INSERT INTO message (uuid, conversation, seq, sender, created_at, text, nonce, reply_to)
SELECT randomblob(16), id, last_seq + 1, :me, last_activity + 1, 'hello', NULL, NULL FROM conversation WHERE id = :c;
INSERT INTO change (at, kind, conversation, user, from_seq, to_seq)
SELECT last_activity + 1, 1, id, :me, last_seq + 1, last_seq + 1 FROM conversation WHERE id = :c;
UPDATE conversation SET last_seq = last_seq + 1, last_message = (SELECT max(id) FROM message), last_activity = last_activity + 1 WHERE id = :c;
UPDATE participant SET last_activity = iif(last_activity IS NULL, NULL, (SELECT last_activity FROM conversation WHERE id = :c)),
  read_count = read_count + iif(coalesce(user = :me, 1), 1, 0)
WHERE conversation = :c AND (last_activity IS NOT NULL OR coalesce(user = :me, 1));
UPDATE read_range SET to_seq = to_seq + 1 WHERE conversation = :c AND user = :me
AND to_seq = (SELECT last_seq FROM conversation WHERE id = :c) - 1
AND from_seq = (SELECT max(from_seq) FROM read_range WHERE conversation = :c AND user = :me);
COMMIT;
