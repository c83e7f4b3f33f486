-- The previews of the first links of messages, which the programs of their senders made. The image of a preview is the
-- attachment of the message at this place.
CREATE TABLE link_preview (
  message INTEGER PRIMARY KEY REFERENCES message,
  url TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT,
  site TEXT,
  place INTEGER CHECK (place > 0)
) STRICT;
ALTER TABLE message ADD COLUMN link_preview_count INTEGER NOT NULL DEFAULT 0 CHECK (link_preview_count IN (0, 1));
