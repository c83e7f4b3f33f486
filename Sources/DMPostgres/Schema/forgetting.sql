-- To erase a person, the administrator calls `forget_words` for each conversation, and then `forget_person`.
set role dm_owner;

-- An operation that the administrator carries out in place of a person.
create or replace function dm.in_place_of(p_person bigint, p_conv uuid) returns dm.request language sql volatile
set search_path = pg_catalog, pg_temp
return row(p_person, gen_random_uuid(), p_conv, gen_random_uuid(), null, null, null)::dm.request;

-- Erases the next 200 messages and reactions of a person in a conversation after the rev `since`. Messages are deleted
-- as if the person had deleted them for everyone; reactions are withdrawn. `last` is the rev of the last erased entry;
-- null if there was none.
create or replace function dm.forget_words(
  p_person bigint, p_conv uuid, since bigint, out messages integer, out last bigint)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
  said dm.entry;
begin
  messages := 0;
  perform 1 from dm.conversation c where c.id = p_conv for no key update;
  for said in
    select * from dm.entry e
    where e.conv = p_conv and e.rev > since and e.actor = p_person and e.kind in (0, 18) and e.payload is not null
    order by e.rev limit 200
  loop
    last := said.rev;
    if said.kind = 0 then
      perform dm.append(dm.in_place_of(p_person, p_conv), 17, p_id => said.id, p_seq => said.seq);
      perform dm.erase(p_conv, array[said.seq]);
      messages := messages + 1;
      continue;
    end if;
    update dm.entry e set payload = null, request = null where e.conv = p_conv and e.rev = said.rev;
    -- An entry without a payload withdraws the person's last reaction to a message. If the message was erased, the
    -- entry is not needed, because the reactions were erased, too.
    if exists (
          select from dm.entry m
          where m.conv = p_conv and m.seq = said.seq and m.kind = 0 and m.payload is not null)
        and not exists (
          select from dm.entry n
          where n.conv = p_conv and n.seq = said.seq and n.kind = 18 and n.actor = p_person and n.rev > said.rev) then
      perform dm.append(dm.in_place_of(p_person, p_conv), 18, p_id => said.id, p_seq => said.seq);
    end if;
  end loop;
  if last is not null then perform dm.notify(array[p_conv]); end if;
end $$;

-- Removes a person from all groups, and erases their profile, signals and own states, their files that no message has,
-- the copies of their messages in reports, and the reasons in their own reports. Returns the number of groups that they
-- left.
create or replace function dm.forget_person(p_person bigint) returns integer language plpgsql volatile
security definer set search_path = pg_catalog, pg_temp as $$
declare
  c dm.conversation;
  next bigint;
  count integer := 0;
begin
  -- Before the groups are locked, as in a push, so that the two do not deadlock.
  update dm.person p set kept = p.kept - r.bytes
    from (
      select x.reporter, sum(octet_length(x.payload)) as bytes from dm.report x where x.sender = p_person group by 1) r
    where p.id = r.reporter and r.bytes > 0;
  update dm.report r set payload = null where r.sender = p_person;
  for c in
    select x.* from dm.conversation x join dm.member m on m.conv = x.id
    where m.person = p_person and upper_inf(m.sees) and x.is_group order by x.id for no key update of x
  loop
    perform dm.end_membership(dm.in_place_of(p_person, c.id), c, p_person);
    perform dm.notify(array[c.id]);
    count := count + 1;
  end loop;
  update dm.file f set unused_at = '-infinity' where f.owner = p_person and f.unused_at is not null;
  delete from dm.typing t where t.person = p_person;
  delete from dm.presence p where p.person = p_person;
  delete from dm.done_act d where d.person = p_person;
  -- Locks the person before their own states, as dm1.own_states does, so that the two never deadlock.
  perform 1 from dm.person p where p.id = p_person for no key update;
  delete from dm.own_state s where s.person = p_person;
  update dm.report r set reason = null where r.reporter = p_person;
  update dm.people set rev = rev + 1 returning rev into next;
  update dm.person p set profile = null, shows_presence = false, rev = next,
      disabled_at = coalesce(p.disabled_at, now()), forgotten_at = now()
    where p.id = p_person;
  return count;
end $$;
reset role;
