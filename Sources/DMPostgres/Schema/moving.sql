set role dm_owner;

alter table dm.hub
  -- Where the hub is now, if it was moved: the address, and the authority that signed the certificate there.
  add column moved_to text,
  add column moved_authority text,
  -- The server and the database that it was moved from.
  add column moved_from text,
  -- Bytes of messages that the hub keeps of a person; null for no limit.
  add column person_bytes bigint check (person_bytes >= 1048576);

alter table dm.person
  -- Bytes of messages that count against that limit. They are counted anew from time to time, because deleted messages stay
  -- in the count until then.
  add column kept bigint not null default 0,
  add column counted_at timestamptz not null default now(),
  -- When the administrator erased what the person had said; nobody else gets the handle.
  add column forgotten_at timestamptz;

-- `create or replace` cannot change a result type.
drop function if exists dm.counts();
drop function if exists dm.spend(bigint, jsonb);
reset role;
