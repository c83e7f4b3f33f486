set role dm_owner;

-- The time at which the administrator closed the report. The row stays, so that a store that pushes the report again after
-- a restore does not open it again.
alter table dm.report add column closed_at timestamptz;
reset role;
