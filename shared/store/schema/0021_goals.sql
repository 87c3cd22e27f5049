-- What is known of goals: words that are kept until their end, how each is measured, and what was seen of it.

create table goal_words (
    id            integer primary key autoincrement,
    goal_id       text not null,
    kind          text not null,               -- remark, left, answer or review
    text          text not null,               -- one line; a model's: data
    task          text not null,               -- empty: of the goal as a whole
    at            text not null,
    is_over       integer not null default 0,  -- 1: it was left for later, and a later planning has taken it up
    unique (goal_id, kind, text, task)
) strict;

create table goal_measures (                   -- as the planner named them; what a goal says itself is not kept
    goal_id       text not null,
    wording       text not null,
    measure_json  text not null,
    primary key (goal_id, wording)
) strict;

create table goal_looks (                      -- begun before it is looked: what kills us is not begun for ever
    id            integer primary key autoincrement,
    goal_id       text not null,
    wording       text not null,
    commit_id     text not null,
    merged        integer not null,            -- how many of its tasks were merged
    at_end        integer not null,            -- 1: none of its tasks was open
    begun         integer not null default 1,
    figure        real,                        -- null: it was not measured
    verdict       text not null default '',    -- holds, not yet or cannot tell; empty: nobody has looked to the end
    text          text not null default '',    -- what is missing, or why nobody can tell
    at            text not null,
    unique (goal_id, wording, commit_id, merged, at_end)
) strict;
