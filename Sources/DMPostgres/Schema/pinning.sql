set role dm_owner;

-- Pins a message, or unpins it. A conversation has at most 50 pinned messages. `meta` of the entry says which of the two
-- it was.
create or replace function dm.pin_message(request dm.request, m dm.member) returns dm.answer
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  t dm.entry := dm.target(request, m);
  pins boolean := (request.arguments->>'pinned')::boolean;
begin
  if t.conv is null then return dm.refusal(request, 'unknown_message'); end if;
  if t.kind <> 0 then return dm.refusal(request, 'not_allowed'); end if;
  if pins is null then return dm.refusal(request, 'bad_request'); end if;
  if pins = exists (select from dm.pinned p where p.conv = t.conv and p.seq = t.seq) then
    return dm.duplicate(request);
  end if;
  if pins and (select count(*) from dm.pinned p where p.conv = t.conv) >= 50 then
    return dm.refusal(request, 'too_many_pins');
  end if;
  if pins then
    insert into dm.pinned (conv, seq) values (t.conv, t.seq);
  else
    delete from dm.pinned p where p.conv = t.conv and p.seq = t.seq;
  end if;
  return dm.success(dm.append(
    request, 23, jsonb_build_object('pinned', pins), p_id => t.id, p_seq => t.seq, keeps_payload => false));
end $$;
reset role;
