set role dm_owner;

-- Sets a new epoch if the data is now on another server or timeline, in another database, or in new tables, for example
-- after pg_restore.
create or replace function dm.notice_move() returns dm.hub language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
declare
  hub dm.hub;
  place text := (select system_identifier from pg_control_system()) || '/'
    || (select timeline_id from pg_control_checkpoint()) || '/'
    || (select oid from pg_database where datname = current_database()) || '/'
    || 'dm.hub'::regclass::oid || '/' || pg_relation_filenode('dm.conversation');
begin
  select * into hub from dm.hub;
  if hub.fingerprint is distinct from place and not pg_is_in_recovery() then
    update dm.hub set fingerprint = place, epoch = gen_random_uuid() where fingerprint is distinct from place;
    -- Transaction numbers from another server may be higher than those of this server.
    update dm.conversation set touched = pg_current_xact_id() where touched > pg_current_xact_id();
    update dm.member set ended = pg_current_xact_id() where ended > pg_current_xact_id();
    select * into hub from dm.hub;
  end if;
  return hub;
end $$;

-- Identifies the server and the database. A hub that runs from a copy of the server's files has the same identity.
create or replace function dm.site() returns text language sql stable set search_path = pg_catalog, pg_temp
return (select system_identifier from pg_control_system())
  || '/' || (select oid from pg_database where datname = current_database());

-- Completes a move if this is not the server and database from which the hub was moved, or if `p_address` is the
-- address to which it was moved. Returns that address if a move was completed, otherwise null.
create or replace function dm.arrive(p_address text) returns text language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
declare
  place text;
begin
  perform dm.notice_move();
  update dm.hub set moved_to = null, moved_authority = null, moved_from = null, address = moved_to,
      authority = nullif(coalesce(moved_authority, authority), '')
    where moved_to is not null and (moved_from <> dm.site() or moved_to = p_address)
    returning address into place;
  return place;
end $$;

-- Raises an error if the hub was moved, so that nothing more is written on the old server.
create or replace function dm.refuse_moved() returns void language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from dm.hub h where h.moved_to is not null) then
    raise exception 'the hub was moved' using errcode = '25006';
  end if;
end $$;

-- The maximum number of connections for roles other than superusers.
create or replace function dm.connection_limit() returns integer language sql stable set search_path = pg_catalog, pg_temp
return current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
  - coalesce(current_setting('reserved_connections', true), '0')::integer;

create or replace function dm1.hello(protocol integer, label text default null)
returns table (
  hub uuid, epoch uuid, started_at timestamptz, is_standby boolean, person bigint, handle text, machine uuid,
  channel text, now timestamptz, poll_seconds integer, people_rev bigint, schema integer, features text[])
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
  at dm.hub;
  mine dm.login;
  connections bigint;
  pause integer;
begin
  if protocol <> 1 then
    raise exception 'protocol % is not spoken here', protocol using errcode = 'DM001', detail = '1';
  end if;
  select l.* into mine from dm.login l join dm.person p on p.id = l.person
    where l.role = session_user and p.disabled_at is null;
  if not found or mine.joined_at is null and mine.invited_until < now() then
    raise exception 'not a member' using errcode = 'DM002';
  end if;
  at := dm.notice_move();
  if not pg_is_in_recovery() and (mine.seen_at is null or mine.seen_at < now() - interval '1 minute'
      or mine.label is distinct from coalesce(left(hello.label, 64), mine.label)) then
    update dm.login l set label = coalesce(left(hello.label, 64), l.label), seen_at = now() where role = session_user;
  end if;
  select sum(pg_stat_get_db_numbackends(d.oid)) into connections from pg_database d;
  -- If more than four fifths of the connections are in use, machines take turns. If there are more connections than
  -- `listeners`, machines poll.
  if connections * 5 > dm.connection_limit() * 4 then
    pause := 15;
  elsif connections > at.listeners then
    pause := 2;
  end if;
  return query select at.uuid, at.epoch, pg_postmaster_start_time(), pg_is_in_recovery(), p.id, p.handle, mine.machine,
      mine.channel, clock_timestamp(), pause, (select r.rev from dm.people r), at.schema,
      array['words', 'signals', 'files', 'own_states', 'stamps', 'pages'] || case when at.moved_to is not null then '{moved}'::text[] end
    from dm.person p where p.id = mine.person;
end $$;

-- The new address of a hub that was moved; no row if the hub was not moved.
create or replace function dm1.moved() returns table (address text, authority text) language plpgsql stable
security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Repeats dm.my_login without the condition that the machine has joined: a machine that has not joined yet may call
  -- this function, too.
  if not exists (
      select from dm.login l join dm.person p on p.id = l.person
      where l.role = session_user and p.disabled_at is null) then
    raise exception 'not a member' using errcode = 'DM002';
  end if;
  return query select h.moved_to, h.moved_authority from dm.hub h where h.moved_to is not null;
end $$;

-- Called before the password of the invitation is replaced; fails if the invitation was already used to join.
create or replace function dm1.signing_up() returns void language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
begin
  perform dm.refuse_moved();
  if exists (select from dm.login l where l.role = session_user and l.joined_at is not null) then
    raise exception 'somebody has joined with this invitation' using errcode = 'DM003';
  end if;
end $$;

-- Completes the sign-up, after the machine has replaced the invitation's password with its own. Ends the login's other
-- connections, because another person may have opened one with the invitation's password.
create or replace function dm1.joined() returns void language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
begin
  perform dm.refuse_moved();
  update dm.login set joined_at = now() where role = session_user and joined_at is null and invited_until >= now();
  perform pg_terminate_backend(a.pid) from pg_stat_activity a
    where a.usename = session_user and a.pid <> pg_backend_pid();
end $$;

-- The conversations that have changed since a horizon. Sequential scans are off: with statistics from before the member
-- joined many conversations, the planner would scan the whole member table for each of them. JIT is off: a scan that
-- cannot be avoided gets so high a cost while sequential scans are off that PostgreSQL would compile the query.
-- The revs are computed in a subquery of their own: a row security policy lets an index be searched for a value, but not for
-- the result of a function that is not leakproof, and all entries of a conversation would be read for its mark.
create or replace function dm1.changed(since xid8)
returns table (horizon xid8, people_rev bigint, conv uuid[], rev bigint[], mark uuid[], sees text[])
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
  me bigint := (dm.my_login()).person;
  xmin xid8 := pg_snapshot_xmin(pg_current_snapshot());
begin
  -- A horizon above the current one comes from another server, so all conversations are returned.
  if since > xmin then since := null; end if;
  return query
    select xmin, (select p.rev from dm.people p), array_agg(c.id), array_agg(l.rev),
      array_agg((select e.mark from dm.entry e where e.conv = c.id and e.rev = l.rev)), array_agg(m.sees::text)
    from dm.member m
    cross join lateral (select x.* from dm.conversation x where x.id = m.conv offset 0) c
    cross join lateral (select coalesce(upper(m.sees) - 1, c.rev) as rev offset 0) l
    where m.person = me and (changed.since is null or coalesce(m.ended, c.touched) >= changed.since);
end $$;

-- The entries after a rev of each conversation; or a row of kind -1 if the hub's entry at that rev has another mark
-- than the given one. Only the last edit of a message has the text. Edits and reactions of a message that the member
-- does not see have no payload. Sorting and sequential scans are off, so that indexes are used: without statistics for
-- a new table, the planner would read and sort the rest of the log for each page, and read all members for each entry.
-- JIT is off, because compiling takes longer than reading a page.
create or replace function dm1.pull(convs uuid[], revs bigint[], marks uuid[], most integer)
returns table (
  conv uuid, rev bigint, seq bigint, at timestamptz, actor bigint, machine uuid, kind smallint, id uuid, nonce uuid,
  mark uuid, expires_at timestamptz, meta jsonb, payload bytea)
language plpgsql stable security definer rows 500 set search_path = pg_catalog, pg_temp
set enable_sort = off set enable_seqscan = off set jit = off as $$
declare
  me bigint := (dm.my_login()).person;
  mine int8multirange;
  place record;
begin
  for place in select * from unnest(convs, revs, marks) k (conv, since, mark) loop
    select m.sees into mine from dm.member m where m.person = me and m.conv = place.conv;
    continue when not found;
    if place.mark is not null and not pg_is_in_recovery() and place.mark is distinct from (
        select e.mark from dm.entry e where e.conv = place.conv and e.rev = place.since) then
      return query select place.conv, place.since, null::bigint, null::timestamptz, null::bigint, null::uuid,
        -1::smallint, null::uuid, null::uuid, null::uuid, null::timestamptz, null::jsonb, null::bytea;
      continue;
    end if;
    return query
      select e.conv, e.rev, e.seq, e.at, e.actor, e.machine, e.kind, e.id, e.nonce, e.mark, e.expires_at, e.meta,
        case
          when e.expires_at <= now() then null
          -- If each edit had the text, many edits of one message would make a page too large.
          when e.kind = 16 and e.rev < (
            select l.rev from dm.entry l where l.conv = e.conv and l.seq = e.seq and l.kind = 16
              and mine @> l.rev
            order by l.rev desc limit 1) then null
          when e.kind in (16, 18) then (
            select case when e.kind = 16 then t.payload else e.payload end from dm.entry t
            where t.conv = e.conv and t.seq = e.seq and t.kind < 16 and mine @> t.rev
              and (t.expires_at is null or t.expires_at > now()))
          else e.payload
        end
      from dm.entry e where e.conv = place.conv and e.rev > place.since and mine @> e.rev
      order by e.rev limit least(most, 5000);
  end loop;
end $$;

-- The messages with the numbers from p_first to p_last as they are now, for a machine that has not kept them. For each
-- message that the caller sees, returns its entry, its last edit, and the last reaction of each member. Returns the
-- messages of at most 500 numbers. Leaves out a message if the payloads of the later messages already have 256 KiB or
-- more. Sequential scans and JIT are off, as in dm1.pull.
create or replace function dm1.page(p_conv uuid, p_first bigint, p_last bigint)
returns table (
  conv uuid, rev bigint, seq bigint, at timestamptz, actor bigint, machine uuid, kind smallint, id uuid, nonce uuid,
  mark uuid, expires_at timestamptz, meta jsonb, payload bytea)
language plpgsql stable security definer rows 500 set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
  me bigint := (dm.my_login()).person;
  mine int8multirange := (select m.sees from dm.member m where m.person = me and m.conv = p_conv);
begin
  return query
    with found as (
      select e as said, sum(coalesce(octet_length(e.payload), 0)) over (order by e.seq desc)
          - coalesce(octet_length(e.payload), 0) as later
      from dm.entry e
      where e.conv = p_conv and e.seq between p_first and least(p_last, p_first + 499) and e.kind < 16 and mine @> e.rev),
    said as materialized (select (f.said).* from found f where f.later < 262144),
    there as (select s.seq from said s where s.payload is not null and (s.expires_at is null or s.expires_at > now())),
    edited as (
      select distinct on (e.seq) e.* from dm.entry e
      where e.conv = p_conv and e.seq in (select t.seq from there t) and e.kind = 16 and mine @> e.rev
      order by e.seq, e.rev desc),
    reacted as (
      select distinct on (e.seq, e.actor) e.* from dm.entry e
      where e.conv = p_conv and e.seq in (select t.seq from there t) and e.kind = 18 and mine @> e.rev
      order by e.seq, e.actor, e.rev desc)
    select x.conv, x.rev, x.seq, x.at, x.actor, x.machine, x.kind, x.id, x.nonce, x.mark, x.expires_at, x.meta,
      case when x.expires_at <= now() then null
        when x.kind = 16 then (select s.payload from said s where s.seq = x.seq) else x.payload end
    from (
      select * from said union all select * from edited
      union all select * from reacted) x
    order by x.rev;
end $$;

create or replace function dm1.people(since bigint, most integer)
returns table (
  id bigint, handle text, profile bytea, shows_presence boolean, created_at timestamptz, rev bigint,
  is_disabled boolean)
language plpgsql stable security definer rows 100 set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  perform dm.my_login();
  return query
    select p.id, p.handle, p.profile, p.shows_presence, p.created_at, p.rev, p.disabled_at is not null
    from dm.person p where p.rev > since order by p.rev limit least(most, 5000);
end $$;

create or replace function dm1.members(conversation uuid) returns table (person bigint, is_owner boolean, since bigint)
language plpgsql stable security definer rows 20 set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  me bigint := (dm.my_login()).person;
begin
  return query
    select m.person, m.is_owner, m.since from dm.member x join dm.member m on m.conv = x.conv
    where x.person = me and x.conv = conversation and upper_inf(x.sees) and upper_inf(m.sees)
    order by m.since, m.person;
end $$;
reset role;
