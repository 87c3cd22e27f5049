-- A phase that nobody was there for at its time: it was not run, and is not run any more.

alter table phases add column missed integer not null default 0;

-- How often a model was asked to read the vision on that day: booked before, as the plan's attempts are.

alter table daily_plans add column readings integer not null default 0;

-- The repository that a home works on: what was planned for one is never done to another.

create table target (
    only_one    integer primary key check (only_one = 1),
    repo        text not null,      -- its address
    at          text not null
) strict;
