-- Approved changes that were tested on top of each other: a task's place among those that came out green together.

create table queue_places (
    task        text primary key,
    commit_id   text not null,                      -- that was approved
    trees       text not null default '',           -- of the branch: before all of them, after each, up to its own
    together    text not null default ''            -- the tasks that were tested with it, it among them
);
