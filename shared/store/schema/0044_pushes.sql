-- Browsers that are notified. Each belongs to the session that asked for it, and ends when that is closed, signs out, or is 30 days old.

create table pushes (
    id          text primary key,
    session     text not null,      -- digest in board_keys
    endpoint    text not null unique,
    p256dh      text not null,      -- the browser's public key
    auth        text not null,      -- and what it shares with us alone
    language    text not null,
    made        text not null,
    told        text not null default '',  -- when its service last took something
    why         text not null default ''   -- why it did not take the last one
) strict, without rowid;
create index pushes_by_session on pushes (session);

create trigger push_ends_with_its_session after delete on board_keys begin
    delete from pushes where session = old.digest;
end;
create trigger audit_push after insert on pushes begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.made, 'sign-in', 'owner', 'board', '', json_object('notified', new.id, 'session', substr(new.session, 1, 8)));
end;
create trigger audit_push_end after delete on pushes begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        max(old.made, old.told), 'sign-in', 'owner', 'board', '', json_object('notified', old.id, 'session', substr(old.session, 1, 8), 'ended', 'removed, given up, or its session ended'));
end;
