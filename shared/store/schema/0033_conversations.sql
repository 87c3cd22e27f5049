-- Where what was said in a call lies: in .state/talk/<day>.talk, which may be gone. Bytes without a row go with their file.

create table conversations (
    call   integer primary key references calls,
    day    text not null,    -- of the file
    begin  integer not null,
    size   integer not null
) strict;
create index conversations_by_day on conversations (day);
create index calls_refused on calls (task) where state = 'refused';
