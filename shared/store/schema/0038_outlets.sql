-- How far each outlet for others has come in the audit, and since when it takes nothing.

create table outlets (
    key         text primary key,             -- its name, and a digest of its address
    taken       integer not null default 0,   -- the number of the last row that it has
    since       text not null default '',     -- empty: it takes what comes
    why         text not null default ''
) strict, without rowid;
