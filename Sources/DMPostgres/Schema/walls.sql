-- Sets the owners of the hub's tables and functions, and the rights of roles on them. Each installation runs this
-- script, because a restored dump may lack some owners and rights. The script changes only settings that are wrong, so
-- that members do not wait for locks.
do $$
declare
  change text;
begin
  -- The row policies apply to a function only if the function has the right owner. PostgreSQL requires that the new
  -- owner of an object may create objects in its schema.
  grant create on schema dm, dm1 to dm_owner, dm_read;
  for change in
    select format('alter schema %I owner to dm_owner', n.nspname) from pg_namespace n
      where n.nspname in ('dm', 'dm1') and n.nspowner <> 'dm_owner'::regrole
    union all
    select format('alter table %s owner to dm_owner', c.oid::regclass) from pg_class c
      where c.relnamespace = 'dm'::regnamespace and c.relkind = 'r' and c.relowner <> 'dm_owner'::regrole
    union all
    select format('alter type %s owner to dm_owner', t.oid::regtype) from pg_type t
      join pg_class c on c.oid = t.typrelid and c.relkind = 'c'
      where t.typnamespace = 'dm'::regnamespace and t.typowner <> 'dm_owner'::regrole
    union all
    select format('alter function %s owner to %I', p.oid::regprocedure, o.owner) from pg_proc p
      cross join lateral (select dm.owner_of(p) as owner) o
      where p.pronamespace in ('dm'::regnamespace, 'dm1'::regnamespace) and p.proowner <> o.owner::regrole
    union all
    select format('alter table %s enable row level security', c.oid::regclass) from pg_class c
      where c.relnamespace = 'dm'::regnamespace and c.relkind = 'r' and not c.relrowsecurity
        and c.relname in ('hub', 'people', 'login', 'person', 'member', 'conversation', 'entry')
  loop
    execute change;
  end loop;
  revoke create on schema dm, dm1 from dm_read;
end $$;

do $$
declare
  change text;
begin
  -- Revokes the rights that other roles were given on the tables and their schema.
  for change in
    select distinct format('revoke all on table %s from %s cascade', c.oid::regclass, coalesce(quote_ident(r.rolname), 'public'))
      from pg_class c cross join aclexplode(c.relacl) a left join pg_roles r on r.oid = a.grantee
      where c.relnamespace = 'dm'::regnamespace and c.relkind = 'r' and a.grantee <> c.relowner
        and not (a.grantee = 'dm_read'::regrole and a.privilege_type = 'SELECT'
          and c.relname in ('people', 'person', 'member', 'conversation', 'entry'))
    union all
    select distinct format('revoke all on schema dm from %s cascade', coalesce(quote_ident(r.rolname), 'public'))
      from pg_namespace n cross join aclexplode(n.nspacl) a left join pg_roles r on r.oid = a.grantee
      where n.nspname = 'dm' and a.grantee not in (n.nspowner, 'dm_read'::regrole)
  loop
    execute change;
  end loop;
end $$;
revoke all on all tables in schema dm from public, dm_member;
revoke all on all functions in schema dm, dm1 from public;
revoke all on all functions in schema dm from dm_member;
grant usage on schema dm1 to dm_member, dm_read;
grant usage on schema dm to dm_read;
grant execute on function dm.my_login(), dm.me() to dm_read;
grant select on dm.people, dm.person, dm.member, dm.conversation, dm.entry to dm_read;
grant execute on all functions in schema dm1 to dm_member;

-- Sets the rights on the database: a member's login may connect, and PUBLIC may do nothing. Some changes need a
-- superuser; check.sql lists what was not changed.
do $$
declare
  login name;
  change text;
begin
  execute format('grant connect on database %I to dm_member, dm_owner', current_database());
  if not (select h.is_shared from dm.hub h) then
    execute format('revoke all on database %I from public', current_database());
    revoke all on schema public from public;
    begin
      for change in
        select format('revoke execute on function %s from public', p.oid::regprocedure) from pg_proc p
          where dm.is_perilous(p)
            and exists (
              select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0)
      loop
        execute change;
      end loop;
      if not has_function_privilege('dm_owner', 'pg_notify(text, text)', 'execute') then
        grant execute on function pg_notify(text, text) to dm_owner;
      end if;
    exception when insufficient_privilege then null;
    end;
  end if;
  -- Marks the logins as those of this database, unless another existing database has marked them.
  for login in
    select l.role from dm.login l join pg_roles r on r.rolname = l.role
      cross join lateral (select shobj_description(r.oid, 'pg_authid') as mark) c
      where c.mark is distinct from dm.mark() and not exists (
        select from pg_database d where 'dm-hub ' || d.oid = c.mark)
  loop
    begin
      execute format('comment on role %I is %L', login, dm.mark());
    exception when insufficient_privilege then null;
    end;
  end loop;
  -- dm_owner, which owns the functions, must be able to end the connections of each login.
  for login in
    select l.role from dm.login l join pg_roles r on r.rolname = l.role
      where not pg_has_role('dm_owner', r.oid, 'usage') or not pg_has_role(r.oid, 'dm_member', 'usage')
  loop
    begin
      execute format('grant %I to dm_owner', login);
      execute format('grant dm_member to %I', login);
    exception when insufficient_privilege then null;
    end;
  end loop;
end $$;
