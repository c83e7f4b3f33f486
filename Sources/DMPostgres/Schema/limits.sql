set role dm_owner;

-- How often a person may do an act in a minute; acts without a row have no limit.
create table dm.act_limit (
  act text primary key,
  per_minute integer not null check (per_minute between 1 and 1000000)
);

-- The acts of persons that count against these limits, as of spent_at.
create unlogged table dm.done_act (
  person bigint not null,
  act text not null,
  spent double precision not null,
  spent_at timestamptz not null,
  primary key (person, act)
) with (fillfactor = 50);

-- `create or replace` cannot change a result type.
drop function if exists dm.spend(bigint, bigint);
drop function if exists dm.erase_expired();
reset role;
