-- The functions that the administrator calls. Functions that read and write the tables run as their owner, dm_owner;
-- functions that create and change roles run as the administrator.
set role dm_owner;

-- Ends members' connections that may hold up the transactions of others: those with a transaction older than `age` that
-- has written or is idle, those with any transaction older than a minute, and those with an advisory lock, which dm never
-- takes. Returns the number of connections that were ended.
create or replace function dm.unstick(age interval) returns integer language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select count(*) filter (where pg_terminate_backend(a.pid)) from pg_stat_activity a
    where a.datname = current_database() and a.pid <> pg_backend_pid()
      and a.usename in (select l.role from dm.login l union all select f.role from dm.former_login f)
      and (a.xact_start < clock_timestamp() - age and (a.backend_xid is not null or a.state like 'idle in transaction%')
        or a.xact_start < clock_timestamp() - interval '1 minute'
        or exists (select from pg_locks l where l.pid = a.pid and l.locktype = 'advisory')));
end $$;

-- All logins, and the persons without a login. seen_at is the present time for a login that is connected.
create or replace function dm.logins()
returns table (
  handle text, role name, machine uuid, label text, invited_until timestamptz, joined_at timestamptz,
  seen_at timestamptz, is_disabled boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select p.handle, l.role, l.machine, l.label, l.invited_until, l.joined_at,
    greatest(l.seen_at, (select now() from pg_stat_activity a where a.usename = l.role limit 1)),
    p.disabled_at is not null
    from dm.person p left join dm.login l on l.person = p.id order by p.handle, l.joined_at, l.role;
end;

create or replace function dm.counts()
returns table (
  persons bigint, logins bigint, logins_today bigint, conversations bigint, entries bigint, bytes bigint, reports bigint,
  connections bigint, all_connections bigint, connection_limit integer, oldest_write timestamptz, notices double precision,
  lacks_standby boolean, moved_to text)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select (select count(*) from dm.person), (select count(*) from dm.login),
    (select count(*) from dm.logins() l where l.seen_at > now() - interval '1 day'),
    (select count(*) from dm.conversation),
    (select coalesce(sum(rev), 0)::bigint from dm.conversation), pg_database_size(current_database()),
    (select count(*) from dm.report r where r.closed_at is null),
    (select count(*) from pg_stat_activity a
      where a.datname = current_database() and a.usename in (select l.role from dm.login l)),
    (select sum(pg_stat_get_db_numbackends(d.oid))::bigint from pg_database d),
    dm.connection_limit(), (select min(a.xact_start) from pg_stat_activity a where a.backend_xid is not null),
    pg_notification_queue_usage(),
    current_setting('synchronous_standby_names') <> '' and not exists (select from pg_stat_get_wal_senders()), (select h.moved_to from dm.hub h);
end;

-- Records the address to which the hub was moved; null cancels the move. The caller then ends the connections of all
-- members, so that nothing more is written here.
create or replace function dm.move(p_address text, p_authority text) returns void language plpgsql volatile
security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform dm.notice_move();
  update dm.hub set moved_to = p_address, moved_authority = p_authority, moved_from = dm.site();
end $$;

-- Erases at most a hundred expired messages, and deletes signals and counts that are no longer valid. Returns the
-- number of erased messages.
create or replace function dm.sweep() returns integer language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
begin
  delete from dm.typing t where t.until < now() - interval '1 minute';
  delete from dm.presence p where p.at < now() - interval '90 days';
  delete from dm.done_act d where d.spent_at < now() - interval '1 hour';
  return dm.erase_expired();
end $$;

create or replace function dm.is_forgotten(p_handle text) returns boolean language sql stable security definer
set search_path = pg_catalog, pg_temp
return exists (select from dm.person p where p.handle = p_handle and p.forgotten_at is not null);

-- Sets how many bytes the hub stores for each person at most; null for no limit.
create or replace function dm.limit_disk(bytes bigint) returns void language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
begin
  -- Without a limit, the hub did not count the bytes, so it counts them now.
  if bytes is not null and (select h.person_bytes is null from dm.hub h) then
    update dm.person p set kept = dm.kept(p.id), counted_at = now();
  end if;
  update dm.hub set person_bytes = bytes;
end $$;

-- Adds a login for the person with a handle. If there is no such person, adds the person first; if the person is
-- disabled, enables the person again. The rev of any other person stays, because their profile does not change.
create or replace function dm.enter(p_handle text, p_role name, days integer) returns void language plpgsql volatile
security definer set search_path = pg_catalog, pg_temp as $$
declare
  next bigint;
  someone bigint;
begin
  select p.id into someone from dm.person p where p.handle = p_handle and p.disabled_at is null;
  if someone is null then
    update dm.people set rev = rev + 1 returning rev into next;
    insert into dm.person as p (handle, rev) values (p_handle, next)
      on conflict (handle) do update set disabled_at = null, rev = next returning p.id into someone;
  end if;
  insert into dm.login (role, person, invited_until) values (p_role, someone, now() + make_interval(days => days));
end $$;

-- The comment that marks a role as a login of this hub. A copy of the database on the same server lists the same
-- logins, but their roles do not belong to the copy.
create or replace function dm.mark() returns text language sql stable set search_path = pg_catalog, pg_temp
return (select 'dm-hub ' || d.oid from pg_database d where d.datname = current_database());

-- Whether a role has the mark of this hub, or of a database that no longer exists, such as one that was dropped before
-- a restore; null for a role without a mark.
create or replace function dm.is_marked(p_role oid) returns boolean language sql stable set search_path = pg_catalog, pg_temp
return (
  select c.mark = dm.mark() or c.mark ~ '^dm-hub [0-9]+$' and not exists (
    select from pg_database d where 'dm-hub ' || d.oid = c.mark)
  from (select shobj_description(p_role, 'pg_authid') as mark) c);

-- Whether a role exists and does not belong to another hub.
create or replace function dm.has_role(p_role text) returns boolean language sql stable set search_path = pg_catalog, pg_temp
return exists (select from pg_roles r where r.rolname = p_role and coalesce(dm.is_marked(r.oid), true));

-- The logins of the person with this handle, or the login with this name. A login is found by its name even if it was
-- removed, or is missing from the tables after a restore.
create or replace function dm.logins_of(p_name text) returns setof name language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
  select l.role from dm.login l join dm.person p on p.id = l.person where p.handle = p_name or l.role = p_name::name
  union select f.role from dm.former_login f where f.role = p_name::name
  union select r.rolname from pg_roles r
    where r.rolname = p_name::name and dm.is_marked(r.oid);
end;

-- Disables a person and removes their logins, or removes one login by its name.
--
-- Returns whether there is such a person or login.
create or replace function dm.expel(p_name text) returns boolean language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
declare
  is_known boolean := exists (select from dm.person p where p.handle = p_name)
    or exists (select from dm.logins_of(p_name));
  next bigint;
begin
  if not is_known then return false; end if;
  update dm.people set rev = rev + 1 returning rev into next;
  update dm.person set disabled_at = now(), rev = next where handle = p_name and disabled_at is null;
  insert into dm.former_login select dm.logins_of(p_name) on conflict do nothing;
  delete from dm.login l where l.role in (select f.role from dm.former_login f);
  return true;
end $$;

-- Ends the connections of a login, and waits up to two seconds for each to end.
create or replace function dm.end_connections(p_role name) returns void language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
  select pg_terminate_backend(a.pid, 2000) from pg_stat_activity a where a.usename = p_role;
end;

create or replace function dm.end_all_connections() returns void language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
  select dm.end_connections(l.role) from dm.login l;
end;

-- The roles to drop: those of machines that were revoked or have left, and of expired invitations.
create or replace function dm.former_logins() returns setof name language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
  with gone as (
    delete from dm.login l where l.joined_at is null and l.invited_until < now() - interval '1 day' returning l.role)
    insert into dm.former_login select g.role from gone g;
  select f.role from dm.former_login f;
end;

-- Deletes a former login, and what its role owns in this database, which can only be default privileges.
create or replace function dm.forget_login(p_role name) returns void language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from pg_roles r where r.rolname = p_role) then execute format('drop owned by %I', p_role); end if;
  delete from dm.former_login f where f.role = p_role;
end $$;

create or replace function dm.invite(p_handle text, verifier text, days integer) returns name language plpgsql volatile
security invoker set search_path = pg_catalog, pg_temp as $$
declare
  login name := 'u_' || left(translate(gen_random_uuid()::text, '-', ''), 16);
begin
  if verifier !~ '^SCRAM-SHA-256\$\d+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+$' then
    raise exception 'a verifier of SCRAM-SHA-256 is expected, not a password' using errcode = '22023';
  end if;
  execute format(
    'create role %I login nosuperuser nocreatedb nocreaterole noreplication nobypassrls connection limit 8 '
    'password %L in role dm_member', login, verifier);
  execute format('comment on role %I is %L', login, dm.mark());
  execute format('grant %I to dm_owner', login);
  execute format('alter role %I set statement_timeout = ''60s''', login);
  execute format('alter role %I set idle_in_transaction_session_timeout = ''10s''', login);
  -- Limits the size of a member's temporary files. The member cannot raise this limit. If PostgreSQL does not let the
  -- administrator set this parameter, the role has no such limit.
  begin
    execute format('alter role %I set temp_file_limit = ''256MB''', login);
  exception when insufficient_privilege then null;
  end;
  perform dm.enter(p_handle, login, days);
  return login;
end $$;

-- Drops the roles of former logins, except the roles that own something in another database, and those that this
-- administrator may not drop. A role that is not dropped has no access to the hub.
create or replace function dm.drop_logins() returns void language plpgsql volatile
security invoker set search_path = pg_catalog, pg_temp as $$
declare
  login name;
begin
  for login in select dm.former_logins() loop
    begin
      if dm.has_role(login) then
        perform dm.forget_login(login);
        execute format('drop role %I', login);
      end if;
    exception when dependent_objects_still_exist or insufficient_privilege or lock_not_available then null;
    end;
  end loop;
end $$;

-- The role that must own a function. The functions dm1.changed, dm1.pull and dm1.people belong to dm_read, to which the
-- row policies apply.
create or replace function dm.owner_of(p pg_proc) returns name language sql stable set search_path = pg_catalog, pg_temp
return case when (p).pronamespace = 'dm1'::regnamespace and (p).proname in ('changed', 'pull', 'people')
  then 'dm_read' else 'dm_owner' end;

-- Whether a role belongs to a machine that was revoked or has left. The next invite or revoke drops the role.
create or replace function dm.is_former(p_role name) returns boolean language sql stable security definer
set search_path = pg_catalog, pg_temp
return exists (select from dm.former_login f where f.role = p_role);

-- Whether a function is built into PostgreSQL, may be called by every role, and lets a member block the server or fill
-- its disk.
create or replace function dm.is_perilous(p pg_proc) returns boolean language sql stable set search_path = pg_catalog, pg_temp
return (p).pronamespace = 'pg_catalog'::regnamespace
  and ((p).proname ~ '^pg_(try_)?advisory_' or (p).proname in (
    'pg_notify', 'pg_logical_emit_message', 'pg_export_snapshot', 'lo_create', 'lo_creat', 'lo_from_bytea'));

-- Gives PUBLIC back the rights that an installation has revoked.
create or replace function dm.open_to_public() returns void language plpgsql volatile
security invoker set search_path = pg_catalog, pg_temp as $$
declare
  change text;
begin
  if (select h.is_shared from dm.hub h) then return; end if;
  execute format('grant connect, temporary on database %I to public', current_database());
  grant usage on schema public to public;
  for change in
    select format('grant execute on function %s to public', p.oid::regprocedure) from pg_proc p where dm.is_perilous(p)
    union all select 'revoke execute on function pg_notify(text, text) from dm_owner'
  loop
    begin
      execute change;
    exception when insufficient_privilege then null;
    end;
  end loop;
end $$;
reset role;
