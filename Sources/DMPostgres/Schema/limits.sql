set role dm_owner;

-- How many operations of a kind a person may push in a minute. A kind without a row has no limit.
create table dm.act_limit (
  act text primary key,
  per_minute integer not null check (per_minute between 1 and 1000000)
);

-- For each person and limit: `spent` is what counted against the limit at the time spent_at. The count falls from then
-- on. The count of the act `upload` is in bytes.
create unlogged table dm.done_act (
  person bigint not null,
  act text not null,
  spent double precision not null,
  spent_at timestamptz not null,
  primary key (person, act)
) with (fillfactor = 50);

-- These functions are dropped because `create or replace` cannot change the result type of a function.
drop function if exists dm.spend(bigint, bigint);
drop function if exists dm.erase_expired();
reset role;
