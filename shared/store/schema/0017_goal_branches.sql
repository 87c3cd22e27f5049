-- Large goals: the branch of its goal that a task goes into, as it was planned.

alter table tasks add column branch text not null default '';  -- empty: the target's own
