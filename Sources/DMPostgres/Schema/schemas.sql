-- The schemas: dm is private to the hub, dm1 has the functions that
-- members call. A member's login may only call the functions in dm1.
create schema dm authorization dm_owner;
create schema dm1 authorization dm_owner;
