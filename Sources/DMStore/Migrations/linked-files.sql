-- The tables for the files of a linked store.

-- Files of messages that the hub has or is to have. A content may have several: each sender uploads a file of their own.
CREATE TABLE hub_file (
  uuid BLOB PRIMARY KEY CHECK (length(uuid) = 16),
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  -- What is to be done: 0 nothing, 1 upload it, 2 fetch it.
  task INTEGER NOT NULL DEFAULT 0 CHECK (task BETWEEN 0 AND 2),
  -- The task is not tried earlier.
  not_before INTEGER,
  -- Why the last attempt failed, as a clause.
  fault TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX hub_file_sha256 ON hub_file (sha256);
CREATE INDEX hub_file_task ON hub_file (task) WHERE task > 0;

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
