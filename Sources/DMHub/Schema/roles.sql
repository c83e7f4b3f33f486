-- The roles of a hub, which all hubs of one server share, and the schemas: dm is nobody's but its own, dm1 is what
-- members call. A member's login may do nothing but call the functions of dm1.
do $$
begin
  if not exists (select from pg_roles where rolname = 'dm_owner') then create role dm_owner nologin; end if;
  if not exists (select from pg_roles where rolname = 'dm_read') then create role dm_read nologin; end if;
  if not exists (select from pg_roles where rolname = 'dm_member') then create role dm_member nologin; end if;
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect on database %I to dm_member', current_database());
end $$;
grant dm_owner, dm_read to current_user;
revoke all on schema public from public;

create schema dm authorization dm_owner;
create schema dm1 authorization dm_owner;
grant usage on schema dm1 to dm_member;
grant usage on schema dm to dm_read;
grant usage, create on schema dm1 to dm_read;

-- Large objects are written by functions that everybody may call (postgresql.org/docs/current/lo-funcs.html).
do $$
begin
  revoke execute on function lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea) from public;
exception when insufficient_privilege then
  raise notice 'members may store large objects, because only a superuser can forbid it';
end $$;
do $$
begin
  grant pg_signal_backend, pg_read_all_stats to dm_owner;
exception when insufficient_privilege then
  raise notice 'unstick cannot end connections, because only a superuser can allow it';
end $$;
