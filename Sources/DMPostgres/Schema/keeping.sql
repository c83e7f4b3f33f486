set role dm_owner;

-- The bytes of messages, reports, own states and files that the hub stores for a person.
create or replace function dm.kept(p_person bigint) returns bigint language sql stable set search_path = pg_catalog, pg_temp
return ((
  select coalesce(sum(octet_length(e.payload)), 0) from dm.entry e where e.actor = p_person and e.nonce is not null)
  + (select coalesce(sum(octet_length(r.payload)), 0) from dm.report r where r.reporter = p_person)
  + (select coalesce(sum(octet_length(s.state)), 0) from dm.own_state s where s.person = p_person)
  + (select coalesce(sum(f.size + 1024), 0) from dm.file f
    where f.owner = p_person and f.unused_at is distinct from '-infinity'))::bigint;

-- The last rev of the caller's own states.
create or replace function dm1.own_rev() returns bigint language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
declare
  me bigint := (dm.my_login()).person;
begin
  return (select p.own_rev from dm.person p where p.id = me);
end $$;

-- Stores an own state of the caller if `p_mark` is the mark of the hub's present state, or null if the hub has none,
-- and, for the state of a conversation, if the caller is or was a member of it. Returns whether the state was stored.
create or replace function dm.keep_own(me bigint, p_conv uuid, p_mark uuid, p_state bytea) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  next bigint;
begin
  if p_mark is distinct from (select s.mark from dm.own_state s where s.person = me and s.conv = p_conv)
      or p_conv <> '00000000-0000-0000-0000-000000000000'
        and not exists (select from dm.member m where m.person = me and m.conv = p_conv) then
    return false;
  end if;
  update dm.person p set own_rev = p.own_rev + 1 where p.id = me returning p.own_rev into next;
  insert into dm.own_state as s (person, conv, rev, epoch, state)
    values (me, p_conv, next, (select h.epoch from dm.hub h), p_state)
    on conflict (person, conv) do update
      set rev = excluded.rev, mark = excluded.mark, epoch = excluded.epoch, state = excluded.state;
  return true;
end $$;

-- Stores each given state whose mark in `marks` is the mark of the hub's present state, if the caller's limits allow
-- it. Returns the caller's states after the rev `since`, and the states that the hub now has for the given
-- conversations. `is_present` is false for a state that was written before the hub was restored.
create or replace function dm1.own_states(since bigint, convs uuid[], marks uuid[], states bytea[], most integer)
returns table (conv uuid, rev bigint, mark uuid, is_present boolean, state bytea)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '3s' as $$
#variable_conflict use_column
declare
  me bigint := (dm.my_login()).person;
  present uuid := (select h.epoch from dm.hub h);
  allowed bigint := 0;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'only in read committed transactions' using errcode = '25000';
  end if;
  if cardinality(convs) > 0 then
    perform dm.refuse_moved();
    if cardinality(convs) > 1000 then
      raise exception 'more than 1000 states' using errcode = '54000';
    end if;
    if current_setting('synchronous_commit') in ('off', 'local') then
      perform set_config('synchronous_commit', 'on', true);
    end if;
    -- dm.spend also locks the person's row, so that revs become visible in their order. Only the growth of a state
    -- counts against the limit on stored bytes, and only if the growth is more than 1 KiB.
    select s.allowed into allowed from dm.spend(me, (
      select coalesce(jsonb_agg(case
          when k.growth > 1024 then jsonb_build_object('op', 'own', 'state', k.rest, 'payload', k.new)
          else jsonb_build_object('op', 'own', 'state', k.rest || k.new) end order by k.place), '[]')
      from (
        select g.place, g.growth, left(g.text, g.growth / 3 * 4) as new, substr(g.text, g.growth / 3 * 4 + 1) as rest
        from (
          select k.place, encode(k.state, 'base64') as text,
            greatest(0, octet_length(k.state) - coalesce(octet_length(s.state), 0)) as growth
          from unnest(convs, states) with ordinality k (conv, state, place)
          left join dm.own_state s on s.person = me and s.conv = k.conv
          where octet_length(k.state) <= 524288) g) k)) s;
    if exists (select from dm.person p where p.id = me and p.disabled_at is not null) then
      raise exception 'not a member' using errcode = 'DM002';
    end if;
    perform dm.keep_own(me, k.conv, k.mark, k.state)
      from (
        select x.*, row_number() over (order by x.place) as number
        from unnest(convs, marks, states) with ordinality x (conv, mark, state, place)
        where octet_length(x.state) <= 524288) k
      where k.number <= allowed order by k.number;
  end if;
  return query
    select s.conv, s.rev, s.mark, s.epoch = present, s.state from dm.own_state s
    where s.person = me and s.rev <= since and s.conv = any (convs)
    union all
    -- A page has at most 4 MiB, but at least one state.
    (select p.conv, p.rev, p.mark, p.epoch = present, p.state from (
        select s.*, sum(octet_length(s.state)) over (order by s.rev) as bytes, row_number() over (order by s.rev) as number
        from (
          select x.* from dm.own_state x where x.person = me and x.rev > since order by x.rev limit least(most, 1000)) s) p
      where p.bytes <= 4194304 or p.number = 1)
    order by rev;
end $$;

-- Notifies the other machines of the caller. Call this function in a separate transaction, like dm1.wake.
create or replace function dm1.wake_own() returns void language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
declare
  me bigint := (dm.my_login()).person;
begin
  perform pg_notify(l.channel, 'o') from dm.login l
    where l.person = me and l.role <> session_user and l.joined_at is not null;
end $$;
reset role;
