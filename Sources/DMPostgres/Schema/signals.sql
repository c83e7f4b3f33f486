set role dm_owner;

-- Typing and presence, which are valid for seconds. The tables are unlogged: their rows are not written to the WAL, and
-- are lost if the server crashes.
create unlogged table dm.typing (
  conv uuid not null,
  person bigint not null,
  until timestamptz not null,
  primary key (conv, person)
) with (fillfactor = 50);

create unlogged table dm.presence (
  person bigint primary key,
  at timestamptz not null,
  -- The persons who must not see the presence, because this person blocks them.
  hidden_from bigint[] not null
) with (fillfactor = 50);
reset role;
