set role dm_owner;

-- Counts a person's operations against the limits, up to the first one that is over a limit. `allowed` is the number of
-- operations before that operation. `later` is the time from which that operation is within the limits; null if all
-- operations are. `is_full` says whether the limit on what the hub stores for the person is reached.
--
-- Each count falls to 0 within an hour or a minute, which is the period of its limit.
create or replace function dm.spend(
  p_person bigint, operations jsonb, out allowed bigint, out later timestamptz, out is_full boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  most bigint;
  spent bigint;
  spent_at timestamptz;
  limits_acts boolean;
  limits_disk boolean;
  left_over bigint;
  bytes bigint[];
begin
  select h.hourly_bytes, p.spent, p.spent_at, exists (select from dm.act_limit), h.person_bytes is not null
    into most, spent, spent_at, limits_acts, limits_disk
    from dm.hub h, dm.person p where p.id = p_person for no key update of p;
  -- The old count is capped at the limit, because the limit may have been lowered since.
  left_over := greatest(0, least(spent, most) - (extract(epoch from now() - spent_at) * most / 3600)::bigint);
  if jsonb_array_length(operations) = 1 then
    bytes := array[octet_length((operations->0)::text)];
  else
    bytes := array(
      select (sum(octet_length(o.value::text)) over (order by o.place))::bigint
      from jsonb_array_elements(operations) with ordinality o (value, place) order by o.place);
  end if;
  allowed := cardinality(bytes);
  if left_over + bytes[allowed] > most then
    allowed := (select count(*) from unnest(bytes) b where left_over + b <= most);
    later := now() + (left_over + bytes[allowed + 1] - most) * interval '1 hour' / most;
  end if;
  if limits_acts then
    select a.allowed, a.later into allowed, later from dm.spend_acts(p_person, operations, allowed, later) a;
  end if;
  if limits_disk then
    select d.allowed, d.later, d.is_full into allowed, later, is_full
      from dm.person p, dm.spend_disk(p, operations, allowed, later) d where p.id = p_person;
  end if;
  if allowed > 0 then
    update dm.person p set spent = left_over + bytes[allowed], spent_at = now() where p.id = p_person;
  end if;
end $$;

-- Applies the limit on what the hub stores for a person, and counts the allowed operations against it. If an operation
-- does not fit, `allowed` becomes the number of operations before it, and `later` the time from which the hub recounts.
-- Reactions, profiles and operations without a payload always fit.
create or replace function dm.spend_disk(
  p dm.person, operations jsonb, inout allowed bigint, inout later timestamptz, out is_full boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  most bigint := (select h.person_bytes from dm.hub h);
  -- For each operation, the bytes of the payloads up to and including it. Base64 has four digits for three bytes; the
  -- payload of `add` is stored once for each person.
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

-- Applies the limits per minute, and counts the allowed operations against them. If an operation is over a limit,
-- `allowed` becomes the number of operations before it, and `later` the time from which that operation is within all
-- limits.
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
      -- The first operation over this limit, and the time from which the limit allows it.
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
reset role;
