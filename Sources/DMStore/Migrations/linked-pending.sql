-- The operations of a conversation that are not done: a few, among those of 30 days.
CREATE INDEX outbox_pending ON outbox (conversation) WHERE state < 4;
