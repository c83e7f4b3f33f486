set role dm_owner;

-- The answer to an operation whose nonce was used before.
create or replace function dm.again(request dm.request, known dm.entry, act text) returns dm.answer
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  is_lax boolean := coalesce((request.arguments->>'lax')::boolean, false) and known.kind = case act
    when 'say' then 0 when 'group' then 1 when 'remove' then 3 when 'leave' then 3 when 'title' then 4
    when 'edit' then 16 when 'delete' then 17 when 'react' then 18 when 'avatar' then 21 when 'expire' then 21
    when 'begin' then 22 end;
begin
  if known.conv is distinct from request.conv and act <> 'begin'
      or known.request <> request.digest and not is_lax then
    return dm.refusal(request, 'nonce_conflict');
  end if;
  -- A former member sees no entry from after they left.
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
  -- Callers do not wait for the lock of a conversation in which they never were, because a wait would show that it exists.
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
    when 'add' then return dm.add_members(request, c);
    when 'remove' then return dm.remove_members(request, c, m);
    when 'leave' then return dm.leave(request, c);
    when 'title', 'avatar', 'expire' then return dm.change_settings(request, c, m, act);
    else return dm.refusal(request, 'bad_request');
  end case;
end $$;

-- How many of a person's operations, from the first on, are within the limits; counts these against the limits. `later`
-- is the time from which the next one is within them; null if all are.
--
-- The count against a limit falls to 0 within an hour or a minute, the period of the limit.
create or replace function dm.spend(
  p_person bigint, operations jsonb, out allowed bigint, out later timestamptz, out is_full boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  most bigint := (select h.hourly_bytes from dm.hub h);
  p dm.person;
  left_over bigint;
  bytes bigint[];
begin
  select * into p from dm.person x where x.id = p_person for no key update;
  -- The limit may have been higher.
  left_over := greatest(0, least(p.spent, most) - (extract(epoch from now() - p.spent_at) * most / 3600)::bigint);
  bytes := array(
    select (sum(octet_length(o.value::text)) over (order by o.place))::bigint
    from jsonb_array_elements(operations) with ordinality o (value, place) order by o.place);
  allowed := (select count(*) from unnest(bytes) b where left_over + b <= most);
  if allowed < cardinality(bytes) then
    later := now() + (left_over + bytes[allowed + 1] - most) * interval '1 hour' / most;
  end if;
  if exists (select from dm.act_limit) then
    select a.allowed, a.later into allowed, later from dm.spend_acts(p_person, operations, allowed, later) a;
  end if;
  if exists (select from dm.hub h where h.person_bytes is not null) then
    select d.allowed, d.later, d.is_full into allowed, later, is_full
      from dm.spend_disk(p, operations, allowed, later) d;
  end if;
  if allowed > 0 then
    update dm.person x set spent = left_over + bytes[allowed], spent_at = now() where x.id = p_person;
  end if;
end $$;

-- Applies the limit of what the hub keeps of a person: lowers `allowed` to the operations before the first one that does not
-- fit, sets `later` to when the hub counts anew, and counts the allowed operations. What is small, or makes room, always fits.
create or replace function dm.spend_disk(
  p dm.person, operations jsonb, inout allowed bigint, inout later timestamptz, out is_full boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  most bigint := (select h.person_bytes from dm.hub h);
  -- The bytes of the operations up to each one; base64 has four digits for three bytes, and the payload of `add` is kept
  -- for each person.
  sizes bigint[] := array(
    select (sum(coalesce(octet_length(o.value->>'payload'), 0) / 4 * 3
      * case when o.value->>'op' = 'add' then jsonb_array_length(o.value->'handles') else 1 end) over (order by o.place))::bigint
    from jsonb_array_elements(operations) with ordinality o (value, place) order by o.place);
  large integer[] := array(
    select o.place from jsonb_array_elements(operations) with ordinality o (value, place)
    where o.value ? 'payload' and o.value->>'op' not in ('react', 'profile'));
  first bigint := (select min(l) from unnest(large) l where p.kept + sizes[l] > most);
begin
  if first <= allowed and p.counted_at < now() - interval '10 minutes' then
    p.kept := dm.kept(p.id);
    p.counted_at := now();
    first := (select min(l) from unnest(large) l where p.kept + sizes[l] > most);
  end if;
  is_full := first <= allowed;
  if is_full then
    allowed := first - 1;
    later := greatest(later, p.counted_at + interval '10 minutes');
  end if;
  update dm.person x set counted_at = p.counted_at, kept = p.kept + coalesce(sizes[spend_disk.allowed], 0)
    where x.id = p.id;
end $$;

-- Applies the limits of acts: lowers `allowed` to the operations before the first one over a limit, sets `later` to the time
-- from which that one is within all limits, and counts the allowed operations.
create or replace function dm.spend_acts(
  p_person bigint, operations jsonb, inout allowed bigint, inout later timestamptz)
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  bound record;
begin
  for bound in
    select l.act, l.per_minute, greatest(0, coalesce(d.spent, 0)
        - coalesce(extract(epoch from now() - d.spent_at), 0) * l.per_minute / 60.0) as left_over
    from dm.act_limit l left join dm.done_act d on d.act = l.act and d.person = p_person
    order by l.act
  loop
    declare
      -- The first operation over this limit, and from when on the limit allows it.
      place bigint;
      free_at timestamptz;
    begin
      select o.place, now() + (bound.left_over + o.number - bound.per_minute) * interval '1 minute' / bound.per_minute
        into place, free_at
        from (
          select n.place, row_number() over (order by n.place) as number
          from jsonb_array_elements(operations) with ordinality n (value, place) where n.value->>'op' = bound.act) o
        where bound.left_over + o.number > bound.per_minute order by o.place limit 1;
      if place <= allowed then
        allowed := place - 1;
        later := free_at;
      elsif place = allowed + 1 then
        later := greatest(later, free_at);
      end if;
    end;
  end loop;
  insert into dm.done_act as d (person, act, spent, spent_at)
    select p_person, l.act, count(*), now()
    from dm.act_limit l
    join jsonb_array_elements(operations) with ordinality n (value, place)
      on n.value->>'op' = l.act and n.place <= spend_acts.allowed
    group by l.act order by l.act
    on conflict (person, act) do update set spent_at = now(), spent = excluded.spent + greatest(0, d.spent
      - extract(epoch from now() - d.spent_at) * (select l.per_minute from dm.act_limit l where l.act = d.act) / 60.0);
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
  place bigint := 0;
begin
  -- With an older snapshot, a login that was revoked since would still be accepted.
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
  -- All pushes lock in the same order, so that two never deadlock.
  perform 1 from dm.conversation c
    where c.id in (select (o->>'conv')::uuid from jsonb_array_elements(operations) o)
      and exists (select from dm.member m where m.person = mine.person and m.conv = c.id)
    order by c.id for no key update;
  for operation in
    select o.value from jsonb_array_elements(operations) with ordinality o (value, place) order by o.place
  loop
    place := place + 1;
    -- After one that is over the limits nothing is done, because operations keep their order. But who has no room left can
    -- delete.
    if place <= allowed or is_full and operation->>'op' = 'delete' then
      answer := dm.perform(mine, operation);
    else
      answer := row((operation->>'conv')::uuid, null, null, false, 'over_quota', later)::dm.answer;
    end if;
    return query select answer.conv, answer.id, answer.rev, answer.duplicate, answer.error, answer.retry_at;
  end loop;
  perform dm.erase_expired();
  perform dm.erase_file();
  if mine.seen_at < now() - interval '1 minute' then
    update dm.login l set seen_at = now() where l.role = session_user;
  end if;
exception when unique_violation then
  -- Another push had the same nonce or the same id at the same time.
  raise exception 'try again' using errcode = '40001';
end $$;

-- Notifies the machines of members who see the newest entry of the conversations, except one login.
create or replace function dm.notify(conversations uuid[], p_except name default null) returns void language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
  select pg_notify(l.channel, 'c ' || m.conv)
    from dm.conversation c
    join dm.member m on m.conv = c.id and (upper_inf(m.sees) or upper(m.sees) > c.rev)
    join dm.login l on l.person = m.person
    where c.id = any (conversations) and l.role is distinct from p_except;
end;

-- Notifies the other machines of members. Call it in a separate transaction, because a commit with notifications takes a
-- lock of the whole server.
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

-- The given conversations that another transaction has locked, if the caller is or was a member.
create or replace function dm1.busy(conversations uuid[]) returns setof uuid language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
declare
  me bigint := (dm.my_login()).person;
begin
  return query
    select m.conv from dm.member m where m.person = me and m.conv = any (conversations) and not exists (
      select from dm.conversation c where c.id = m.conv for no key update skip locked);
end $$;

-- Ends connections of members that block others: see dm.unstick.
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
