-- Who did what: append-only, in the transaction of the fact. Whoever commits seals the rows (shared/store/chain.py): the hash
-- and the place that an order came from are written then, so that a plain SQLite connection can write facts, too.

create table audit (
    seq         integer primary key autoincrement,  -- the order; times may run backwards
    at          text not null,
    kind        text not null,
    actor       text not null check (actor in ('team', 'owner', '')),  -- empty: whose process it is; sealed so
    via         text not null default '',           -- terminal, file, pull request or daemon
    subject     text not null,                      -- a task, goal, day, place, ...
    commit_id   text not null,
    detail      text not null,                      -- JSON
    hash        text not null default ''            -- of the row before and this one; empty: not sealed yet
) strict;
create index audit_by_time on audit (at);
create index audit_unsealed on audit (seq) where hash = '';

create trigger audit_stays before delete on audit begin
    select raise(abort, 'what was done stays in the audit');
end;
create trigger audit_is_sealed before update on audit when old.hash <> '' begin
    select raise(abort, 'what was done stays in the audit');
end;

create trigger audit_task_event after update of done on task_events when new.done = 1 and old.done = 0 begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, 'task', iif(new.event like '% by the owner' or new.event = 'goal removed from VISION.md', 'owner', 'team'),
        new.task, '', json_object('event', new.event, 'from', new.from_state, 'to', new.to_state, 'note', substr(new.note, 1, 300)));
end;
create trigger audit_task_event_done after insert on task_events when new.done = 1 begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, 'task', iif(new.event like '% by the owner' or new.event = 'goal removed from VISION.md', 'owner', 'team'),
        new.task, '', json_object('event', new.event, 'from', new.from_state, 'to', new.to_state, 'note', substr(new.note, 1, 300)));
end;
create trigger audit_attempt after insert on attempts begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.started_at, 'attempt', 'team',
        new.task, '', json_object('number', new.number, 'round', new.round));
end;
create trigger audit_attempt_end after update of ended_at, outcome on attempts when new.outcome is not old.outcome begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        coalesce(new.ended_at, new.started_at), 'attempt', 'team',
        new.task, '', json_object('number', new.number, 'outcome', new.outcome, 'note', substr(new.note, 1, 300)));
end;
create trigger audit_gate after update of answer_json on gate_runs when new.answer_json is not old.answer_json begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, new.kind, 'team',
        new.task, new.commit_id, json_object('begun', new.begun, 'bytes', length(new.answer_json)));
end;
create trigger audit_ruling after insert on rulings begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, 'ruling', 'owner',
        new.task, '', json_object('said', new.kind, 'change', new.subject, 'why', substr(new.why, 1, 300)));
end;
create trigger audit_finding_over after insert on findings_over begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, 'ruling', 'owner',
        new.task, '', json_object('said', 'over', 'finding', new.finding, 'why', substr(new.why, 1, 300)));
end;
create trigger audit_waiver after insert on waivers begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, 'waiver', 'owner',
        new.task, '', json_object('without', new.without, 'why', substr(new.why, 1, 300)));
end;
create trigger audit_answer after insert on answers begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, 'answer', 'owner',
        new.goal_id, '', json_object('question', substr(new.question, 1, 300), 'text', substr(new.text, 1, 300)));
end;
create trigger audit_answer_again after update on answers begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, 'answer', 'owner',
        new.goal_id, '', json_object('question', substr(new.question, 1, 300), 'text', substr(new.text, 1, 300)));
end;
create trigger audit_cap_raise after insert on cap_raises begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, 'cap', 'owner',
        new.day, '', json_object('amount', new.amount, 'why', substr(new.why, 1, 300)));
end;
create trigger audit_cap_raise_again after update on cap_raises begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, 'cap', 'owner',
        new.day, '', json_object('amount', new.amount, 'before', old.amount, 'why', substr(new.why, 1, 300)));
end;
create trigger audit_effect after update of state on intents when new.state = 'done' and old.state <> 'done' begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, 'effect', 'team',
        new.task, '', json_object('kind', new.kind, 'key', new.key, 'outcome', new.external_id));
end;
create trigger audit_deploy after insert on deploys begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.begun_at, 'deploy', iif(new.asked, 'owner', 'team'),
        new.place || ' ' || new.number, new.commit_id, json_object('stage', new.stage, 'back_to', new.back_to));
end;
create trigger audit_deploy_stage after update of stage on deploys when new.stage <> old.stage begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        coalesce(new.ended_at, new.started_at, new.begun_at), 'deploy', 'team',
        new.place || ' ' || new.number, new.commit_id, json_object('stage', new.stage, 'why', substr(new.why, 1, 300)));
end;
create trigger audit_deploy_order after insert on deploy_orders begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, 'order', 'owner',
        new.place, new.commit_id, json_object('order', new.number));
end;
create trigger audit_deploy_pause after insert on deploy_pauses begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.at, 'pause', '',
        'deploys', '', json_object('why', substr(new.why, 1, 300)));
end;
create trigger audit_deploy_pause_end after update of ended_at on deploy_pauses when new.ended_at is not old.ended_at begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        coalesce(new.ended_at, new.at), 'pause', 'owner',
        'deploys', '', json_object('ended', new.ended_at));
end;
create trigger audit_notice after update of state on notices when new.state = 'delivered' and old.state <> 'delivered' begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        iif(new.tried_at = '', new.at, new.tried_at), 'notice', 'team',
        new.key, '', json_object('service', new.service, 'digest', new.digest));
end;
create trigger audit_plan after update of plan_json on daily_plans when new.plan_json is not old.plan_json begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        coalesce((select at from audit order by seq desc limit 1), new.day), 'plan', 'team',
        new.day, '', json_object('bytes', length(new.plan_json)));
end;
create trigger audit_plan_made after insert on daily_plans when new.plan_json is not null begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        coalesce((select at from audit order by seq desc limit 1), new.day), 'plan', 'team',
        new.day, '', json_object('bytes', length(new.plan_json)));
end;
create trigger audit_vision after insert on visions begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        coalesce((select at from audit order by seq desc limit 1), new.day), 'vision', 'owner',
        new.day, '', json_object('digest', new.digest));
end;
create trigger audit_epoch after insert on epochs begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.began_at, 'epoch', 'team',
        new.kind, '', json_object('number', new.number, 'pid', new.pid));
end;
create trigger audit_epoch_end after update of ended_at on epochs when new.ended_at is not old.ended_at begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        coalesce(new.ended_at, new.began_at), 'epoch', 'team',
        new.kind, '', json_object('number', new.number, 'how', substr(new.how, 1, 300)));
end;
