set role dm_owner;

-- Stores the signals of a machine. `hidden_from` has the handles of the persons who must not see the presence of the
-- caller. It may be null only if `is_present` is false; a null does not change the stored list. Returns the signals of
-- other persons. For a person who types in a watched conversation, `rest` is the number of milliseconds for which the
-- signal remains valid. For a person who was online in the last `seen` seconds, `age` is the number of milliseconds
-- since then. The plans are generic, because planning for the arrays of each call would take as long as the call.
create or replace function dm1.signals(
  typing uuid[], lasting integer[], ended uuid[], is_present boolean, hidden_from text[], watched uuid[], seen integer)
returns table (conv uuid, person bigint, rest bigint, age bigint)
language plpgsql volatile security definer rows 10 set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  me bigint;
  count integer;
begin
  -- Repeats the query of dm.my_login, because a call would be slower, and this is the function that members call most
  -- often.
  select l.person into me from dm.login l join dm.person p on p.id = l.person
    where l.role = session_user and l.joined_at is not null and p.disabled_at is null;
  if not found then raise exception 'not a member' using errcode = 'DM002'; end if;
  if cardinality(signals.typing) > 100 or cardinality(signals.watched) > 100 or cardinality(signals.hidden_from) > 10000 then
    raise exception 'too many signals' using errcode = '54000';
  end if;
  if cardinality(signals.typing) > 0 then
    update dm.typing t
      set until = clock_timestamp() + greatest(0, least(k.lasting, 5000)) * interval '1 millisecond'
      from unnest(signals.typing, signals.lasting) k (conv, lasting) where t.conv = k.conv and t.person = me;
    get diagnostics count = row_count;
  end if;
  -- Only new rows need a check: the rows updated above were inserted while the person was a member. The signals of
  -- former members are not returned to anybody.
  if cardinality(signals.typing) > count then
    insert into dm.typing as t (conv, person, until)
      select k.conv, me, clock_timestamp() + greatest(0, least(max(k.lasting), 5000)) * interval '1 millisecond'
      from unnest(signals.typing, signals.lasting) k (conv, lasting)
      where exists (select from dm.member m where m.person = me and m.conv = k.conv and upper_inf(m.sees))
      group by k.conv order by k.conv
      on conflict (conv, person) do update set until = excluded.until;
  end if;
  if cardinality(signals.ended) > 0 then
    delete from dm.typing t where t.person = me and t.conv = any (signals.ended);
  end if;
  if signals.is_present then
    insert into dm.presence as p (person, at, hidden_from)
      values (me, clock_timestamp(), array(select x.id from dm.person x where x.handle = any (signals.hidden_from)))
      on conflict (person) do update set at = excluded.at, hidden_from = excluded.hidden_from;
  elsif signals.hidden_from is not null then
    update dm.presence p
      set hidden_from = array(select x.id from dm.person x where x.handle = any (signals.hidden_from))
      where p.person = me;
  end if;
  if cardinality(signals.watched) > 0 then
    return query
      select t.conv, t.person, (extract(epoch from t.until - clock_timestamp()) * 1000)::bigint, null::bigint
      from dm.typing t
      where t.conv = any (signals.watched) and t.until > clock_timestamp() and t.person <> me
        and exists (select from dm.member m where m.person = me and m.conv = t.conv and upper_inf(m.sees))
        and exists (select from dm.member m where m.person = t.person and m.conv = t.conv and upper_inf(m.sees));
  end if;
  if signals.seen is not null then
    return query
      select null::uuid, p.person, null::bigint, (extract(epoch from clock_timestamp() - p.at) * 1000)::bigint
      from dm.presence p join dm.person x on x.id = p.person
      where p.at > clock_timestamp() - signals.seen * interval '1 second' and p.person <> me
        and x.shows_presence and x.disabled_at is null and me <> all (p.hidden_from)
        and exists (
          select from dm.member a join dm.member b on b.conv = a.conv
          where a.person = me and b.person = p.person and upper_inf(a.sees) and upper_inf(b.sees));
  end if;
end $$;
reset role;
