set role dm_owner;

alter table dm.hub
  -- If the hub was moved: its new address, and the certificate of the authority that signed the new server's
  -- certificate.
  add column moved_to text,
  add column moved_authority text,
  -- The server and the database from which the hub was moved; see dm.site.
  add column moved_from text,
  -- The maximum number of bytes that the hub stores for each person; null for no limit.
  add column person_bytes bigint check (person_bytes >= 1048576);

alter table dm.person
  -- The bytes that count against person_bytes, as of the last recount at counted_at. Deleted messages stay in the count
  -- until the next recount.
  add column kept bigint not null default 0,
  add column counted_at timestamptz not null default now(),
  -- The time at which the administrator erased the person. No other person gets the handle.
  add column forgotten_at timestamptz;

-- These functions are dropped because `create or replace` cannot change the result type of a function.
drop function if exists dm.counts();
drop function if exists dm.spend(bigint, jsonb);
reset role;
