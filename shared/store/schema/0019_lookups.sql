-- What is asked of a few tasks is found without reading all that ever happened: a home of years looks as fast as a new one.

create index tasks_by_goal on tasks (goal_id, wording);
create index tasks_on_branches on tasks (branch, id) where branch <> '';
create index task_events_ends on task_events (task, id, to_state);
create index task_events_by_event on task_events (event, at);
create index task_events_by_time on task_events (at);
create index agent_runs_by_task on agent_runs (task_id) where task_id <> '';
create index intents_by_task on intents (task, kind);
create index intents_by_outcome on intents (external_id) where state = 'done';
create index rulings_by_task on rulings (task);
create index calls_settled on calls (task, amount) where state = 'settled';
