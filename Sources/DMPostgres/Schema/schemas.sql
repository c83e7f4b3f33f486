-- The schemas: dm is private to the hub, dm1 has the functions that
-- members call. The login of a member may do nothing but call these.
create schema dm authorization dm_owner;
create schema dm1 authorization dm_owner;
