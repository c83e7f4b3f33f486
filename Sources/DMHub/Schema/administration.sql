-- What the administrator calls, with the rights of who installed the hub.

set role dm_owner;
create function dm.unstick() returns integer language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select count(*) filter (where pg_terminate_backend(a.pid)) from pg_stat_activity a
    where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_xid is not null
      and a.xact_start < now() - interval '10 seconds' and a.usename in (select role from dm.login));
end $$;

-- Who was invited, and when they were seen last.
create function dm.logins()
returns table (
  handle text, role name, machine uuid, label text, invited_until timestamptz, joined_at timestamptz,
  seen_at timestamptz, is_disabled boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select p.handle, l.role, l.machine, l.label, l.invited_until, l.joined_at, l.seen_at, p.disabled_at is not null
    from dm.person p left join dm.login l on l.person = p.id order by p.handle, l.joined_at, l.role;
end;

create function dm.counts()
returns table (persons bigint, logins bigint, conversations bigint, entries bigint, bytes bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select (select count(*) from dm.person), (select count(*) from dm.login), (select count(*) from dm.conversation),
    (select coalesce(sum(rev), 0)::bigint from dm.conversation), pg_database_size(current_database());
end;

-- Adds a login to a person, who is new if nobody has the handle.
create function dm.enter(p_handle text, p_role name, days integer) returns void language plpgsql volatile
security definer set search_path = pg_catalog, pg_temp as $$
declare
  next bigint;
  someone bigint;
begin
  update dm.people set rev = rev + 1 returning rev into next;
  insert into dm.person as p (handle, rev) values (p_handle, next)
    on conflict (handle) do update set disabled_at = null, rev = next returning p.id into someone;
  insert into dm.login (role, person, invited_until) values (p_role, someone, now() + make_interval(days => days));
end $$;

-- Takes logins from a person, or one login by its role.
--
-- Returns the roles, whose connections are to be ended when this is committed.
create function dm.expel(p_name text) returns setof name language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
declare
  next bigint;
begin
  update dm.people set rev = rev + 1 returning rev into next;
  update dm.person set disabled_at = now(), rev = next where handle = p_name and disabled_at is null;
  return query
    with gone as (
      delete from dm.login l
        where l.role = p_name::name or l.person = (select p.id from dm.person p where p.handle = p_name)
        returning l.role)
    insert into dm.former_login as f select g.role from gone g returning f.role;
end $$;

create function dm.forget_login(p_role name) returns void language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
  delete from dm.former_login f where f.role = p_role;
end;

create function dm.former_logins() returns setof name language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
  select f.role from dm.former_login f;
end;
reset role;

create function dm.invite(p_handle text, verifier text, days integer) returns name language plpgsql volatile
security invoker set search_path = pg_catalog, pg_temp as $$
declare
  login name := 'u_' || left(translate(gen_random_uuid()::text, '-', ''), 16);
begin
  if verifier !~ '^SCRAM-SHA-256\$\d+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+$' then
    raise exception 'a verifier of SCRAM-SHA-256 is expected, not a password' using errcode = '22023';
  end if;
  execute format(
    'create role %I login nosuperuser nocreatedb nocreaterole noreplication nobypassrls connection limit 16 '
    'password %L in role dm_member', login, verifier);
  perform dm.enter(p_handle, login, days);
  return login;
end $$;

create function dm.revoke(p_name text) returns setof name language plpgsql volatile
security invoker set search_path = pg_catalog, pg_temp as $$
declare
  login name;
begin
  for login in select dm.expel(p_name) loop
    execute format('alter role %I nologin', login);
    return next login;
  end loop;
end $$;

-- Drops the roles of machines that were revoked or have left, but none that owns something, or that this administrator
-- may not drop: it can do no more than connect, if that.
create function dm.drop_logins() returns void language plpgsql volatile
security invoker set search_path = pg_catalog, pg_temp as $$
declare
  login name;
begin
  for login in select dm.former_logins() loop
    begin
      if exists (select from pg_roles r where r.rolname = login) then execute format('drop role %I', login); end if;
      perform dm.forget_login(login);
    exception when dependent_objects_still_exist or insufficient_privilege then null;
    end;
  end loop;
end $$;

revoke all on function dm.invite(text, text, integer), dm.revoke(text), dm.drop_logins() from public;

-- The functions that read belong to the role that the policies bind.
grant dm_read to dm_owner;
set role dm_owner;
grant execute on all functions in schema dm1 to dm_member;
alter function dm1.changed(xid8) owner to dm_read;
alter function dm1.pull(uuid[], bigint[], uuid[], integer) owner to dm_read;
alter function dm1.people(bigint, integer) owner to dm_read;
reset role;
revoke create on schema dm1 from dm_read;
