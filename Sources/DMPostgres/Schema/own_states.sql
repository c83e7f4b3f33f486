set role dm_owner;

alter table dm.person
  -- The last rev of the person's own states.
  add column own_rev bigint not null default 0;

-- What a person alone decides about a conversation, such as a pin or a draft, for their other machines. The hub does not read it.
create table dm.own_state (
  person bigint not null references dm.person,
  -- Only zeros for what is not about one conversation.
  conv uuid not null,
  rev bigint not null,
  -- A machine replaces a state only if it names the mark of that state.
  mark uuid not null default gen_random_uuid(),
  -- The epoch in which it was written: after a restore of the hub, states of earlier epochs may be old.
  epoch uuid not null,
  state bytea not null check (octet_length(state) <= 524288),
  primary key (person, conv)
);
create index own_state_rev on dm.own_state (person, rev);
reset role;
