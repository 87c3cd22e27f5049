-- Questions that are asked ahead, each as a batch of one item: what it takes from the caps stands in its call.

alter table tickets add column batches integer not null default 0;  -- 1: its holder may send them and fetch answers

create table batches (
    call       integer primary key references calls,  -- open as long as the vendor may still answer
    key        text not null unique,    -- of the question: it is sent once
    day        text not null,           -- that it is asked for
    hour_cache integer not null,
    rates      text not null,           -- when it was sent, in nano-dollars: input, write_5m, write_1h, read, output; JSON
    vendor     text unique,             -- the vendor's id of the batch; null: it was not sent, or nobody knows
    used       integer                  -- 1: the answer was used; 0: it was not, and will not be; null: not known yet
) strict;
create index batches_by_day on batches (day);

alter table replies add column ahead integer not null default 0;  -- 1: a batch's answer
