set role dm_owner;

alter table dm.person
  -- The last rev of the person's own states.
  add column own_rev bigint not null default 0;

-- The own states of persons: what a person alone decides about a conversation, such as a pin or a draft. The person's
-- machines exchange the states through the hub, which does not read them.
create table dm.own_state (
  person bigint not null references dm.person,
  -- If the id has only zeros, the state is not about one conversation; it has the person's blocks, for example.
  conv uuid not null,
  rev bigint not null,
  -- A machine can replace a state only if it names the mark of that state.
  mark uuid not null default gen_random_uuid(),
  -- The epoch in which the state was written. After a restore of the hub, states of earlier epochs may be out of date.
  epoch uuid not null,
  state bytea not null check (octet_length(state) <= 524288),
  primary key (person, conv)
);
create index own_state_rev on dm.own_state (person, rev);
reset role;
