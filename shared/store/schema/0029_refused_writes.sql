-- What an engine wanted to write and may not: told to the owner and to the reviewer. A model's words: data.

alter table attempts add column refused text not null default '[]';  -- a JSON list of paths
