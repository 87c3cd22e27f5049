-- What the team proposed when nobody asked for anything.

create table upkeep_looks (
    day         text primary key,              -- one look a day
    notes       text not null                  -- for the owner: a line each
) strict;

create table upkeep_proposals (                -- what became of each is in task_events
    task        text primary key,
    day         text not null references upkeep_looks (day),
    kind        text not null,
    subject     text not null,                 -- of its kind; as it was found
    goal        text not null,
    goal_json   text not null,                 -- the goal is wanted as long as this row is there
    task_json   text not null                  -- its file is written from this, so a repetition writes the same one
) strict;
create index upkeep_proposals_by_day on upkeep_proposals (day);
