set role dm_owner;

-- The answer to an operation whose nonce was used before.
create or replace function dm.again(request dm.request, known dm.entry, act text) returns dm.answer
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  is_lax boolean := coalesce((request.arguments->>'lax')::boolean, false) and known.kind = case act
    when 'say' then 0 when 'group' then 1 when 'remove' then 3 when 'leave' then 3 when 'title' then 4
    when 'edit' then 16 when 'delete' then 17 when 'react' then 18 when 'avatar' then 21 when 'expire' then 21
    when 'begin' then 22 when 'pin' then 23 end;
begin
  if known.conv is distinct from request.conv and act <> 'begin'
      or known.request <> request.digest and not is_lax then
    return dm.refusal(request, 'nonce_conflict');
  end if;
  -- The answer names only an entry that the person sees, because a former member must not learn of entries from after
  -- they left.
  if not exists (
      select from dm.member m
      where m.person = request.actor and m.conv = known.conv and m.sees @> known.rev) then
    known.id := null;
    known.rev := null;
  end if;
  return row(known.conv, known.id, known.rev, true, null, null)::dm.answer;
end $$;

-- Carries out one operation.
create or replace function dm.perform(mine dm.login, operation jsonb) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  act text := operation->>'op';
  request dm.request := row(
    mine.person, mine.machine, (operation->>'conv')::uuid, (operation->>'nonce')::uuid,
    encode(substr(sha256(convert_to(
      (operation - array['nonce', 'lax', 'conv', 'id'])::text, 'UTF8')), 1, 16), 'hex')::uuid,
    decode(operation->>'payload', 'base64'), operation);
  known dm.entry;
  c dm.conversation;
  m dm.member;
begin
  if act is null or request.nonce is null then return dm.refusal(request, 'bad_request'); end if;
  select * into known from dm.entry e where e.actor = mine.person and e.nonce = request.nonce;
  if found then return dm.again(request, known, act); end if;
  if octet_length(request.payload) > (
      case when act in ('say', 'edit') then 524288 when act = 'profile' then 65536 when act = 'react' then 1024
        else 16384 end) then
    return dm.refusal(request, 'bad_request');
  end if;
  case act
    when 'profile' then return dm.set_profile(request);
    when 'begin' then return dm.begin_direct(request);
    when 'group' then return dm.begin_group(request);
    else null;
  end case;
  -- Locks a conversation only if the caller is or was a member of it: a wait for the lock would reveal that the
  -- conversation exists.
  select x.* into c from dm.conversation x
    where x.id = request.conv and exists (
      select from dm.member y where y.person = mine.person and y.conv = x.id)
    for no key update;
  if not found then return dm.refusal(request, 'unknown_conversation'); end if;
  select y.* into m from dm.member y where y.person = mine.person and y.conv = c.id;
  if act = 'read' then return dm.mark_read(request, c, m); end if;
  if act = 'delivered' then return dm.mark_delivered(request, c, m); end if;
  if act = 'report' then return dm.report_message(request, m); end if;
  if not upper_inf(m.sees) then return dm.refusal(request, 'not_allowed'); end if;
  case act
    when 'say' then return dm.say(request, c);
    when 'edit', 'delete', 'react' then return dm.change_message(request, m, act);
    when 'pin' then return dm.pin_message(request, m);
    when 'add' then return dm.add_members(request, c);
    when 'remove' then return dm.remove_members(request, c, m);
    when 'leave' then return dm.leave(request, c);
    when 'title', 'avatar', 'expire' then return dm.change_settings(request, c, m, act);
    else return dm.refusal(request, 'bad_request');
  end case;
end $$;

-- Carries out operations in their order, in one transaction; returns an answer to each.
create or replace function dm1.push(operations jsonb)
returns table (conv uuid, id uuid, rev bigint, duplicate boolean, error text, retry_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set plan_cache_mode = auto as $$
declare
  mine dm.login := dm.my_login();
  operation jsonb;
  answer dm.answer;
  allowed bigint;
  later timestamptz;
  is_full boolean;
  has_expired boolean;
  has_files boolean;
  place bigint := 0;
begin
  -- In an older snapshot, a login that was revoked after the snapshot would still be valid.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'only in read committed transactions' using errcode = '25000';
  end if;
  if current_setting('synchronous_commit') in ('off', 'local') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  perform dm.refuse_moved();
  if jsonb_array_length(operations) > 1000 then
    raise exception 'more than 1000 operations' using errcode = '54000';
  end if;
  select s.allowed, s.later, s.is_full into allowed, later, is_full from dm.spend(mine.person, operations) s;
  -- All pushes lock conversations in the same order, so that two pushes never deadlock.
  if jsonb_array_length(operations) > 1 then
    perform 1 from dm.conversation c
      where c.id in (select (o->>'conv')::uuid from jsonb_array_elements(operations) o)
        and exists (select from dm.member m where m.person = mine.person and m.conv = c.id)
      order by c.id for no key update;
  end if;
  for operation in
    select o.value from jsonb_array_elements(operations) with ordinality o (value, place) order by o.place
  loop
    place := place + 1;
    -- After an operation that is over a limit, no operations are carried out, because operations keep their order.
    -- There is an exception: if the person has reached the limit on stored bytes, deletions are carried out, because
    -- they make room.
    if place <= allowed or is_full and operation->>'op' = 'delete' then
      answer := dm.perform(mine, operation);
    else
      answer := row((operation->>'conv')::uuid, null, null, false, 'over_quota', later)::dm.answer;
    end if;
    return query select answer.conv, answer.id, answer.rev, answer.duplicate, answer.error, answer.retry_at;
  end loop;
  -- These are the first rows of indexes. The conditions alone would be looked for in the whole tables as long as PostgreSQL
  -- has no statistics of them, such as after a restore.
  select (select e.expires_at from dm.entry e where e.expires_at is not null and e.payload is not null
        order by e.expires_at limit 1) <= now(),
      exists (select from dm.detached)
        or (select f.unused_at from dm.file f where f.unused_at is not null order by f.unused_at limit 1)
          < now() - interval '7 days'
    into has_expired, has_files;
  if has_expired then perform dm.erase_expired(); end if;
  if has_files then perform dm.erase_file(); end if;
  if mine.seen_at < now() - interval '1 minute' then
    update dm.login l set seen_at = now() where l.role = session_user;
  end if;
exception when unique_violation then
  -- Another push had the same nonce or the same id at the same time.
  raise exception 'try again' using errcode = '40001';
end $$;

-- Notifies the machines of all persons who see the newest entry of one of the conversations, except the login
-- `p_except`.
create or replace function dm.notify(conversations uuid[], p_except name default null) returns void language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
  select pg_notify(l.channel, 'c ' || m.conv)
    from dm.conversation c
    join dm.member m on m.conv = c.id and (upper_inf(m.sees) or upper(m.sees) > c.rev)
    join dm.login l on l.person = m.person
    where c.id = any (conversations) and l.role is distinct from p_except;
end;

-- Notifies the other machines of members. Call it in a separate transaction, because commits with notifications wait
-- for each other, on the whole server.
create or replace function dm1.wake(conversations uuid[]) returns void language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
declare
  me bigint := (dm.my_login()).person;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'only in read committed transactions' using errcode = '25000';
  end if;
  perform dm.notify(array(
    select x.conv from dm.member x
    where x.person = me and x.conv = any (conversations) and upper_inf(x.sees)), session_user);
end $$;

-- The given conversations that another transaction has locked, among those of which the caller is or was a member.
create or replace function dm1.busy(conversations uuid[]) returns setof uuid language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
declare
  me bigint := (dm.my_login()).person;
begin
  return query
    select m.conv from dm.member m where m.person = me and m.conv = any (conversations) and not exists (
      select from dm.conversation c where c.id = m.conv for no key update skip locked);
end $$;

-- Ends members' connections that may hold up the transactions of others; see dm.unstick.
create or replace function dm1.unstick() returns integer language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
begin
  perform dm.my_login();
  return dm.unstick(interval '10 seconds');
end $$;

create or replace function dm1.goodbye() returns void language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
begin
  perform dm.refuse_moved();
  insert into dm.former_login select l.role from dm.login l where l.role = session_user;
  delete from dm.login where role = session_user;
end $$;
reset role;
