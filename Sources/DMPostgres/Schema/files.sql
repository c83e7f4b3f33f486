set role dm_owner;

alter table dm.hub
  -- Bytes of files that a person may upload in an hour.
  add column hourly_file_bytes bigint not null default 1073741824 check (hourly_file_bytes >= 1048576);

-- The files of messages. The member who uploads a file chooses its id at random.
create table dm.file (
  id uuid primary key,
  owner bigint not null references dm.person,
  size bigint not null check (size between 0 and 17179869184),
  -- Whether the hub has all chunks.
  is_whole boolean not null,
  -- The time since which no message has the file; null while a message has the file. The file is erased seven days
  -- after this time. The time is -infinity, so that the file is erased soon, if the last message with the file was
  -- erased.
  unused_at timestamptz default now()
);
create index file_unused on dm.file (unused_at) where unused_at is not null;
create index file_owner on dm.file (owner);

-- Each chunk of a file has 256 KiB; only the last one may be shorter.
create table dm.chunk (
  file uuid not null references dm.file on delete cascade,
  number integer not null,
  bytes bytea not null check (octet_length(bytes) <= 262144),
  primary key (file, number)
);
-- PostgreSQL need not compress the chunks, because most files are compressed already.
alter table dm.chunk alter column bytes set storage external;

-- The files of each message.
create table dm.attached (
  file uuid not null references dm.file,
  conv uuid not null,
  rev bigint not null,
  primary key (file, conv, rev)
);
create index attached_entry on dm.attached (conv, rev);

-- Files of erased messages. Other messages may still have these files. The table has no key, so that no insert waits
-- for another transaction that inserts the same file.
create table dm.detached (file uuid not null);
reset role;
