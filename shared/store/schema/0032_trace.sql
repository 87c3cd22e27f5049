-- What a trace joins is found by its name: a task by how its id ends (`20261120-01` by `1`), a deploy by what it brought.

create index tasks_by_end on tasks (ltrim(replace(id, rtrim(id, replace(id, '-', '')), ''), '0'));
create index deploys_by_commit on deploys (commit_id);
create index deploys_by_time on deploys (place, begun_at);
