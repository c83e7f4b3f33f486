-- The tables that a store has in addition while it is linked to a hub: it is then a replica of what one person sees
-- there. They are made when it is linked, because each opening of a store parses every table that is there.
-- How the hub is reached, and with which password, is in the file `hub` of the store's folder, never here.

CREATE TABLE hub (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  uuid BLOB NOT NULL CHECK (length(uuid) = 16),
  -- Whose store it is, and which of their machines.
  user INTEGER NOT NULL REFERENCES user,
  machine BLOB NOT NULL CHECK (length(machine) = 16),
  -- By the clock of the hub.
  joined_at INTEGER NOT NULL,
  -- From then on the store is only read.
  left_at INTEGER,
  -- Why the hub refuses this store; NULL while it does not.
  refusal TEXT,
  -- The state of the hub that was compared last: its epoch, when its server was started, and an xid8 in decimal.
  epoch BLOB CHECK (length(epoch) = 16),
  started_at INTEGER,
  horizon TEXT,
  people_rev INTEGER NOT NULL DEFAULT 0 CHECK (people_rev >= 0),
  -- By how many microseconds the clock of the hub is ahead of this machine's.
  clock_offset INTEGER NOT NULL DEFAULT 0,
  -- The network that dm-sync plays: 0 normal, 1 poor, 2 very poor, 3 offline.
  network INTEGER NOT NULL DEFAULT 0 CHECK (network BETWEEN 0 AND 3)
) STRICT;

CREATE TABLE hub_person (
  id INTEGER PRIMARY KEY,
  user INTEGER NOT NULL UNIQUE REFERENCES user
) STRICT;

-- A conversation that the hub has. The entries of its log up to `rev` are in this store, and `mark` is that of the last.
CREATE TABLE hub_conversation (
  conversation INTEGER PRIMARY KEY REFERENCES conversation,
  rev INTEGER NOT NULL DEFAULT 0 CHECK (rev >= 0),
  mark BLOB CHECK (length(mark) = 16),
  -- The revs that the person sees, as PostgreSQL writes an int8multirange.
  sees TEXT NOT NULL,
  -- Entries up to this rev are history, which is no news for followers.
  news_after INTEGER NOT NULL CHECK (news_after >= 0),
  -- The highest rev that the hub has ever named.
  known INTEGER NOT NULL DEFAULT 0 CHECK (known >= 0),
  -- The code of the reason why nothing of it is pulled any more; NULL for none.
  fault TEXT
) STRICT;

-- What was done here and the hub has not ordered yet, in this order; and what it has ordered, for 30 days and without
-- texts, to be done again if the hub is set back.
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- 1 say, 2 edit, 3 delete, 4 react, 5 read, 6 delivered, 7 begin, 8 group, 9 add, 10 remove, 11 leave, 12 title,
  -- 13 avatar, 14 expire, 15 profile.
  act INTEGER NOT NULL CHECK (act BETWEEN 1 AND 15),
  -- 0 queued; 1 sending: whether the hub has it is not known; 2 acknowledged: not seen in the log yet; 3 refused;
  -- 4 done.
  state INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 4),
  conversation INTEGER REFERENCES conversation,
  -- The id of the message that it sends, or is about.
  target BLOB CHECK (length(target) = 16),
  nonce BLOB NOT NULL UNIQUE CHECK (length(nonce) = 16),
  -- What the hub reads of it besides, a JSON object, and what it does not read.
  arguments TEXT NOT NULL DEFAULT '{}',
  payload BLOB,
  created_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  tried_at INTEGER,
  -- Not tried earlier.
  not_before INTEGER,
  -- Its place in the log, once the hub has answered.
  rev INTEGER,
  -- The code of the reason why it was refused.
  fault TEXT,
  -- Whether it is told again because the hub was set back: what is refused then waits for its conversation.
  is_repeated INTEGER NOT NULL DEFAULT 0 CHECK (is_repeated IN (0, 1))
) STRICT;
CREATE INDEX outbox_open ON outbox (id) WHERE state < 3;
CREATE INDEX outbox_target ON outbox (target) WHERE target IS NOT NULL AND state < 4;
CREATE INDEX outbox_done ON outbox (conversation, rev) WHERE state = 4;

-- The messages that the hub has not ordered yet, which have no numbers. Ordering deletes the row and adds the message.
CREATE TABLE waiting (
  place INTEGER PRIMARY KEY REFERENCES outbox,
  uuid BLOB NOT NULL UNIQUE CHECK (length(uuid) = 16),
  conversation INTEGER NOT NULL REFERENCES conversation,
  created_at INTEGER NOT NULL,
  text TEXT,
  nonce TEXT,
  reply_to BLOB CHECK (length(reply_to) = 16),
  forwarded_from INTEGER REFERENCES user,
  -- Microseconds from the time at which the hub orders it to its end.
  lifetime INTEGER CHECK (lifetime > 0),
  -- The handles of the users that the text mentions, separated by spaces.
  mentions TEXT,
  edited_at INTEGER,
  -- Whether it was deleted here although the hub may have it.
  is_hidden INTEGER NOT NULL DEFAULT 0 CHECK (is_hidden IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX waiting_nonce ON waiting (conversation, nonce) WHERE nonce IS NOT NULL;
CREATE INDEX waiting_conversation ON waiting (conversation, place);

-- Ids under which messages waited, and which the hub did not keep: another machine had used the nonce before.
CREATE TABLE message_alias (
  uuid BLOB PRIMARY KEY CHECK (length(uuid) = 16),
  message BLOB NOT NULL CHECK (length(message) = 16)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_alias_message ON message_alias (message);

-- What the hub has of a message while acts of the person that wait in the outbox show something else.
CREATE TABLE hub_base (
  message INTEGER PRIMARY KEY REFERENCES message,
  text TEXT,
  edited_at INTEGER,
  emoji TEXT,
  emoji_at INTEGER
) STRICT;

-- What the hub has of messages that this version of dm cannot read.
CREATE TABLE hub_unreadable (
  message INTEGER PRIMARY KEY REFERENCES message,
  payload BLOB NOT NULL
) STRICT;

-- Messages of a conversation that was pulled again because the hub was set back, and what the person had done to them.
CREATE TABLE hub_known (
  uuid BLOB PRIMARY KEY CHECK (length(uuid) = 16),
  is_read INTEGER NOT NULL CHECK (is_read IN (0, 1)),
  is_deleted INTEGER NOT NULL CHECK (is_deleted IN (0, 1)),
  -- Whether each consumer of the person has had it; otherwise it is news when it comes again.
  is_consumed INTEGER NOT NULL CHECK (is_consumed IN (0, 1))
) STRICT, WITHOUT ROWID;
