-- Telling the owner: his messages, each once per service; and what went wrong in a phase, for the day's report.

create table notices (
    key         text not null,      -- identity of the message: <day>:day, <day>:<task>:waiting-<attempt>-<digest>, ...
    service     text not null,
    digest      text not null,      -- of what is to stand there now
    notice_json text not null,      -- the same, without its picture
    at          text not null,      -- when this was intended
    state       text not null check (state in ('planned', 'sending', 'delivered', 'perhaps', 'refused')),
    message_id  text not null default '',   -- at the service: known, the message is edited and not sent again
    posts       integer not null default 0, -- times that it was delivered, in whichever words
    blind       integer not null default 0, -- times it was sent without an answer since: booked before, taken back after
    tried_at    text not null default '',
    why         text not null default '',   -- it was not delivered
    told_in     text not null default '',   -- key of the message that said so
    primary key (key, service)
) strict;

alter table phases add column problem text not null default '';
