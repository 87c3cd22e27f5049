-- Who works on a home, one after the other; and what the owner allows on top of a day's cap.

create table epochs (               -- a life of whoever works on the home; the newest one alone may write
    number      integer primary key,
    kind        text not null,      -- daemon, or run-day
    pid         integer not null,
    began_at    text not null,
    ready_at    text,               -- what the last one left is put in order, work may begin
    seen_at     text,               -- its last sign of life
    ended_at    text,               -- null: it is alive, or ended without a word
    how         text not null default ''
) strict;

create table cap_raises (           -- nano-dollars that one day may cost, by the owner's word
    day         text primary key,
    amount      integer not null,
    at          text not null,
    why         text not null
) strict;
