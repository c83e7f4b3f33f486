set role dm_owner;

-- The login of the connection, which identifies the caller even after SET ROLE.
create function dm.my_login() returns dm.login language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
declare
  mine dm.login;
begin
  select l.* into mine from dm.login l join dm.person p on p.id = l.person
    where l.role = session_user and l.joined_at is not null and p.disabled_at is null;
  if not found then raise exception 'not a member' using errcode = 'DM002'; end if;
  return mine;
end $$;

create function dm.me() returns bigint language sql stable security definer
set search_path = pg_catalog, pg_temp
return (select l.person from dm.login l join dm.person p on p.id = l.person
  where l.role = session_user and l.joined_at is not null and p.disabled_at is null);

-- The functions dm1.changed, dm1.pull and dm1.people belong to dm_read, to which these policies apply. So a row that
-- one of these functions forgets to filter out stays hidden.
create policy read on dm.people for select to dm_read using ((select dm.me()) is not null);
create policy read on dm.person for select to dm_read using ((select dm.me()) is not null);
create policy read on dm.member for select to dm_read using (person = (select dm.me()));
create policy read on dm.conversation for select to dm_read using (
  exists (select from dm.member m where m.person = (select dm.me()) and m.conv = conversation.id));
create policy read on dm.entry for select to dm_read using (
  exists (
    select from dm.member m
    where m.person = (select dm.me()) and m.conv = entry.conv and m.sees @> entry.rev));
reset role;
