-- The small pictures of users and groups. The column avatar_url of a user, conversation or former participant contains
-- 'nih:sha-256;' and the hash in hexadecimal (RFC 6920, section 7).
CREATE TABLE picture (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
  bytes BLOB NOT NULL CHECK (length(bytes) BETWEEN 1 AND 10240)
) STRICT;
