-- What the daemon waits for just now, in its own words: for `status`, which is another process.

alter table epochs add column waits_json text not null default '[]';
