set role dm_owner;

-- Whether a person sees a message that has the file.
create or replace function dm.sees_file(p_file uuid, p_person bigint) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
return exists (
  select from dm.attached a
  join dm.member m on m.person = p_person and m.conv = a.conv and m.sees @> a.rev
  join dm.entry e on e.conv = a.conv and e.rev = a.rev
  where a.file = p_file and e.payload is not null and (e.expires_at is null or e.expires_at > now()));

-- The files that an operation names; null if the field `files` is not an array, or has more than 64 elements.
create or replace function dm.files_of(request dm.request) returns uuid[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if not request.arguments ? 'files' then return '{}'; end if;
  if jsonb_typeof(request.arguments->'files') <> 'array' or jsonb_array_length(request.arguments->'files') > 64 then
    return null;
  end if;
  return array(select distinct f::uuid from jsonb_array_elements_text(request.arguments->'files') f);
end $$;

-- Whether the hub has all of these files, and the person may attach them. Locks the files, so that none is erased
-- before the end of the transaction. Only dm.erase_file needs a conflicting lock, and dm.erase_file skips locked files.
create or replace function dm.may_attach(p_person bigint, files uuid[]) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
  return cardinality(files) = (
    select count(*) from (
      select from dm.file f
      where f.id = any (files) and f.is_whole and (f.owner = p_person or dm.sees_file(f.id, p_person)) for key share) l);
end $$;

create or replace function dm.attach(e dm.entry, files uuid[]) returns void
language sql volatile set search_path = pg_catalog, pg_temp
begin atomic
  insert into dm.attached (file, conv, rev) select f, (e).conv, (e).rev from unnest(files) f;
  update dm.file f set unused_at = null where f.id = any (files) and f.unused_at is not null;
end;

-- Detaches the files of erased messages. Files that no message has any more are erased later, by dm.erase_file, because
-- another transaction may have locked them now.
create or replace function dm.detach(p_conv uuid, seqs bigint[]) returns void
language sql volatile set search_path = pg_catalog, pg_temp
begin atomic
  with gone as (
    delete from dm.attached a using dm.entry e
    where e.conv = p_conv and e.seq = any (seqs) and e.kind < 16 and a.conv = e.conv and a.rev = e.rev
    returning a.file)
  insert into dm.detached (file) select g.file from gone g;
end;

-- Erases up to `most` chunks of a file that no message has. The last chunks are erased first, so that an upload can
-- resume after the remaining chunks. Does not wait for locks. Returns whether there was such a file.
create or replace function dm.erase_file(most integer default 16) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  unused uuid;
  rest integer;
begin
  select f.id into unused from dm.detached d join dm.file f on f.id = d.file limit 1 for update skip locked;
  if found then
    delete from dm.detached d where d.file = unused;
    update dm.file f set unused_at = '-infinity'
      where f.id = unused and not exists (select from dm.attached a where a.file = f.id);
  end if;
  select f.id into unused from dm.file f where f.unused_at < now() - interval '7 days'
    order by f.unused_at limit 1 for update skip locked;
  if not found then return false; end if;
  rest := coalesce((select max(c.number) from dm.chunk c where c.file = unused), -1) - most;
  update dm.file f set is_whole = false where f.id = unused and f.is_whole;
  delete from dm.chunk c where c.file = unused and c.number > rest;
  if rest < 0 then delete from dm.file f where f.id = unused; end if;
  return true;
end $$;

-- Erases up to 1000 chunks of a file that no message has, when the administrator sweeps the hub.
create or replace function dm.sweep_file() returns boolean language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
begin
  delete from dm.detached d where not exists (select from dm.file f where f.id = d.file);
  return dm.erase_file(1000);
end $$;

-- Counts a new file against the limit on what the hub stores for a person. Returns when to try again if the file
-- exceeds the limit, otherwise null.
create or replace function dm.spend_file(p_person bigint, size bigint) returns timestamptz
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  most bigint := (select h.person_bytes from dm.hub h);
  p dm.person;
begin
  if most is null then return null; end if;
  select * into p from dm.person x where x.id = p_person for no key update;
  if p.kept + size > most and p.counted_at < now() - interval '10 minutes' then
    p.kept := dm.kept(p.id);
    p.counted_at := now();
  end if;
  if p.kept + size > most then
    update dm.person x set kept = p.kept, counted_at = p.counted_at where x.id = p.id;
    return p.counted_at + interval '10 minutes';
  end if;
  update dm.person x set kept = p.kept + size, counted_at = p.counted_at where x.id = p.id;
  return null;
end $$;

-- Counts bytes against the hourly limit for files. If they exceed the limit, returns the time from which they fit,
-- otherwise null.
create or replace function dm.spend_upload(p_person bigint, size integer) returns timestamptz
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  most bigint := (select h.hourly_file_bytes from dm.hub h);
  total double precision;
begin
  insert into dm.done_act as d (person, act, spent, spent_at) values (p_person, 'upload', size, now())
    on conflict (person, act) do update set spent_at = now(), spent = excluded.spent
      + greatest(0, least(d.spent, most) - extract(epoch from now() - d.spent_at) * most / 3600)
    returning d.spent into total;
  if total <= most then return null; end if;
  update dm.done_act d set spent = d.spent - size where d.person = p_person and d.act = 'upload';
  return now() + (total - most) * interval '1 hour' / most;
end $$;

-- Begins or resumes an upload. `chunks` is the number of chunks that the hub has. If another member has uploaded the
-- whole file, a caller who sees a message with this file gets the same answer as the uploader.
create or replace function dm1.upload(
  file uuid, size bigint, out chunks integer, out is_whole boolean, out error text, out retry_at timestamptz)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '3s' as $$
declare
  me bigint := (dm.my_login()).person;
  f dm.file;
begin
  perform dm.refuse_moved();
  if upload.size is null or upload.size not between 0 and 17179869184 then
    error := 'bad_request';
    return;
  end if;
  select * into f from dm.file x where x.id = upload.file;
  if not found then
    -- Each file counts 1024 bytes more than its size, so that the number of empty files is also limited.
    retry_at := coalesce(dm.spend_file(me, upload.size + 1024), dm.spend_upload(me, 1024));
    if retry_at is not null then
      error := 'over_quota';
      return;
    end if;
    insert into dm.file (id, owner, size, is_whole) values (upload.file, me, upload.size, upload.size = 0) returning * into f;
  elsif f.owner = me and f.size = upload.size then
    update dm.file x set unused_at = now() where x.id = f.id and x.unused_at is not null;
    select * into f from dm.file x where x.id = upload.file;
  elsif f.size <> upload.size or not f.is_whole or not dm.sees_file(f.id, me) then
    error := 'id_taken';
    return;
  end if;
  chunks := coalesce((select max(c.number) + 1 from dm.chunk c where c.file = upload.file), 0);
  -- A restored dump may lack chunks.
  is_whole := f.is_whole and chunks * 262144::bigint >= f.size;
  if f.is_whole and not is_whole then
    if f.owner <> me then
      error := 'id_taken';
      return;
    end if;
    update dm.file x set is_whole = false where x.id = f.id;
  end if;
  perform dm.erase_file();
exception when unique_violation then
  raise exception 'try again' using errcode = '40001';
end $$;

-- Adds the next chunk of a file that the caller uploads.
create or replace function dm1.put(
  file uuid, number integer, bytes bytea, out error text, out retry_at timestamptz)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '3s' as $$
declare
  me bigint := (dm.my_login()).person;
  f dm.file;
  next integer;
  is_last boolean;
begin
  perform dm.refuse_moved();
  select * into f from dm.file x where x.id = put.file and x.owner = me for no key update;
  if not found then
    error := 'unknown_attachment';
    return;
  end if;
  next := coalesce((select max(c.number) + 1 from dm.chunk c where c.file = f.id), 0);
  -- The hub has this chunk already: the answer to an earlier call was lost.
  if put.number < next then return; end if;
  if f.is_whole or put.number is distinct from next
      or octet_length(put.bytes) is distinct from least(262144, f.size - next * 262144::bigint) then
    error := 'bad_request';
    return;
  end if;
  retry_at := dm.spend_upload(me, octet_length(put.bytes));
  if retry_at is not null then
    error := 'over_quota';
    return;
  end if;
  insert into dm.chunk (file, number, bytes) values (f.id, next, put.bytes);
  is_last := next * 262144::bigint + octet_length(put.bytes) = f.size;
  if is_last then
    update dm.file x set is_whole = true, unused_at = now() where x.id = f.id;
  else
    -- The commit of the last chunk is synchronous, and makes all chunks durable. If a crash before this commit loses a
    -- chunk, the machine uploads the chunk again.
    perform set_config('synchronous_commit', 'off', true);
  end if;
end $$;

-- Chunks of a file that the caller has uploaded, or that is in a message that the caller sees; no rows for any other
-- file.
create or replace function dm1.chunks(file uuid, first integer, most integer) returns table (bytes bytea)
language plpgsql stable security definer rows 16 set search_path = pg_catalog, pg_temp as $$
declare
  me bigint := (dm.my_login()).person;
begin
  if exists (select from dm.file f where f.id = chunks.file and f.owner = me) or dm.sees_file(chunks.file, me) then
    return query
      select c.bytes from dm.chunk c where c.file = chunks.file and c.number >= chunks.first
      order by c.number limit least(chunks.most, 64);
  end if;
end $$;
reset role;
