set role dm_owner;

-- Members

-- The maximum number of ranges of revs that a member sees in a conversation. The number is limited because each
-- comparison returns all ranges.
create or replace function dm.most_stretches() returns integer language sql immutable return 512;

-- The entries from a member's absence that the member sees after returning to the group: the newest edits, deletions,
-- reactions and pins, if the member sees the message to which they refer; and then, if there is room for more ranges, the
-- newest receipts. Leaves room for 64 ranges of later stays.
create or replace function dm.done_meanwhile(p_conv uuid, sees int8multirange, before bigint) returns int8multirange
language sql stable set search_path = pg_catalog, pg_temp
return (
  select coalesce(range_agg(int8range(a.rev, a.rev, '[]')), '{}') from (
    select e.rev from dm.entry e
    where e.conv = p_conv and e.rev >= upper(sees) and e.rev < before and (
      e.kind in (19, 20) or e.kind in (16, 17, 18, 23) and exists (
        select from dm.entry t where t.conv = e.conv and t.seq = e.seq and t.kind < 16 and sees @> t.rev))
    order by e.kind in (19, 20), e.rev desc
    limit greatest(0, dm.most_stretches() - 64 - (select count(*) from unnest(sees)))) a);

create or replace function dm.add_members(request dm.request, c dm.conversation) returns dm.answer
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
  -- Each stay without the history adds a range, and each comparison returns all ranges, so the number of ranges is
  -- limited.
  if not has_history and exists (
      select from dm.member y
      where y.person = any (joining) and y.conv = c.id
        and (select count(*) from unnest(y.sees)) >= dm.most_stretches()) then
    return dm.refusal(request, 'not_allowed');
  end if;
  foreach x in array joining loop
    meta := jsonb_build_object('person', x);
    if has_history then meta := meta || '{"history": true}'; end if;
    e := dm.append(request, 2, meta);
    insert into dm.member as y (person, conv, sees, since)
      values (x, c.id, int8multirange(int8range(case when has_history then 1 else e.rev end, null)), e.rev)
      on conflict (person, conv) do update
        set sees = y.sees + excluded.sees + dm.done_meanwhile(c.id, y.sees, e.rev), since = excluded.since, ended = null, is_owner = false;
    if first is null then first := e; end if;
    request.nonce := null;
  end loop;
  return dm.success(first);
end $$;

-- Ends the membership of a person. If the group then has no owner, the member who has been in the group longest becomes
-- the owner. If several members have been in it equally long, the first of them by handle becomes the owner.
create or replace function dm.end_membership(request dm.request, c dm.conversation, p_person bigint) returns dm.entry
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

create or replace function dm.remove_members(request dm.request, c dm.conversation, m dm.member) returns dm.answer
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

create or replace function dm.leave(request dm.request, c dm.conversation) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
  if not c.is_group then return dm.refusal(request, 'not_allowed'); end if;
  return dm.success(dm.end_membership(request, c, request.actor));
end $$;

-- Settings

create or replace function dm.change_settings(request dm.request, c dm.conversation, m dm.member, act text) returns dm.answer
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
