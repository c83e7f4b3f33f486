set role dm_owner;

-- The ranges of message numbers in the meta of a receipt.
create or replace function dm.ranges(p_meta jsonb) returns setof int8range language sql immutable
set search_path = pg_catalog, pg_temp as $$
  select int8range((x.pair ->> 0)::bigint, (x.pair ->> 1)::bigint, '[]') from jsonb_array_elements(p_meta -> 'ranges') x (pair)
$$;

-- Converts ranges of message numbers to the form that they have in the meta of a receipt.
create or replace function dm.pairs(p_ranges int8multirange) returns jsonb language sql immutable
set search_path = pg_catalog, pg_temp
return (select jsonb_agg(jsonb_build_array(lower(r), upper(r) - 1)) from unnest(p_ranges) r);

-- Returns the number of the first message of a conversation that a person sees and that is unread according to the
-- person's receipts. If no message is unread, returns the number that follows the last message.
create or replace function dm.first_unread(p_conv uuid, p_person bigint, p_sees int8multirange) returns bigint
language sql stable set search_path = pg_catalog, pg_temp
return coalesce((
  select upper(r) from unnest((
    select range_agg(s.seqs) from (
      select x.seqs from dm.entry e cross join dm.ranges(e.meta) x (seqs)
      where e.conv = p_conv and e.kind = 19 and e.actor = p_person
      union all
      select int8range(e.seq, e.seq, '[]') from dm.entry e
      where e.conv = p_conv and e.kind < 16
        and (e.actor = p_person or e.kind > 0 or e.payload is null or e.expires_at <= now() or not p_sees @> e.rev)) s)) r
  where lower(r) = 1), 1);

-- The beginnings of conversations, for a machine that keeps only the last p_most messages of each conversation, or
-- those of the last p_age microseconds. Returns for each conversation:
-- - the entries before the first kept message that change the conversation itself;
-- - for each member, one receipt and one delivery, which merge all earlier receipts and deliveries of that member;
-- - the last change of the pin of each message that is pinned now;
-- - a last row of kind -2, with the last rev before the first kept message, and with the number and time of that
--   message.
-- Returns no rows for a conversation that must be pulled from its beginning: because it is short, because the caller
-- has not read its first messages, or because the caller was away. Sequential scans and JIT are off, as in dm1.pull.
create or replace function dm1.floors(p_convs uuid[], p_most bigint, p_age bigint)
returns table (
  conv uuid, rev bigint, seq bigint, at timestamptz, actor bigint, machine uuid, kind smallint, id uuid, nonce uuid,
  mark uuid, expires_at timestamptz, meta jsonb, payload bytea)
language plpgsql stable security definer rows 500 set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
  me bigint := (dm.my_login()).person;
  place record;
  first dm.entry;
  last dm.entry;
begin
  for place in
    select c.id, c.seq, m.sees from unnest(p_convs) k (id) join dm.conversation c on c.id = k.id
      join dm.member m on m.conv = c.id and m.person = me
      where upper_inf(m.sees) and (select count(*) = 1 from unnest(m.sees))
  loop
    select e.* into first from dm.entry e where e.conv = place.id and e.kind < 16 and e.seq = least(
      coalesce(place.seq - p_most + 1, (
        select min(a.seq) from dm.entry a
        where a.conv = place.id and a.kind < 16 and a.at >= now() - p_age * interval '1 microsecond'), place.seq),
      dm.first_unread(place.id, me, place.sees));
    continue when not found or first.seq <= 1 or first.rev <= (select lower(s) from unnest(place.sees) s);
    select e.* into last from dm.entry e where e.conv = place.id and e.rev = first.rev - 1;
    return query
      select e.conv, e.rev, e.seq, e.at, e.actor, e.machine, e.kind, e.id, e.nonce, e.mark, e.expires_at, e.meta, e.payload
      from dm.entry e
      where e.conv = place.id and e.rev < first.rev and e.kind in (1, 2, 3, 4, 21, 22) and place.sees @> e.rev
      order by e.rev;
    return query
      select place.id, last.rev, null::bigint, max(e.at), e.actor, last.machine, 19::smallint, null::uuid, null::uuid,
        last.mark, null::timestamptz, jsonb_build_object('ranges', dm.pairs(range_agg(x.seqs))), null::bytea
      from dm.entry e cross join dm.ranges(e.meta) x (seqs)
      where e.conv = place.id and e.rev < first.rev and e.kind = 19 and place.sees @> e.rev
      group by e.actor order by e.actor;
    return query
      select place.id, last.rev, max(e.seq), max(e.at), e.actor, last.machine, 20::smallint, null::uuid, null::uuid,
        last.mark, null::timestamptz, null::jsonb, null::bytea
      from dm.entry e
      where e.conv = place.id and e.rev < first.rev and e.kind = 20 and place.sees @> e.rev
      group by e.actor order by e.actor;
    return query
      select distinct on (e.seq)
        e.conv, e.rev, e.seq, e.at, e.actor, e.machine, e.kind, e.id, e.nonce, e.mark, e.expires_at, e.meta, e.payload
      from dm.entry e
      where e.conv = place.id and e.rev < first.rev and e.kind = 23 and place.sees @> e.rev and exists (
        select from dm.pinned p where p.conv = e.conv and p.seq = e.seq)
      order by e.seq, e.rev desc;
    return query select place.id, last.rev, first.seq, first.at, me, last.machine, -2::smallint, null::uuid, null::uuid,
      last.mark, null::timestamptz, null::jsonb, null::bytea;
  end loop;
end $$;
reset role;
