-- Who may what at the board: a link, and the session that comes of it, has a role; a key of a script has a scope and a name.
-- Who was signed in before stays an owner.

create table board_keys_now (
    digest      text primary key,
    kind        text not null check (kind in ('link', 'session', 'key')),
    role        text not null check (role in ('owner', 'reviewer', 'viewer', 'read', 'answer')),  -- of a key: its scope
    name        text not null default '',  -- of a key, as the owner calls it
    made        text not null,
    seen        text not null,  -- last used, to some minutes
    until       text not null,  -- in UTC, as all of them
    check ((kind = 'key') = (role in ('read', 'answer'))),
    check ((kind = 'key') = (name <> ''))
) strict, without rowid;
insert into board_keys_now (digest, kind, role, made, seen, until)
    select digest, kind, 'owner', made, seen, until from board_keys;
drop table board_keys;
alter table board_keys_now rename to board_keys;

create trigger audit_sign_in after insert on board_keys when new.kind <> 'link' begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.made, 'sign-in', 'owner', 'board', '', json_object(new.kind, substr(new.digest, 1, 8), 'role', new.role, 'name', new.name, 'until', new.until));
end;
create trigger audit_sign_out after delete on board_keys when old.kind <> 'link' begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        old.seen, 'sign-in', 'owner', 'board', '', json_object(old.kind, substr(old.digest, 1, 8), 'role', old.role, 'name', old.name, 'ended', 'signed out, closed, or out of date'));
end;
