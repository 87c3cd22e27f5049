-- What a local forge knows beside its git references. Every statement may be repeated.

create table if not exists item (           -- pull requests and issues share one row of numbers
    number    integer primary key autoincrement,
    kind      text not null check (kind in ('pull', 'issue')),
    state     text not null default 'open' check (state in ('open', 'closed', 'merged')),
    title     text not null,
    body      text not null,
    author    text not null,
    head      text not null default '',     -- branch
    base      text not null default '',     -- branch
    head_sha  text not null default '',     -- last known; refs/pull/<number>/head keeps it alive
    draft     integer not null default 0,
    merge_sha text
);
create unique index if not exists one_open_pull on item (head, base) where kind = 'pull' and state = 'open';

create table if not exists label (
    number    integer not null references item,
    name      text not null,
    primary key (number, name)
);

create table if not exists comment (
    number    integer not null references item,
    key       text not null,
    author    text not null,
    body      text not null,
    at        text not null default '1970-01-01T00:00:00+00:00',   -- when it was made
    primary key (number, key, author)
);

create table if not exists review (
    id        integer primary key,
    number    integer not null references item,
    author    text not null,
    verdict   text not null,
    sha       text not null,
    body      text not null,
    formal    integer not null,
    at        text not null default '1970-01-01T00:00:00+00:00',
    unique (number, author, verdict, sha)
);

create table if not exists status (
    sha       text not null,
    context   text not null,
    state     text not null,
    note      text not null,
    primary key (sha, context)
);

create table if not exists merge_plan (     -- never forgotten: whichever of them is part of the base did happen
    merge_sha text primary key,
    number    integer not null references item,
    head_sha  text not null,
    base_sha  text not null                 -- the base just before
);
create index if not exists merge_plan_by_number on merge_plan (number);

create view if not exists pull as
    select *, (select group_concat(name, char(10)) from label where label.number = item.number) as labels
    from item where kind = 'pull';
create view if not exists issue as
    select *, (select group_concat(name, char(10)) from label where label.number = item.number) as labels
    from item where kind = 'issue';
