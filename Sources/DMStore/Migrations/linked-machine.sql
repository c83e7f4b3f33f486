-- The bytes that the contents of attachments may take in this store; NULL for any number.
ALTER TABLE hub ADD COLUMN contents_limit INTEGER CHECK (contents_limit >= 0);

-- The stamp of this store on the hub, and the one that the store has offered since: the hub has one of the two.
ALTER TABLE hub ADD COLUMN stamp BLOB CHECK (length(stamp) = 16);
ALTER TABLE hub ADD COLUMN next_stamp BLOB CHECK (length(next_stamp) = 16);
-- When the hub last had neither, because another store had connected with the login of this one.
ALTER TABLE hub ADD COLUMN copied_at INTEGER;
