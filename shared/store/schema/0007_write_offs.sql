-- What the owner said of calls whose outcome is unknown, and quick ways to those and to what a day's cap has stopped.

create table write_offs (           -- a lost call's amount was lowered by his word; the newest row of a call counts
    id            integer primary key,
    call          integer not null references calls,
    at            text not null,
    booked        integer not null, -- before
    amount        integer not null check (amount between 0 and booked),
    why           text not null check (why <> '')
) strict;
create index write_offs_by_call on write_offs (call);

create index calls_lost on calls (id) where state = 'lost';
create index calls_capped on calls (day, day_cap) where state = 'refused' and code = 'meter_day_cap';
