-- What happened. Nothing here repeats where a task's file lies: the folder is the state.

create table tasks (                -- every task that was ever seen
    id          text primary key,
    title       text not null,
    goal_id     text not null,
    wording     text not null,      -- digest of the goal's text that it was planned for
    priority    text not null,
    created_at  text not null
);

create table task_events (          -- a task's history; `done` = 0: planned, the file is not moved yet
    id          integer primary key,
    task        text not null references tasks,
    at          text not null,
    event       text not null,
    from_state  text not null,
    to_state    text not null,
    note        text not null default '',
    done        integer not null default 0
);
create index task_events_by_task on task_events (task, id);
create index task_events_open on task_events (done) where done = 0;

create table attempts (             -- booked before the run; outcome null: open
    task        text not null references tasks,
    number      integer not null,   -- for ever growing: each attempt has its own folder and commit
    round       integer not null,   -- +1 whenever the owner gives the attempts back
    started_at  text not null,
    ended_at    text,
    outcome     text check (outcome in ('ok', 'failed', 'lost', 'void')),
    note        text not null default '',
    primary key (task, number)
);

create table agent_runs (           -- one agent at work, once
    id          integer primary key,
    agent_name  text not null,
    day         text not null,
    task_id     text not null default '',
    attempt     integer not null default 0,
    started_at  text not null,
    ended_at    text,
    result      text
);

create table daily_plans (          -- attempts are booked before the planner is asked; plan_json null: not made yet
    day         text primary key,
    attempts    integer not null default 0,
    plan_json   text
);

create table visions (              -- what was accepted, the newest row counts
    id          integer primary key,
    day         text not null,
    digest      text not null,      -- of VISION.md's bytes
    vision_json text not null,
    guards_json text not null
);

create table questions (            -- asked instead of guessed; about a goal in one wording
    goal_id     text not null,
    wording     text not null,      -- digest of the goal's text
    day         text not null,
    text        text not null,
    evidence    text not null,
    primary key (goal_id, wording, text)
);

create table intents (              -- outward effects: written before, done, written after
    key         text primary key,
    kind        text not null,
    task        text not null default '',
    payload     text not null,      -- digest; another payload under the same key is a bug
    state       text not null check (state in ('planned', 'done')),
    external_id text not null default '',
    at          text not null
);

create table phases (               -- what of a day was run
    day         text not null,
    name        text not null,
    started_at  text not null,
    ended_at    text,
    primary key (day, name)
);
