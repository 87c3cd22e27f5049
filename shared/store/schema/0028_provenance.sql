-- Whose words are in a lesson: one of a task that an issue asked for may hold a stranger's, and nobody knows any more.

alter table lessons add column theirs integer not null default 0;
update lessons set theirs = 1 where exists (
    select 1 from tasks where tasks.goal_id like 'i-%' and lessons.origin like tasks.id || '.a%'
);
