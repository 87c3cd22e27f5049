-- Who is signed in at the board, and what it was told to do of late. A link and a session are known by their digests only.

create table board_keys (
    digest      text primary key,
    kind        text not null check (kind in ('link', 'session')),
    made        text not null,
    seen        text not null,  -- last used, to some minutes
    until       text not null   -- in UTC, as all of them
) strict, without rowid;
create table board_orders (
    key         text primary key,  -- the browser's own, for one press of a button
    asked       text not null,     -- digest of what was asked
    status      integer not null,
    answer      text not null,     -- JSON
    at          text not null
) strict, without rowid;
create index board_orders_by_time on board_orders (at);

create trigger audit_sign_in after insert on board_keys when new.kind = 'session' begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.made, 'sign-in', 'owner', 'board', '', json_object('session', substr(new.digest, 1, 8), 'until', new.until));
end;
create trigger audit_sign_out after delete on board_keys when old.kind = 'session' begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        old.seen, 'sign-in', 'owner', 'board', '', json_object('session', substr(old.digest, 1, 8), 'ended', 'signed out, or out of date'));
end;
