-- Answers of the model that were understood, so that a crash between answer and record costs no second call.
create table replies (
    key text primary key,  -- SHA-256 of the question, with model, effort, form, task, attempt and day
    text text not null,    -- the answer as the model wrote it
    at text not null       -- UTC, ISO 8601
) strict;
create index replies_by_age on replies (at);
