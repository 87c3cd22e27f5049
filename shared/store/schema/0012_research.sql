-- Research: what was asked, what was searched and read for it, and what came of it.

create table inquiries (
    id            text primary key,
    text          text not null,
    goal_id       text not null,               -- empty: an idea of the owner's
    asked_on      text not null,               -- YYYY-MM-DD
    tries         integer not null default 0,  -- counted before the try
    tried_on      text not null default '',
    problem       text not null default '',    -- why the last try came to nothing
    answered_on   text not null default '',    -- the day of its note
    slug          text not null default '',    -- the note is reports/research/<slug>.md
    findings_json text not null default ''
) strict;

create table searches (                        -- each is paid for once
    inquiry       text not null references inquiries,
    query         text not null,
    day           text not null,
    hits_json     text not null,
    primary key (inquiry, query)
) strict;

create table sources (                         -- pages as they were read: quotes are looked up in them
    inquiry       text not null references inquiries,
    url           text not null,
    day           text not null,
    title         text not null,
    text          text not null,
    written       text not null,
    refused       text not null default '',    -- why it was not read
    primary key (inquiry, url)
) strict;
