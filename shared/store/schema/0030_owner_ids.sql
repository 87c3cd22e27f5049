-- Who an owner's login was when it was first seen: an account that gets the login later has another number.

create table owner_ids (
    login       text primary key,   -- in small letters
    number      integer not null,   -- of the account, at the forge
    at          text not null
) strict;
