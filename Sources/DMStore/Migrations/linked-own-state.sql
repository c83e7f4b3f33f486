-- What the user alone decides, such as pins, drafts and blocks, as their machines exchange it through the hub.
CREATE TABLE hub_own_state (
  -- NULL for what is not about one conversation.
  conversation INTEGER REFERENCES conversation,
  -- What the hub has: its rev and mark, or 0 and NULL before the first exchange, and its bytes.
  rev INTEGER NOT NULL DEFAULT 0 CHECK (rev >= 0),
  mark BLOB CHECK (length(mark) = 16),
  state BLOB,
  -- What was given to the hub since, a line each, and may have become what it has.
  given BLOB,
  -- Whether something was changed in this store since.
  is_changed INTEGER NOT NULL DEFAULT 0 CHECK (is_changed IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX hub_own_state_conversation ON hub_own_state (coalesce(conversation, 0));
CREATE INDEX hub_own_state_changed ON hub_own_state (conversation) WHERE is_changed;

-- Whether the person had sent a receipt for a message.
ALTER TABLE hub_known ADD COLUMN has_receipt INTEGER NOT NULL DEFAULT 0 CHECK (has_receipt IN (0, 1));

-- The rev up to which this store has these states.
ALTER TABLE hub ADD COLUMN own_rev INTEGER NOT NULL DEFAULT 0 CHECK (own_rev >= 0);

-- What was decided before this table was there.
INSERT INTO hub_own_state (conversation, is_changed) SELECT p.conversation, 1 FROM hub h JOIN participant p ON p.user = h.user
WHERE p.is_pinned OR p.is_archived OR p.is_deleted OR p.muted_until NOT NULL OR p.draft_text NOT NULL
  OR EXISTS (SELECT 1 FROM own_name n WHERE n.user = h.user AND n.conversation = p.conversation)
  OR EXISTS (SELECT 1 FROM hidden_range r WHERE r.user = h.user AND r.conversation = p.conversation AND r.is_deleted);
INSERT INTO hub_own_state (conversation, is_changed) SELECT NULL, 1 FROM hub;
