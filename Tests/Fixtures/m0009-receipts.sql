-- The change that told of a receipt, so that it is known whether a user had left before; 0 for receipts from before this was
-- noted.
ALTER TABLE receipt ADD COLUMN rev INTEGER NOT NULL DEFAULT 0 CHECK (rev >= 0);

-- The last change before a former participant left, and the last message that each participant had received by then, as a
-- JSON object by the user's key. Both are NULL only where an older version wrote the row.
ALTER TABLE former ADD COLUMN left_rev INTEGER CHECK (left_rev >= 0);
ALTER TABLE former ADD COLUMN delivered TEXT;
