-- First tries at easy tasks: by which model each is measured. The ticket's own says which one it was made with.

alter table tickets add column beside text not null default '';  -- empty: any other ticket
create index tickets_by_task on tickets (task, id);
create index tickets_measured on tickets (beside, id) where beside <> '';
create index calls_cached on calls (day) where read + write_5m + write_1h > 0;
