set role dm_owner;

-- A random id that the store and the hub replace at each connection. After the store has connected again, a copy of it
-- has an older id.
alter table dm.login add column stamp uuid;
reset role;
