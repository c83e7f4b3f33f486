-- Whether a hidden range is of a time when the user was not in the conversation. It stays so when they delete it for themselves,
-- because such messages were never delivered to them.
ALTER TABLE hidden_range ADD COLUMN is_unseen INTEGER NOT NULL DEFAULT 0 CHECK (is_unseen IN (0, 1));
UPDATE hidden_range SET is_unseen = 1 WHERE NOT is_deleted;
