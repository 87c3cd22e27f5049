pragma user_version = 0;
CREATE VIEW issue as select *, (select group_concat(name, char(10)) from label where label.number = item.number) as labels from item where kind = 'issue';
CREATE VIEW pull as select *, (select group_concat(name, char(10)) from label where label.number = item.number) as labels from item where kind = 'pull';
CREATE TABLE comment (
    number integer not null references item,
    key text not null,
    author text not null,
    body text not null,
    at text not null default '1970-01-01T00:00:00+00:00',
    primary key (number, key, author)
);
CREATE TABLE item (
    number integer primary key autoincrement,
    kind text not null check (kind in ('pull', 'issue')),
    state text not null default 'open' check (state in ('open', 'closed', 'merged')),
    title text not null,
    body text not null,
    author text not null,
    head text not null default '',
    base text not null default '',
    head_sha text not null default '',
    draft integer not null default 0,
    merge_sha text
);
CREATE TABLE label (
    number integer not null references item,
    name text not null,
    primary key (number, name)
);
CREATE TABLE merge_plan (
    merge_sha text primary key,
    number integer not null references item,
    head_sha text not null,
    base_sha text not null
);
CREATE TABLE review (
    id integer primary key,
    number integer not null references item,
    author text not null,
    verdict text not null,
    sha text not null,
    body text not null,
    formal integer not null,
    at text not null default '1970-01-01T00:00:00+00:00',
    unique (number, author, verdict, sha)
);
CREATE TABLE status (
    sha text not null,
    context text not null,
    state text not null,
    note text not null,
    primary key (sha, context)
);
CREATE INDEX merge_plan_by_number on merge_plan (number);
CREATE UNIQUE INDEX one_open_pull on item (head, base) where kind = 'pull' and state = 'open';
