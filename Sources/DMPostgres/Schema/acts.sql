set role dm_owner;

-- The persons whose handles an operation names, without repetitions, in the order of the operation; null if one of the
-- persons does not exist or is disabled.
create or replace function dm.named(request dm.request) returns bigint[]
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

create or replace function dm.set_profile(request dm.request) returns dm.answer
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

-- Whether the second half of an id is a digest of its first half and of `words`, which contains the handles of the
-- persons who may start the conversation. So no other person can take the id of a conversation that the hub lost.
create or replace function dm.is_bound(p_id uuid, words text) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp
return (
  select substr(uuid_send(p_id), 9) = set_byte(d.half, 0, get_byte(d.half, 0) & 63 | 128)
  from (select substr(sha256(substr(uuid_send(p_id), 1, 8) || convert_to(words, 'UTF8')), 1, 8) as half) d);

create or replace function dm.open_log(request dm.request, persons bigint[], p_kind integer) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
  insert into dm.member (person, conv, sees, is_owner)
    select p, request.conv, '{[1,)}', p_kind = 1 and p = request.actor from unnest(persons) p;
  return dm.success(dm.append(request, p_kind, jsonb_build_object('members', to_jsonb(array(
    select p.id from dm.person p where p.id = any (persons) order by p.handle)))));
end $$;

create or replace function dm.begin_direct(request dm.request) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  others bigint[] := dm.named(request);
  known uuid;
begin
  if request.conv is null or others = '{}' then return dm.refusal(request, 'bad_request'); end if;
  if others is null then return dm.refusal(request, 'unknown_user'); end if;
  if cardinality(others) <> 1 then return dm.refusal(request, 'bad_request'); end if;
  if not dm.is_bound(request.conv, (
      select 'direct ' || min(p.handle) || ' ' || max(p.handle) from dm.person p
      where p.id in (request.actor, others[1]))) then
    return dm.refusal(request, 'bad_request');
  end if;
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

create or replace function dm.begin_group(request dm.request) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  others bigint[] := dm.named(request);
begin
  if request.conv is null then return dm.refusal(request, 'bad_request'); end if;
  if others is null then return dm.refusal(request, 'unknown_user'); end if;
  if not dm.is_bound(request.conv, (select 'group ' || p.handle from dm.person p where p.id = request.actor)) then
    return dm.refusal(request, 'bad_request');
  end if;
  insert into dm.conversation (id, is_group) values (request.conv, true) on conflict do nothing;
  if not found then return dm.refusal(request, 'id_taken'); end if;
  return dm.open_log(request, array(select distinct p from unnest(request.actor || others) p), 1);
end $$;

-- Messages

create or replace function dm.is_lifetime(microseconds bigint) returns boolean language sql immutable
return microseconds between 1000000 and 31622400000000;

-- Whether a conversation has members who are not in the operation's audience: a message pushed again after a restore
-- must not reach people who were not members when it was sent.
create or replace function dm.has_others(request dm.request) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
return coalesce((request).arguments ? 'audience', false) and exists (
  select from dm.member y join dm.person p on p.id = y.person
  where y.conv = (request).conv and upper_inf(y.sees) and not (request).arguments->'audience' ? p.handle);

create or replace function dm.say(request dm.request, c dm.conversation) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  message uuid := (request.arguments->>'id')::uuid;
  lifetime bigint := (request.arguments->>'ttl')::bigint;
  files uuid[] := dm.files_of(request);
  said dm.entry;
begin
  if request.payload is null or message is null or files is null or not dm.is_lifetime(lifetime) then
    return dm.refusal(request, 'bad_request');
  end if;
  -- If another message has the id, the new message gets another id. A refusal would reveal that the other message
  -- exists. With refusals, a member could also use the id of a message that the hub lost, so that its sender could not
  -- push the message again.
  if exists (select from dm.entry e where e.id = message and e.kind < 16) then message := gen_random_uuid(); end if;
  if dm.has_others(request) then return dm.refusal(request, 'other_members'); end if;
  if files <> '{}' and not dm.may_attach(request.actor, files) then
    return dm.refusal(request, 'unknown_attachment');
  end if;
  said := dm.append(request, 0, p_id => message, lifetime => coalesce(lifetime, c.expire_after));
  if files <> '{}' then perform dm.attach(said, files); end if;
  return dm.success(said);
end $$;

-- Erases the payloads of messages, of their edits, and of the reactions to them. Unpins the messages, and detaches
-- their files.
create or replace function dm.erase(p_conv uuid, seqs bigint[]) returns void
language sql volatile set search_path = pg_catalog, pg_temp
begin atomic
  update dm.entry x set payload = null, request = null where x.conv = p_conv and x.seq = any (seqs) and x.kind < 16;
  update dm.entry x set payload = null, request = null
    where x.conv = p_conv and x.seq = any (seqs) and x.kind in (16, 18);
  delete from dm.pinned p where p.conv = p_conv and p.seq = any (seqs);
  select dm.detach(p_conv, seqs);
end;

-- The numbered entry to which an operation refers; null if the member does not see it, or if it was deleted or has
-- expired.
create or replace function dm.target(request dm.request, m dm.member) returns dm.entry
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  t dm.entry;
begin
  select * into t from dm.entry x
    where x.conv = request.conv and x.seq = (request.arguments->>'seq')::bigint and x.kind < 16
      and x.id = (request.arguments->>'id')::uuid and m.sees @> x.rev
      and (x.kind <> 0 or x.payload is not null and coalesce(x.expires_at > now(), true));
  return t;
end $$;

-- Stores a copy of a reported message for the administrator. Another report of the message by the same member replaces
-- the copy.
create or replace function dm.report_message(request dm.request, m dm.member) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  t dm.entry := dm.target(request, m);
  reason text := left(request.arguments->>'reason', 1000);
  known dm.report;
begin
  if t.conv is null then return dm.refusal(request, 'unknown_message'); end if;
  if t.kind <> 0 or t.actor = request.actor then return dm.refusal(request, 'not_allowed'); end if;
  select r.* into known from dm.report r where r.reporter = request.actor and r.message = t.id;
  -- After a restore of the hub, a machine pushes its reports again. These do not change a report that the hub has, because
  -- the message may have changed since the report.
  if known.id is null or not coalesce((request.arguments->>'lax')::boolean, false) then
    insert into dm.report as r (reporter, conv, seq, message, sender, reason, payload)
      values (request.actor, t.conv, t.seq, t.id, t.actor, reason, t.payload)
      on conflict (reporter, message) do update
        set at = excluded.at, reason = excluded.reason, payload = excluded.payload, closed_at = null;
    update dm.person p
      set kept = p.kept + coalesce(octet_length(t.payload), 0) - coalesce(octet_length(known.payload), 0)
      where p.id = request.actor;
  end if;
  return row(t.conv, t.id, null, false, null, null)::dm.answer;
end $$;

create or replace function dm.change_message(request dm.request, m dm.member, act text) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  t dm.entry;
  e dm.entry;
begin
  t := dm.target(request, m);
  if t.conv is null then return dm.refusal(request, 'unknown_message'); end if;
  if t.kind <> 0 or act <> 'react' and t.actor <> request.actor then return dm.refusal(request, 'not_allowed'); end if;
  if act = 'edit' and request.payload is null then return dm.refusal(request, 'bad_request'); end if;
  if act = 'edit' and dm.has_others(request) then return dm.refusal(request, 'other_members'); end if;
  e := dm.append(request, case act when 'edit' then 16 when 'delete' then 17 else 18 end, p_id => t.id, p_seq => t.seq,
    keeps_payload => act = 'react');
  if act = 'edit' then
    -- The new text replaces the old one. The digest is erased, because the old text could be guessed from the digest.
    update dm.entry x set payload = request.payload, request = null where x.conv = t.conv and x.rev = t.rev;
    update dm.entry x set request = null
      where x.conv = t.conv and x.seq = t.seq and x.kind = 16 and x.rev <> e.rev;
  elsif act = 'delete' then
    perform dm.erase(t.conv, array[t.seq]);
  end if;
  return dm.success(e);
end $$;

-- Erases at most a hundred expired messages, and skips conversations that another transaction has locked. Returns the
-- number of erased messages.
create or replace function dm.erase_expired() returns integer language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  due record;
  locked uuid[] := '{}';
  before integer;
  rest integer := 100;
begin
  loop
    before := cardinality(locked);
    for due in
      select e.conv, array_agg(e.seq) as seqs from (
        select x.conv, x.seq from dm.entry x
        where x.expires_at <= now() and x.payload is not null and x.conv <> all (locked)
        order by x.expires_at limit rest) e
      group by e.conv
    loop
      perform 1 from dm.conversation c where c.id = due.conv for no key update skip locked;
      if found then
        perform dm.erase(due.conv, due.seqs);
        rest := rest - cardinality(due.seqs);
      else
        locked := locked || due.conv;
      end if;
    end loop;
    -- If conversations were locked, tries again without these conversations.
    exit when rest <= 0 or cardinality(locked) = before;
  end loop;
  return 100 - rest;
end $$;

-- Receipts

-- The ranges of an operation; null if they are not valid.
create or replace function dm.ranges(request dm.request) returns int8multirange
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

create or replace function dm.mark_read(request dm.request, c dm.conversation, m dm.member) returns dm.answer
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
  -- A former member gets no rev, because the rev would reveal how many entries were written after they left.
  if not upper_inf(m.sees) then e.rev := null; end if;
  return dm.success(e);
end $$;

create or replace function dm.mark_delivered(request dm.request, c dm.conversation, m dm.member) returns dm.answer
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
  -- A former member gets no rev, as in dm.mark_read.
  if not upper_inf(m.sees) then e.rev := null; end if;
  return dm.success(e);
end $$;
reset role;
