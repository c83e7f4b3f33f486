set role dm_owner;

-- The machines of the caller, in the order in which they joined.
create or replace function dm1.machines()
returns table (
  machine uuid, label text, is_this boolean, is_connected boolean, joined_at timestamptz, seen_at timestamptz)
language plpgsql stable security definer rows 5 set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  me bigint := (dm.my_login()).person;
begin
  return query
    select l.machine, l.label, l.role = session_user,
      exists (select from pg_stat_activity a where a.usename = l.role), l.joined_at, l.seen_at
    from dm.login l where l.person = me and l.joined_at is not null order by l.joined_at, l.machine;
end $$;

-- Replaces the stamp of the caller's store. Returns false if the hub had a stamp that is not among the given ones:
-- another store, such as a copy of this one, has connected with this login after this store got its stamp.
create or replace function dm1.restamp(held uuid[], next uuid) returns boolean language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '3s' as $$
declare
  me dm.login := dm.my_login();
  had uuid;
begin
  select l.stamp into had from dm.login l where l.role = me.role for update;
  update dm.login l set stamp = restamp.next where l.role = me.role and l.stamp is distinct from restamp.next;
  return had is null or had = restamp.next or had = any(restamp.held);
end $$;

-- Removes the login of another machine of the caller, and ends the login's connections. The administrator's next invite
-- or revoke drops the role of the login.
create or replace function dm1.revoke_machine(p_machine uuid) returns void language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '3s' as $$
declare
  me bigint := (dm.my_login()).person;
  login name;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'only in read committed transactions' using errcode = '25000';
  end if;
  perform dm.refuse_moved();
  delete from dm.login l where l.person = me and l.machine = p_machine and l.role <> session_user returning l.role into login;
  if not found then return; end if;
  insert into dm.former_login values (login) on conflict do nothing;
  perform pg_terminate_backend(a.pid) from pg_stat_activity a where a.usename = login;
end $$;
reset role;
