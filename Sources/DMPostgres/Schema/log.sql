set role dm_owner;

create or replace function dm.refusal(request dm.request, error text) returns dm.answer language sql immutable
return row((request).conv, null, null, false, error, null)::dm.answer;

create or replace function dm.duplicate(request dm.request) returns dm.answer language sql immutable
return row((request).conv, null, null, true, null, null)::dm.answer;

create or replace function dm.success(entry dm.entry) returns dm.answer language sql immutable
return row((entry).conv, (entry).id, (entry).rev, false, null, null)::dm.answer;

-- Adds an entry to the log of a conversation.
create or replace function dm.append(
  request dm.request, p_kind integer, p_meta jsonb default null, p_id uuid default null, p_seq bigint default null,
  keeps_payload boolean default true, lifetime bigint default null)
returns dm.entry language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  c dm.conversation;
  e dm.entry;
begin
  update dm.conversation x set rev = x.rev + 1, seq = x.seq + (p_kind < 16)::integer,
      last_at = greatest(clock_timestamp(), x.last_at + interval '1 microsecond'), touched = pg_current_xact_id()
    where x.id = request.conv returning * into c;
  insert into dm.entry (
      conv, rev, seq, at, actor, machine, kind, id, nonce, request, expires_at, meta, payload)
    values (
      c.id, c.rev, case when p_kind < 16 then c.seq else p_seq end, c.last_at, request.actor, request.machine, p_kind,
      case when p_kind < 16 then coalesce(p_id, gen_random_uuid()) else p_id end, request.nonce, request.digest,
      c.last_at + lifetime * interval '1 microsecond', p_meta,
      case when keeps_payload then request.payload end)
    returning * into e;
  return e;
end $$;

-- The numbers of the messages that a member sees.
create or replace function dm.seen_numbers(c dm.conversation, sees int8multirange) returns int8multirange
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if c.seq = 0 then return '{}'; end if;
  if sees @> '{[1,)}'::int8multirange then return int8multirange(int8range(1, c.seq, '[]')); end if;
  return coalesce((
    select range_agg(int8range(low.seq, high.seq, '[]')) from unnest(sees) s
    cross join lateral (
      select e.seq from dm.entry e
      where e.conv = c.id and e.kind < 16 and e.rev >= lower(s) and (upper_inf(s) or e.rev < upper(s))
      order by e.rev limit 1) low
    cross join lateral (
      select e.seq from dm.entry e
      where e.conv = c.id and e.kind < 16 and e.rev >= lower(s) and (upper_inf(s) or e.rev < upper(s))
      order by e.rev desc limit 1) high), '{}');
end $$;
reset role;
