-- The roadmap: what the owner has put where, what we have written last, and which goals are done.

create table roadmap_pins (
    goal          text primary key,
    place         text not null,               -- a Monday (YYYY-MM-DD), later or done
    rank          integer not null,            -- how many goals stand there before it
    wording       text not null                -- of the goal when the owner said so
) strict;

create table roadmap_texts (                   -- the newest two
    number        integer primary key autoincrement,
    text          text not null,               -- of ROADMAP.md
    replaces      text not null,               -- what stood there before; empty: nothing
    stands        integer not null default 0   -- 1: it was seen to stand in the file
) strict;

create table roadmap_finished (                -- stays when the goal has left VISION.md
    goal          text primary key,
    title         text not null,
    priority      text not null,
    day           text not null,               -- YYYY-MM-DD
    tasks         integer not null,            -- that were merged for it
    cost          integer not null             -- nano-dollars
) strict;
