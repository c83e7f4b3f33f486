-- The tables for the files of a linked store.

-- Files of messages that the hub has or is to have, with the content that their sender has named: others may name other contents.
-- A content may have several files: each sender uploads one of their own.
CREATE TABLE hub_file (
  uuid BLOB NOT NULL CHECK (length(uuid) = 16),
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  is_uploaded INTEGER NOT NULL DEFAULT 1 CHECK (is_uploaded IN (0, 1)),
  is_wanted INTEGER NOT NULL DEFAULT 0 CHECK (is_wanted IN (0, 1)),
  -- It is not uploaded or fetched earlier.
  not_before INTEGER,
  -- Why the last attempt failed, as a clause.
  fault TEXT,
  PRIMARY KEY (uuid, sha256, size_bytes)
) STRICT, WITHOUT ROWID;
CREATE INDEX hub_file_sha256 ON hub_file (sha256);
CREATE INDEX hub_file_open ON hub_file (is_uploaded, size_bytes) WHERE is_wanted OR NOT is_uploaded;

-- The files of the attachments of messages, and the places of attachments in a message that waits for the hub.
CREATE TABLE hub_attachment (
  attachment INTEGER PRIMARY KEY REFERENCES attachment,
  file BLOB NOT NULL CHECK (length(file) = 16),
  thumbnail_file BLOB CHECK (length(thumbnail_file) = 16),
  waiting INTEGER REFERENCES waiting,
  place INTEGER CHECK (place > 0),
  CHECK ((waiting IS NULL) = (place IS NULL))
) STRICT;
CREATE UNIQUE INDEX hub_attachment_waiting ON hub_attachment (waiting, place) WHERE waiting IS NOT NULL;
