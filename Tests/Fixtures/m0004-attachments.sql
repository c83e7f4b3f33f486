-- A file that was prepared to be sent and, once it is sent, one that a message carries. Its content and its thumbnail
-- are files under `attachments` that bear their hashes as names.
CREATE TABLE attachment (
  id INTEGER PRIMARY KEY,
  uuid BLOB NOT NULL UNIQUE CHECK (length(uuid) = 16),
  -- Who prepared it; as long as it is in no message, nobody else can send it.
  user INTEGER NOT NULL REFERENCES user,
  created_at INTEGER NOT NULL,
  message INTEGER REFERENCES message,
  -- Its place among those of its message: 1, 2, 3 ….
  place INTEGER CHECK (place > 0),
  -- 1 image, 2 video, 3 audio, 4 voice, 5 file.
  kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 5),
  name TEXT NOT NULL CHECK (length(name) > 0),
  mime_type TEXT NOT NULL CHECK (length(mime_type) > 0),
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  width INTEGER CHECK (width > 0),
  height INTEGER CHECK (height > 0),
  -- Microseconds.
  duration INTEGER CHECK (duration >= 0),
  -- How loud each 64th of a voice is.
  waveform BLOB CHECK (length(waveform) = 64),
  thumbnail_sha256 BLOB CHECK (length(thumbnail_sha256) = 32),
  thumbnail_mime_type TEXT CHECK (length(thumbnail_mime_type) > 0),
  thumbnail_size_bytes INTEGER CHECK (thumbnail_size_bytes > 0),
  thumbnail_width INTEGER CHECK (thumbnail_width > 0),
  thumbnail_height INTEGER CHECK (thumbnail_height > 0),
  -- Of all that stands here, so that what a disk changes is noticed.
  digest INTEGER,
  CHECK ((message IS NULL) = (place IS NULL)),
  CHECK ((width IS NULL) = (height IS NULL)),
  CHECK ((thumbnail_sha256 IS NULL) = (thumbnail_mime_type IS NULL)),
  CHECK ((thumbnail_sha256 IS NULL) = (thumbnail_size_bytes IS NULL)),
  CHECK ((thumbnail_sha256 IS NULL) = (thumbnail_width IS NULL)),
  CHECK ((thumbnail_sha256 IS NULL) = (thumbnail_height IS NULL))
) STRICT;
CREATE UNIQUE INDEX attachment_message ON attachment (message, place) WHERE message IS NOT NULL;

ALTER TABLE message ADD COLUMN attachment_count INTEGER NOT NULL DEFAULT 0;
CREATE INDEX message_attached ON message (conversation, seq) WHERE attachment_count > 0;
