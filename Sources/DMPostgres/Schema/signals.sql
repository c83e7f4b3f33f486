set role dm_owner;

-- Signals that hold for seconds. The tables are unlogged: a signal is no row of the write-ahead log, and is gone after a
-- crash of the server.
create unlogged table dm.typing (
  conv uuid not null,
  person bigint not null,
  until timestamptz not null,
  primary key (conv, person)
) with (fillfactor = 50);

create unlogged table dm.presence (
  person bigint primary key,
  at timestamptz not null,
  -- The persons who are not to see it, because this person blocks them.
  hidden_from bigint[] not null
) with (fillfactor = 50);
reset role;
