-- Money. All amounts are nano-dollars. The sums come from the rows of `calls`, never from a counter.

create table tickets (              -- who may call the meter, for what, and how much
    id            integer primary key,
    token_sha256  text not null unique,
    run           integer not null,
    agent         text not null,
    run_day       text not null,
    task          text not null,    -- empty: no task's cap applies
    attempt       integer not null,
    budget        integer not null check (budget >= 0),
    models        text not null,    -- JSON list
    max_calls     integer not null,
    min_out       integer not null,
    retry_s       real not null,
    opened_at     text not null,
    expires_at    text not null,
    closed_at     text
) strict;

create table calls (                -- every call, also refused, failed and aborted ones
    id            integer primary key,
    ticket        integer not null references tickets,
    at            text not null,
    day           text not null,    -- that it is booked on; never runs backwards
    agent         text not null,
    task          text not null,
    attempt       integer not null,
    model         text not null,
    price_version text not null,
    retry         integer not null default 0,   -- 0: the caller's own call; n: the meter's n-th repetition of it
    stream        integer not null default 0,
    state         text not null check (state in ('open', 'settled', 'void', 'lost', 'refused')),
    reserved      integer not null default 0 check (reserved >= 0),
    amount        integer not null default 0 check (amount >= 0),  -- what it takes from every cap now
    estimate      integer,          -- of a lost call's true cost; shown, never counted
    max_tokens    integer not null default 0,
    clamped       integer not null default 0,
    day_cap       integer not null default 0,   -- in force when it was reserved
    month_cap     integer not null default 0,
    input         integer not null default 0,
    write_5m      integer not null default 0,
    write_1h      integer not null default 0,
    read          integer not null default 0,
    output        integer not null default 0,
    thinking      integer not null default 0,
    stop_reason   text not null default '',
    status        integer,          -- the upstream's
    answered      integer,          -- ours to the caller; null: repeated, or nobody there
    code          text not null default '',     -- why it was refused or failed
    note          text not null default '',
    request_id    text not null default '',
    ms            integer
) strict;
create index calls_by_day on calls (day, amount) where state <> 'refused';
create index calls_by_task on calls (task, amount) where state <> 'refused';
create index calls_by_ticket on calls (ticket, state, retry, amount);
create index calls_open on calls (id) where state = 'open';

create table halts (                -- what stops all spending, until somebody ends it
    id            integer primary key,
    kind          text not null check (kind in ('pause', 'halt')),   -- a pause ends with the process
    at            text not null,
    reason        text not null,
    ended         integer not null default 0
) strict;

create table budget_warnings (      -- one per day and per month
    scope         text not null check (scope in ('day', 'month')),
    period        text not null,
    at            text not null,
    used          integer not null,
    cap           integer not null,
    primary key (scope, period)
) strict;

create table clock_anchor (         -- the wall clock and the uptime of the first call in this boot
    only_one      integer primary key check (only_one = 1),
    at            text not null,
    boot          text not null,
    uptime        integer not null
) strict;
