set role dm_owner;

alter table dm.hub
  -- Bytes of files that a person may upload in an hour.
  add column hourly_file_bytes bigint not null default 1073741824 check (hourly_file_bytes >= 1048576);

-- The files of messages. The member who uploads a file chooses its id at random.
create table dm.file (
  id uuid primary key,
  owner bigint not null references dm.person,
  size bigint not null check (size between 0 and 17179869184),
  -- Whether all chunks are there.
  is_whole boolean not null,
  -- Since when no message has had the file; null while one has it. It is erased seven days later, or at once if the last
  -- message that had it was erased.
  unused_at timestamptz default now()
);
create index file_unused on dm.file (unused_at) where unused_at is not null;
create index file_owner on dm.file (owner);

-- Each chunk of a file has 256 KiB, but for the last one.
create table dm.chunk (
  file uuid not null references dm.file on delete cascade,
  number integer not null,
  bytes bytea not null check (octet_length(bytes) <= 262144),
  primary key (file, number)
);
-- Most files are compressed already.
alter table dm.chunk alter column bytes set storage external;

-- The files of each message.
create table dm.attached (
  file uuid not null references dm.file,
  conv uuid not null,
  rev bigint not null,
  primary key (file, conv, rev)
);
create index attached_entry on dm.attached (conv, rev);

-- Files that a message had that was erased; perhaps another message has them. Without a key, so that nobody waits.
create table dm.detached (file uuid not null);
reset role;
