-- What was brought to a place, and how it went there. What really runs is asked at the place itself.

create table deploys (
    number      integer primary key,
    place       text not null check (place in ('staging', 'production')),
    commit_id   text not null,
    back_to     text not null,      -- the commit that was healthy there before; empty: none
    asked       integer not null,   -- the owner's own order
    stage       text not null,
    why         text not null default '',
    begun_at    text not null,
    started_at  text,
    ended_at    text,
    backup      text not null default '',
    reverts     integer not null default 0,     -- the pull request that takes the commit's change back
    settled     integer not null default 0
) strict;

create table deploy_orders (        -- the owner's: this commit at this place, now
    number      integer primary key,
    place       text not null,
    commit_id   text not null,
    at          text not null,
    deploy      integer             -- what came of it; null: it waits
) strict;

create table deploy_pauses (        -- nothing is begun unasked between a pause and its end
    number      integer primary key,
    at          text not null,
    why         text not null,
    ended_at    text,
    forgiven    integer not null default 0      -- at its end: deploys up to this number may be tried again
) strict;

create unique index one_pause on deploy_pauses ((1)) where ended_at is null;

create table deploy_name (          -- what is ours at an engine is named after it
    only_one    integer primary key check (only_one = 1),
    name        text not null
) strict;
