-- Memory: what agents have learned, and which tries had it in their prompt. The index of words is made by lesson_book.

create table lessons (
    number        integer primary key autoincrement,  -- the owner types it: never another lesson's
    agent         text not null,
    signature     text not null,               -- of the failure that taught it; empty: none
    text          text not null,
    keywords      text not null,               -- one a line
    files         text not null,               -- one a line
    origin        text not null,               -- <task>.a<attempt>
    learned       text not null,               -- YYYY-MM-DD
    expires       text not null,               -- YYYY-MM-DD
    unique (agent, signature, text)
) strict;

create table lesson_uses (                     -- a lesson stood in the prompt of this try
    lesson        integer not null references lessons on delete cascade,
    task          text not null,
    attempt       integer not null,
    passed        integer,                     -- null: the try has not ended
    primary key (lesson, task, attempt)
) strict;
create index lesson_uses_by_try on lesson_uses (task, attempt);

create table lessons_forgotten (               -- the owner deleted it: it is not learned again
    digest        text primary key
) strict;
