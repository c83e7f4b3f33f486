-- Creates the roles that are missing. All hubs of a server share these roles. Each installation runs this script.
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
      -- An installation of another hub on this server has just created the role.
    end;
  end loop;
  foreach role in array array['dm_owner', 'dm_read'] loop
    if not pg_has_role(role, 'usage') then execute format('grant %I to current_user', role); end if;
  end loop;
end $$;
