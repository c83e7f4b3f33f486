-- The roles of a hub, which all hubs of one server share, and the schemas: dm is nobody's but its own, dm1 is what
-- members call. A member's login may do nothing but call the functions of dm1.
do $$
declare
  role name;
begin
  foreach role in array array['dm_owner', 'dm_read', 'dm_member'] loop
    begin
      if not exists (select from pg_roles r where r.rolname = role) then
        execute format('create role %I nologin', role);
      end if;
    exception when unique_violation or duplicate_object then
      -- Another hub of the server was installed at the same time.
    end;
  end loop;
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
