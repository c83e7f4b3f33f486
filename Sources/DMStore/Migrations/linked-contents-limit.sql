-- The bytes that the contents of attachments may take in this store; NULL for any number.
ALTER TABLE hub ADD COLUMN contents_limit INTEGER CHECK (contents_limit >= 0);
