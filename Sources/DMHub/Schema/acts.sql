set role dm_owner;

-- The persons that an operation names, each once and in its order; null if one is unknown.
create function dm.named(request dm.request) returns bigint[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  persons bigint[];
begin
  if jsonb_typeof(request.arguments->'handles') is distinct from 'array' then return '{}'; end if;
  persons := array(
    select p.id
    from (
      select handle, min(place) as place
      from jsonb_array_elements_text(request.arguments->'handles') with ordinality h (handle, place)
      group by handle) named
    left join dm.person p on p.handle = named.handle and p.disabled_at is null
    order by named.place);
  return case when array_position(persons, null) is null then persons end;
end $$;

create function dm.set_profile(request dm.request) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  next bigint;
begin
  update dm.people set rev = rev + 1 returning rev into next;
  update dm.person set profile = request.payload, rev = next,
      shows_presence = coalesce((request.arguments->>'shows_presence')::boolean, shows_presence)
    where id = request.actor;
  return row(null, null, null, false, null, null)::dm.answer;
end $$;

-- New conversations

create function dm.open_log(request dm.request, persons bigint[], p_kind integer) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
  insert into dm.member (person, conv, sees, is_owner)
    select p, request.conv, '{[1,)}', p_kind = 1 and p = request.actor from unnest(persons) p;
  return dm.success(dm.append(request, p_kind, jsonb_build_object('members', to_jsonb(array(
    select p.id from dm.person p where p.id = any (persons) order by p.handle)))));
end $$;

create function dm.begin_direct(request dm.request) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  others bigint[] := dm.named(request);
  known uuid;
begin
  if request.conv is null or others = '{}' then return dm.refusal(request, 'bad_request'); end if;
  if others is null then return dm.refusal(request, 'unknown_user'); end if;
  if cardinality(others) <> 1 then return dm.refusal(request, 'bad_request'); end if;
  loop
    select c.id into known from dm.conversation c
      where c.lower_person = least(request.actor, others[1]) and c.upper_person = greatest(request.actor, others[1]);
    if found then return row(known, null, null, true, null, null)::dm.answer; end if;
    if exists (select from dm.conversation c where c.id = request.conv) then
      return dm.refusal(request, 'id_taken');
    end if;
    insert into dm.conversation (id, is_group, lower_person, upper_person)
      values (request.conv, false, least(request.actor, others[1]), greatest(request.actor, others[1]))
      on conflict do nothing;
    exit when found;
  end loop;
  return dm.open_log(request, array(select distinct p from unnest(request.actor || others) p), 22);
end $$;

create function dm.begin_group(request dm.request) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  others bigint[] := dm.named(request);
begin
  if request.conv is null then return dm.refusal(request, 'bad_request'); end if;
  if others is null then return dm.refusal(request, 'unknown_user'); end if;
  insert into dm.conversation (id, is_group) values (request.conv, true) on conflict do nothing;
  if not found then return dm.refusal(request, 'id_taken'); end if;
  return dm.open_log(request, array(select distinct p from unnest(request.actor || others) p), 1);
end $$;

-- Messages

create function dm.is_lifetime(microseconds bigint) returns boolean language sql immutable
return microseconds between 1000000 and 31622400000000;

create function dm.say(request dm.request, c dm.conversation) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  message uuid := (request.arguments->>'id')::uuid;
  lifetime bigint := (request.arguments->>'ttl')::bigint;
begin
  if request.payload is null or message is null or not dm.is_lifetime(lifetime) then
    return dm.refusal(request, 'bad_request');
  end if;
  if exists (select from dm.entry e where e.id = message and e.kind < 16) then
    return dm.refusal(request, 'id_taken');
  end if;
  return dm.success(dm.append(request, 0, p_id => message, lifetime => coalesce(lifetime, c.expire_after)));
end $$;

-- Erases what was written in messages of a conversation and upon them.
create function dm.erase(p_conv uuid, seqs bigint[]) returns void
language sql volatile set search_path = pg_catalog, pg_temp
begin atomic
  update dm.entry x set payload = null, request = null where x.conv = p_conv and x.seq = any (seqs) and x.kind < 16;
  update dm.entry x set payload = null, request = null
    where x.conv = p_conv and x.seq = any (seqs) and x.kind in (16, 18);
end;

create function dm.change_message(request dm.request, m dm.member, act text) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  t dm.entry;
  e dm.entry;
begin
  select * into t from dm.entry x
    where x.conv = request.conv and x.seq = (request.arguments->>'seq')::bigint and x.kind < 16
      and x.id = (request.arguments->>'id')::uuid and m.sees @> x.rev;
  if not found or t.kind = 0 and (t.payload is null or t.expires_at <= now()) then
    return dm.refusal(request, 'unknown_message');
  end if;
  if t.kind <> 0 or act <> 'react' and t.actor <> request.actor then return dm.refusal(request, 'not_allowed'); end if;
  if act = 'edit' and request.payload is null then return dm.refusal(request, 'bad_request'); end if;
  e := dm.append(request, case act when 'edit' then 16 when 'delete' then 17 else 18 end, p_id => t.id, p_seq => t.seq,
    keeps_payload => act = 'react');
  if act = 'edit' then
    -- The words that were there before are kept nowhere, and cannot be guessed.
    update dm.entry x set payload = request.payload, request = null where x.conv = t.conv and x.rev = t.rev;
    update dm.entry x set request = null
      where x.conv = t.conv and x.seq = t.seq and x.kind = 16 and x.rev <> e.rev;
  elsif act = 'delete' then
    perform dm.erase(t.conv, array[t.seq]);
  end if;
  return dm.success(e);
end $$;

-- Erases what has expired, a hundred messages at most, and none of a conversation in which somebody writes.
create function dm.erase_expired() returns void language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  due record;
begin
  for due in
    select e.conv, array_agg(e.seq) as seqs from (
      select x.conv, x.seq from dm.entry x where x.expires_at <= now() and x.payload is not null
      order by x.expires_at limit 100) e
    group by e.conv
  loop
    perform 1 from dm.conversation c where c.id = due.conv for no key update skip locked;
    continue when not found;
    perform dm.erase(due.conv, due.seqs);
  end loop;
end $$;

-- Receipts

-- The ranges that an operation names; null if they are none.
create function dm.ranges(request dm.request) returns int8multirange
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  ranges jsonb := request.arguments->'ranges';
begin
  if jsonb_typeof(ranges) is distinct from 'array' or jsonb_array_length(ranges) not between 1 and 1000 then
    return null;
  end if;
  if exists (
      select from jsonb_array_elements(ranges) r
      where not coalesce(
        jsonb_array_length(r) = 2 and (r->>0)::bigint >= 1 and (r->>0)::bigint <= (r->>1)::bigint
          and (r->>1)::bigint <= 1099511627776, false)) then
    return null;
  end if;
  return (select range_agg(int8range((r->>0)::bigint, (r->>1)::bigint, '[]')) from jsonb_array_elements(ranges) r);
end $$;

create function dm.mark_read(request dm.request, c dm.conversation, m dm.member) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  new int8multirange := dm.ranges(request);
  e dm.entry;
begin
  if new is null then return dm.refusal(request, 'bad_request'); end if;
  new := new * dm.seen_numbers(c, m.sees) - m.read;
  if isempty(new) then return dm.duplicate(request); end if;
  update dm.member x set read = x.read + new where x.person = m.person and x.conv = m.conv;
  e := dm.append(request, 19, jsonb_build_object('ranges', (
    select jsonb_agg(jsonb_build_array(lower(r), upper(r) - 1) order by lower(r)) from unnest(new) r)));
  -- A former member learns neither how much was said since nor when.
  if not upper_inf(m.sees) then e.rev := null; end if;
  return dm.success(e);
end $$;

create function dm.mark_delivered(request dm.request, c dm.conversation, m dm.member) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  last bigint := (request.arguments->>'seq')::bigint;
  e dm.entry;
begin
  if last is null or last < 1 then return dm.refusal(request, 'bad_request'); end if;
  last := least(last, coalesce(upper(dm.seen_numbers(c, m.sees)) - 1, 0));
  if last <= m.delivered then return dm.duplicate(request); end if;
  update dm.member x set delivered = last where x.person = m.person and x.conv = m.conv;
  e := dm.append(request, 20, p_seq => last);
  -- As in dm.mark_read.
  if not upper_inf(m.sees) then e.rev := null; end if;
  return dm.success(e);
end $$;

-- Members

create function dm.add_members(request dm.request, c dm.conversation) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  joining bigint[] := dm.named(request);
  has_history boolean := coalesce((request.arguments->>'history')::boolean, false);
  meta jsonb;
  x bigint;
  e dm.entry;
  first dm.entry;
begin
  if not c.is_group then return dm.refusal(request, 'not_allowed'); end if;
  if joining is null or joining = '{}' then return dm.refusal(request, 'unknown_user'); end if;
  joining := array(
    select p from unnest(joining) with ordinality j (p, place)
    where not exists (
      select from dm.member y where y.person = p and y.conv = c.id and upper_inf(y.sees)) order by place);
  if joining = '{}' then return dm.duplicate(request); end if;
  -- Each stay is kept, and every reader is told of all of them.
  if not has_history and exists (
      select from dm.member y
      where y.person = any (joining) and y.conv = c.id and (select count(*) from unnest(y.sees)) >= 64) then
    return dm.refusal(request, 'not_allowed');
  end if;
  foreach x in array joining loop
    meta := jsonb_build_object('person', x);
    if has_history then meta := meta || '{"history": true}'; end if;
    e := dm.append(request, 2, meta);
    insert into dm.member as y (person, conv, sees, since)
      values (x, c.id, int8multirange(int8range(case when has_history then 1 else e.rev end, null)), e.rev)
      on conflict (person, conv) do update
        set sees = y.sees + excluded.sees, since = excluded.since, ended = null, is_owner = false;
    if first is null then first := e; end if;
    request.nonce := null;
  end loop;
  return dm.success(first);
end $$;

-- Ends the membership of a person. If the group then has no owner, it passes to who has been in it for the longest time,
-- and of several to the first by their handles.
create function dm.end_membership(request dm.request, c dm.conversation, p_person bigint) returns dm.entry
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  heir bigint;
  next bigint := (select x.rev + 1 from dm.conversation x where x.id = c.id);
begin
  update dm.member y set sees = y.sees * int8multirange(int8range(null, next + 1)), is_owner = false,
      ended = pg_current_xact_id()
    where y.person = p_person and y.conv = c.id;
  if not exists (select from dm.member y where y.conv = c.id and y.is_owner) then
    select y.person into heir from dm.member y join dm.person p on p.id = y.person
      where y.conv = c.id and upper_inf(y.sees) order by y.since, p.handle limit 1;
    update dm.member y set is_owner = true where y.conv = c.id and y.person = heir;
  end if;
  return dm.append(request, 3, jsonb_strip_nulls(jsonb_build_object('person', p_person, 'owner', heir)));
end $$;

create function dm.remove_members(request dm.request, c dm.conversation, m dm.member) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  leaving bigint[] := dm.named(request);
  x bigint;
  e dm.entry;
  first dm.entry;
begin
  if not c.is_group or not m.is_owner then return dm.refusal(request, 'not_allowed'); end if;
  if leaving is null or leaving = '{}' then return dm.refusal(request, 'unknown_user'); end if;
  leaving := array(
    select p from unnest(leaving) with ordinality j (p, place)
    where exists (
      select from dm.member y where y.person = p and y.conv = c.id and upper_inf(y.sees)) order by place);
  if leaving = '{}' then return dm.duplicate(request); end if;
  foreach x in array leaving loop
    e := dm.end_membership(request, c, x);
    if first is null then first := e; end if;
    request.nonce := null;
  end loop;
  return dm.success(first);
end $$;

create function dm.leave(request dm.request, c dm.conversation) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
  if not c.is_group then return dm.refusal(request, 'not_allowed'); end if;
  return dm.success(dm.end_membership(request, c, request.actor));
end $$;

-- Settings

create function dm.change_settings(request dm.request, c dm.conversation, m dm.member, act text) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  lifetime bigint;
begin
  if act = 'expire' then
    if c.is_group and not m.is_owner then return dm.refusal(request, 'not_allowed'); end if;
    lifetime := (request.arguments->>'after')::bigint;
    if not request.arguments ? 'after' or not dm.is_lifetime(lifetime) then
      return dm.refusal(request, 'bad_request');
    end if;
    update dm.conversation x set expire_after = lifetime where x.id = c.id;
    return dm.success(dm.append(request, 21, jsonb_build_object('what', 'expire', 'after', lifetime)));
  end if;
  if not c.is_group then return dm.refusal(request, 'not_allowed'); end if;
  if act = 'title' and request.payload is null then return dm.refusal(request, 'bad_request'); end if;
  return dm.success(dm.append(request, case act when 'title' then 4 else 21 end));
end $$;
reset role;
