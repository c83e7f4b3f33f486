-- Lists the differences from a correct installation, one in each row. `is_note` is true if the difference is intended,
-- or if only a superuser can remove it.
select f.is_note, f.text from (
  select false as is_note, format('%s belongs to ''%s'' instead of ''%s''', o.what, o.owner, o.wanted) as text from (
    select 'the schema ' || n.nspname as what, pg_get_userbyid(n.nspowner)::text as owner, 'dm_owner' as wanted
      from pg_namespace n where n.nspname in ('dm', 'dm1')
    union all
    select 'the table ' || c.oid::regclass, pg_get_userbyid(c.relowner)::text, 'dm_owner' from pg_class c
      where c.relnamespace = 'dm'::regnamespace and c.relkind = 'r'
    union all
    select 'the function ' || p.oid::regprocedure, pg_get_userbyid(p.proowner)::text, dm.owner_of(p)::text
      from pg_proc p where p.pronamespace in ('dm'::regnamespace, 'dm1'::regnamespace)) o
    where o.owner <> o.wanted
  union all
  select false, format('%s may use the schema dm', coalesce(r.rolname, 'everybody'))
    from pg_namespace n cross join aclexplode(n.nspacl) a left join pg_roles r on r.oid = a.grantee
    where n.nspname = 'dm' and a.grantee not in (n.nspowner, 'dm_read'::regrole)
  union all
  select distinct false, format('%s may read or change the table %s', coalesce(r.rolname, 'everybody'), c.oid::regclass)
    from pg_class c cross join aclexplode(c.relacl) a left join pg_roles r on r.oid = a.grantee
    where c.relnamespace = 'dm'::regnamespace and c.relkind = 'r' and a.grantee <> c.relowner
      and not (a.grantee = 'dm_read'::regrole and a.privilege_type = 'SELECT'
        and c.relname in ('people', 'person', 'member', 'conversation', 'entry'))
  union all
  select false, format('the table dm.%s has no row level security, or lacks its policy', t.name)
    from unnest(array['people', 'person', 'member', 'conversation', 'entry']) t (name)
    where not exists (
        select from pg_class c where c.oid = to_regclass('dm.' || t.name) and c.relrowsecurity)
      or not exists (
        select from pg_policies p
          where p.schemaname = 'dm' and p.tablename = t.name and p.policyname = 'read' and p.roles = '{dm_read}')
  union all
  select false, format('everybody may call %s', p.oid::regprocedure) from pg_proc p
    where p.pronamespace in ('dm'::regnamespace, 'dm1'::regnamespace) and exists (
      select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0)
  union all
  select false, format('members may not call %s', p.oid::regprocedure) from pg_proc p
    where p.pronamespace = 'dm1'::regnamespace and not has_function_privilege('dm_member', p.oid, 'execute')
  union all
  select false, format('%s may not connect to the database', r.name) from unnest(array['dm_member', 'dm_owner']) r (name)
    where not has_database_privilege(r.name, current_database(), 'connect')
  union all
  select d.datdba <> 'pg_database_owner'::regrole and not pg_has_role(d.datdba, 'usage'),
      'every role of the server may connect to the database, or use its schema public'
    from pg_database d where d.datname = current_database() and not (select h.is_shared from dm.hub h) and (
      exists (select from aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a where a.grantee = 0)
      or exists (
        select from pg_namespace n cross join aclexplode(n.nspacl) a where n.nspname = 'public' and a.grantee = 0))
  union all
  select true, 'members may take advisory locks, store large objects and notify, because only a superuser can forbid it'
    where not (select h.is_shared from dm.hub h) and exists (
      select from pg_proc p cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        where a.grantee = 0 and dm.is_perilous(p))
  union all
  select true, 'others use this database; members may do there what every role may'
    where (select h.is_shared from dm.hub h)
  union all
  select false, format('the login ''%s'' of ''%s'' cannot connect; revoke it, and invite them again', l.role, l.handle)
    from dm.logins() l left join pg_roles r on r.rolname = l.role
    where l.role is not null and not l.is_disabled
      and not coalesce(r.rolcanlogin and pg_has_role(r.oid, 'dm_member', 'usage'), false)
  union all
  select false, format('the role ''%s'' may connect, but belongs to no person of a hub; revoke it', r.rolname) from pg_roles r
    where r.rolcanlogin and dm.is_marked(r.oid) and not dm.is_former(r.rolname)
      and not exists (select from dm.logins() l where l.role = r.rolname)
  union all
  select false, format('the login ''%s'' of ''%s'' belongs to another database of the server', l.role, l.handle)
    from dm.logins() l join pg_roles r on r.rolname = l.role where not dm.has_role(r.rolname)
  union all
  select false, format('the connections of the login ''%s'' of ''%s'' cannot be ended', l.role, l.handle)
    from dm.logins() l join pg_roles r on r.rolname = l.role where not pg_has_role('dm_owner', r.oid, 'usage')) f
order by f.is_note, f.text
