-- Passkeys of the board: what a browser's authenticator signs with stays there; kept is what its signature is checked by.

create table board_passkeys (
    credential  text primary key,       -- as the authenticator names it, in base64url
    id          text not null unique,   -- digits of its digest: the owner and the audit call it so
    site        text not null,          -- the host name that it is for: that of `url`, or localhost
    public_key  blob not null,          -- COSE; nothing in this table signs anybody in
    count       integer not null,       -- how often it has signed, as it says; 0 for ever: it does not count
    role        text not null check (role in ('owner', 'reviewer', 'viewer')),
    person      text not null,          -- the account that it goes back to, e.g. github:12345, or the session by a link
    name        text not null,          -- as that person calls it
    made        text not null,
    used        text not null,          -- in UTC, as all of them
    refused     text not null default '',  -- when its count went back last
    ended       text not null default ''   -- set before it is deleted: the audit says when
) strict, without rowid;
alter table board_keys add column passkey text not null default '';  -- of a session: which one it came by
create index board_keys_by_passkey on board_keys (passkey) where passkey <> '';

create trigger audit_passkey after insert on board_passkeys begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.made, 'sign-in', 'owner', 'board', '', json_object('passkey', new.id, 'role', new.role, 'name', new.name, 'site', new.site));
end;
create trigger audit_passkey_refused after update of refused on board_passkeys when new.refused is not old.refused begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.refused, 'sign-in', 'owner', 'board', '', json_object('passkey', new.id, 'name', new.name, 'refused', 'its count went back: there may be a copy of it'));
end;
create trigger audit_passkey_end after delete on board_passkeys begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        old.ended, 'sign-in', 'owner', 'board', '', json_object('passkey', old.id, 'name', old.name, 'ended', 'deleted'));
end;
