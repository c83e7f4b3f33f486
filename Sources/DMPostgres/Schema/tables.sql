set role dm_owner;
alter default privileges for role dm_owner revoke execute on functions from public;

-- A random number from 1 to 2^48. Unlike a serial number, it does not reveal how many rows there are, and is not used
-- again after a restore.
create function dm.random_number() returns bigint language sql volatile
return ('x' || right(gen_random_uuid()::text, 12))::bit(48)::bigint + 1;

create table dm.hub (
  id integer primary key check (id = 1),
  uuid uuid not null default gen_random_uuid(),
  -- Gets a new value when the data may differ from what members have: after a restore, after the promotion of a
  -- standby, or in a copy of the database.
  epoch uuid not null default gen_random_uuid(),
  fingerprint text,
  schema integer not null default 1,
  -- The hub's address, and the certificate of the authority that signed its server's certificate; both become part of
  -- invitations.
  address text,
  authority text,
  -- Bytes that a person may send in an hour.
  hourly_bytes bigint not null default 67108864 check (hourly_bytes >= 1048576),
  -- With more connections than this, members poll every two seconds instead of listening.
  listeners integer not null default 300 check (listeners >= 0),
  -- Whether other applications use the database; if so, PUBLIC keeps its rights on it.
  is_shared boolean not null default false
);
insert into dm.hub (id) values (1);

-- The last rev of the persons. This rev has its own table, so that a change of a profile locks only this row and the
-- person's row.
create table dm.people (id integer primary key check (id = 1), rev bigint not null);
insert into dm.people values (1, 0);

create table dm.person (
  id bigint primary key default dm.random_number(),
  handle text collate "C" not null unique
    check (octet_length(handle) between 1 and 64 and handle !~ '[[:space:][:cntrl:],:/]' and handle !~ '^[@#+-]'),
  profile bytea check (octet_length(profile) <= 65536),
  shows_presence boolean not null default true,
  created_at timestamptz not null default now(),
  rev bigint not null unique,
  -- Bytes that counted against the hourly limit at the time spent_at. From then on, the count falls to 0 within an
  -- hour.
  spent bigint not null default 0,
  spent_at timestamptz not null default now(),
  disabled_at timestamptz
);

-- A machine of a person, which has a role of its own.
create table dm.login (
  role name primary key,
  person bigint not null references dm.person,
  machine uuid not null unique default gen_random_uuid(),
  label text check (octet_length(label) <= 256),
  channel text not null unique default 'w_' || translate(gen_random_uuid()::text, '-', ''),
  invited_until timestamptz not null,
  joined_at timestamptz,
  seen_at timestamptz
);
create index login_person on dm.login (person);

-- Roles to drop. Members cannot drop roles, so the administrator's next invite or revoke drops them.
create table dm.former_login (role name primary key);

create table dm.conversation (
  id uuid primary key,
  is_group boolean not null,
  rev bigint not null default 0,
  seq bigint not null default 0,
  last_at timestamptz not null default 'epoch',
  -- The transaction that last changed the conversation.
  touched xid8 not null default pg_current_xact_id(),
  -- The two members of a direct conversation, who may be the same person.
  lower_person bigint references dm.person,
  upper_person bigint references dm.person,
  -- The lifetime of new messages in microseconds; null if they do not expire.
  expire_after bigint check (expire_after between 1000000 and 31622400000000),
  unique (lower_person, upper_person),
  check (is_group = (lower_person is null) and is_group = (upper_person is null))
) with (fillfactor = 50);

create table dm.member (
  person bigint not null references dm.person,
  conv uuid not null references dm.conversation,
  -- The revs that the person sees: several ranges if the person left and returned.
  sees int8multirange not null,
  since bigint not null default 1,
  -- The transaction in which the person left; null for a member.
  ended xid8,
  is_owner boolean not null default false,
  -- The numbers of the messages that the person has read, and of the last message that was delivered to them.
  read int8multirange not null default '{}',
  delivered bigint not null default 0,
  primary key (person, conv)
) with (fillfactor = 70);
create index member_conv on dm.member (conv, person) where upper_inf(sees);

-- The log. Entries of kinds below 16 have a number of their own: 0 message, 1 created, 2 joined, 3 left, 4 titled.
-- Others do not: 16 edited, 17 deleted, 18 reaction, 19 read, 20 delivered, 21 settings, 22 begun.
create table dm.entry (
  conv uuid not null references dm.conversation,
  rev bigint not null,
  -- The entry's own number, or the number of the message to which the entry refers.
  seq bigint,
  at timestamptz not null,
  actor bigint not null references dm.person,
  machine uuid not null,
  kind smallint not null,
  -- The entry's own id, or the id of the message to which the entry refers.
  id uuid,
  nonce uuid,
  -- A random id, which distinguishes this entry from another entry that gets the same rev after a restore of the hub.
  mark uuid not null default gen_random_uuid(),
  -- The digest of the operation, which shows whether the nonce is used again for another operation. Erased with the
  -- payload, because the text could be guessed from the digest.
  request uuid,
  expires_at timestamptz,
  -- The hub writes `meta`. The author writes `payload`, which the hub does not read.
  meta jsonb,
  payload bytea check (octet_length(payload) <= 524288),
  primary key (conv, rev)
);
create unique index entry_seq on dm.entry (conv, seq) where kind < 16;
create unique index entry_id on dm.entry (id) where kind < 16;
create unique index entry_nonce on dm.entry (actor, nonce) where nonce is not null;
create index entry_act on dm.entry (conv, seq, rev) where kind in (16, 18);
create index entry_due on dm.entry (expires_at) where expires_at is not null and payload is not null;

-- The answer to an operation.
create type dm.answer as (conv uuid, id uuid, rev bigint, duplicate boolean, error text, retry_at timestamptz);

-- An operation that dm.perform carries out.
create type dm.request as (
  actor bigint, machine uuid, conv uuid, nonce uuid, digest uuid, payload bytea, arguments jsonb);
reset role;
