set role dm_owner;

-- The messages that members reported to the administrator, each with a copy of its payload at the time of the report.
create table dm.report (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  reporter bigint not null references dm.person,
  conv uuid not null,
  seq bigint not null,
  message uuid not null,
  sender bigint not null references dm.person,
  reason text check (octet_length(reason) <= 4096),
  payload bytea,
  unique (reporter, message)
);
reset role;
