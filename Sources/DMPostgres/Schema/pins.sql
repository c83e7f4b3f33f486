set role dm_owner;

-- The messages that are pinned now. An entry of kind 23 pins or unpins a message.
create table dm.pinned (
  conv uuid not null references dm.conversation,
  seq bigint not null,
  primary key (conv, seq)
);
reset role;
