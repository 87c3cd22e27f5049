-- A phase that nobody was there for at its time: it was not run, and is not run any more.

alter table phases add column missed integer not null default 0;
