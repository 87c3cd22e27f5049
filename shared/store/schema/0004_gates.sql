-- The gates: what tests and reviews said, what the owner ruled, and two more ways in which an attempt can end.

create table attempts_4 (           -- booked before the run; outcome null: open
    task        text not null references tasks,
    number      integer not null,   -- for ever growing: each attempt has its own folder and commit
    round       integer not null,   -- +1 whenever the owner gives the attempts back
    started_at  text not null,
    ended_at    text,
    outcome     text check (outcome in ('ok', 'failed', 'lost', 'void', 'sent back', 'stale')),
    note        text not null default '',
    refreshes   text not null default '',  -- the commit that it brings up to date
    primary key (task, number)
);
insert into attempts_4 (task, number, round, started_at, ended_at, outcome, note)
    select task, number, round, started_at, ended_at, outcome, note from attempts;
drop table attempts;
alter table attempts_4 rename to attempts;

create table gate_runs (            -- tests or review of one commit of a task: counted before they begin
    task        text not null references tasks,
    commit_id   text not null,
    kind        text not null check (kind in ('check', 'review')),
    begun       integer not null,
    at          text not null,
    answer_json text,               -- Evidence or Reviewed; null: none yet
    primary key (task, commit_id, kind)
);

create table suite_runs (           -- the tests of a base commit, so that they run once
    key         text primary key,   -- digest of commit, command and environment
    run_json    text not null,
    at          text not null
);

create table rulings (              -- what the owner said about a change; the newest counts
    id          integer primary key,
    task        text not null references tasks,
    subject     text not null,      -- digest of the change that it is about
    kind        text not null check (kind in ('approve', 'reject', 'correct')),
    why         text not null default '',
    at          text not null
);

create table parked (               -- commits that wait for the owner, and why
    task        text not null references tasks,
    subject     text not null,
    reasons     text not null,      -- one per line
    at          text not null,
    primary key (task, subject)
);
