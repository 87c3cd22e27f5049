-- What the owner wrote into his own files by the board: which file, and the digests of what was there and of what is.

create table file_edits (
    number      integer primary key,
    at          text not null,
    file        text not null,     -- as in the home: VISION.md, backlog/<id>.md
    before      text not null,     -- empty: it is new
    after       text not null
) strict;

create trigger audit_file_edit after insert on file_edits begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, 'file', 'owner', new.file, '', json_object('before', substr(new.before, 1, 12), 'after', substr(new.after, 1, 12)));
end;
