-- The schemas: dm is nobody's but its own, dm1 is what members call. A member's login may do nothing but call the
-- functions of dm1.
create schema dm authorization dm_owner;
create schema dm1 authorization dm_owner;
