pragma user_version = 44;
CREATE VIEW call_amounts as select 1 as sign, id, day, agent, task, model, day_cap, month_cap, iif(state = 'settled', amount, 0) as spent, iif(state = 'open', amount, 0) as reserved, iif(state = 'lost', amount, 0) as lost, input + write_5m + write_1h + read as tokens_in, output as tokens_out, iif(state = 'settled', read, 0) as read, iif(state = 'settled', write_5m, 0) as write_5m, iif(state = 'settled', write_1h, 0) as write_1h from calls where state <> 'refused';
CREATE TRIGGER audit_answer after insert on answers begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, 'answer', 'owner', new.goal_id, '', json_object('question', substr(new.question, 1, 300), 'text', substr(new.text, 1, 300))); end;
CREATE TRIGGER audit_answer_again after update on answers begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, 'answer', 'owner', new.goal_id, '', json_object('question', substr(new.question, 1, 300), 'text', substr(new.text, 1, 300))); end;
CREATE TRIGGER audit_attempt after insert on attempts begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.started_at, 'attempt', 'team', new.task, '', json_object('number', new.number, 'round', new.round)); end;
CREATE TRIGGER audit_attempt_end after update of ended_at, outcome on attempts when new.outcome is not old.outcome begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( coalesce(new.ended_at, new.started_at), 'attempt', 'team', new.task, '', json_object('number', new.number, 'outcome', new.outcome, 'note', substr(new.note, 1, 300))); end;
CREATE TRIGGER audit_cap_raise after insert on cap_raises begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, 'cap', 'owner', new.day, '', json_object('amount', new.amount, 'why', substr(new.why, 1, 300))); end;
CREATE TRIGGER audit_cap_raise_again after update on cap_raises begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, 'cap', 'owner', new.day, '', json_object('amount', new.amount, 'before', old.amount, 'why', substr(new.why, 1, 300))); end;
CREATE TRIGGER audit_deploy after insert on deploys begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.begun_at, 'deploy', iif(new.asked, 'owner', 'team'), new.place || ' ' || new.number, new.commit_id, json_object('stage', new.stage, 'back_to', new.back_to)); end;
CREATE TRIGGER audit_deploy_order after insert on deploy_orders begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, 'order', 'owner', new.place, new.commit_id, json_object('order', new.number)); end;
CREATE TRIGGER audit_deploy_pause after insert on deploy_pauses begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, 'pause', '', 'deploys', '', json_object('why', substr(new.why, 1, 300))); end;
CREATE TRIGGER audit_deploy_pause_end after update of ended_at on deploy_pauses when new.ended_at is not old.ended_at begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( coalesce(new.ended_at, new.at), 'pause', 'owner', 'deploys', '', json_object('ended', new.ended_at)); end;
CREATE TRIGGER audit_deploy_stage after update of stage on deploys when new.stage <> old.stage begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( coalesce(new.ended_at, new.started_at, new.begun_at), 'deploy', 'team', new.place || ' ' || new.number, new.commit_id, json_object('stage', new.stage, 'why', substr(new.why, 1, 300))); end;
CREATE TRIGGER audit_effect after update of state on intents when new.state = 'done' and old.state <> 'done' begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, 'effect', 'team', new.task, '', json_object('kind', new.kind, 'key', new.key, 'outcome', new.external_id)); end;
CREATE TRIGGER audit_epoch after insert on epochs begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.began_at, 'epoch', 'team', new.kind, '', json_object('number', new.number, 'pid', new.pid)); end;
CREATE TRIGGER audit_epoch_end after update of ended_at on epochs when new.ended_at is not old.ended_at begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( coalesce(new.ended_at, new.began_at), 'epoch', 'team', new.kind, '', json_object('number', new.number, 'how', substr(new.how, 1, 300))); end;
CREATE TRIGGER audit_file_edit after insert on file_edits begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, 'file', 'owner', new.file, '', json_object('before', substr(new.before, 1, 12), 'after', substr(new.after, 1, 12))); end;
CREATE TRIGGER audit_finding_over after insert on findings_over begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, 'ruling', 'owner', new.task, '', json_object('said', 'over', 'finding', new.finding, 'why', substr(new.why, 1, 300))); end;
CREATE TRIGGER audit_gate after update of answer_json on gate_runs when new.answer_json is not old.answer_json begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, new.kind, 'team', new.task, new.commit_id, json_object('begun', new.begun, 'bytes', length(new.answer_json))); end;
CREATE TRIGGER audit_is_sealed before update on audit when old.hash <> '' begin select raise(abort, 'what was done stays in the audit'); end;
CREATE TRIGGER audit_notice after update of state on notices when new.state = 'delivered' and old.state <> 'delivered' begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( iif(new.tried_at = '', new.at, new.tried_at), 'notice', 'team', new.key, '', json_object('service', new.service, 'digest', new.digest)); end;
CREATE TRIGGER audit_passkey after insert on board_passkeys begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.made, 'sign-in', 'owner', 'board', '', json_object('passkey', new.id, 'role', new.role, 'name', new.name, 'site', new.site)); end;
CREATE TRIGGER audit_passkey_end after delete on board_passkeys begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( old.ended, 'sign-in', 'owner', 'board', '', json_object('passkey', old.id, 'name', old.name, 'ended', 'deleted')); end;
CREATE TRIGGER audit_passkey_refused after update of refused on board_passkeys when new.refused is not old.refused begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.refused, 'sign-in', 'owner', 'board', '', json_object('passkey', new.id, 'name', new.name, 'refused', 'its count went back: there may be a copy of it')); end;
CREATE TRIGGER audit_plan after update of plan_json on daily_plans when new.plan_json is not old.plan_json begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( coalesce((select at from audit order by seq desc limit 1), new.day), 'plan', 'team', new.day, '', json_object('bytes', length(new.plan_json))); end;
CREATE TRIGGER audit_plan_made after insert on daily_plans when new.plan_json is not null begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( coalesce((select at from audit order by seq desc limit 1), new.day), 'plan', 'team', new.day, '', json_object('bytes', length(new.plan_json))); end;
CREATE TRIGGER audit_push after insert on pushes begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.made, 'sign-in', 'owner', 'board', '', json_object('notified', new.id, 'session', substr(new.session, 1, 8))); end;
CREATE TRIGGER audit_push_end after delete on pushes begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( max(old.made, old.told), 'sign-in', 'owner', 'board', '', json_object('notified', old.id, 'session', substr(old.session, 1, 8), 'ended', 'removed, given up, or its session ended')); end;
CREATE TRIGGER audit_ruling after insert on rulings begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, 'ruling', 'owner', new.task, '', json_object('said', new.kind, 'change', new.subject, 'why', substr(new.why, 1, 300))); end;
CREATE TRIGGER audit_sign_in after insert on board_keys when new.kind <> 'link' begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.made, 'sign-in', 'owner', 'board', '', json_object(new.kind, substr(new.digest, 1, 8), 'role', new.role, 'name', new.name, 'account', new.account, 'until', new.until)); end;
CREATE TRIGGER audit_sign_out after delete on board_keys when old.kind <> 'link' begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( old.seen, 'sign-in', 'owner', 'board', '', json_object(old.kind, substr(old.digest, 1, 8), 'role', old.role, 'name', old.name, 'ended', 'signed out, closed, or out of date')); end;
CREATE TRIGGER audit_stays before delete on audit begin select raise(abort, 'what was done stays in the audit'); end;
CREATE TRIGGER audit_task_event after update of done on task_events when new.done = 1 and old.done = 0 begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, 'task', iif(new.event like '% by the owner' or new.event = 'goal removed from VISION.md', 'owner', 'team'), new.task, '', json_object('event', new.event, 'from', new.from_state, 'to', new.to_state, 'note', substr(new.note, 1, 300))); end;
CREATE TRIGGER audit_task_event_done after insert on task_events when new.done = 1 begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, 'task', iif(new.event like '% by the owner' or new.event = 'goal removed from VISION.md', 'owner', 'team'), new.task, '', json_object('event', new.event, 'from', new.from_state, 'to', new.to_state, 'note', substr(new.note, 1, 300))); end;
CREATE TRIGGER audit_vision after insert on visions begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( coalesce((select at from audit order by seq desc limit 1), new.day), 'vision', 'owner', new.day, '', json_object('digest', new.digest)); end;
CREATE TRIGGER audit_waiver after insert on waivers begin insert into audit (at, kind, actor, subject, commit_id, detail) values ( new.at, 'waiver', 'owner', new.task, '', json_object('without', new.without, 'why', substr(new.why, 1, 300))); end;
CREATE TRIGGER call_added after insert on calls begin insert into call_amounts select * from call_amounts where id = new.id; end;
CREATE TRIGGER call_changed after update on calls begin insert into call_amounts select * from call_amounts where id = new.id; end;
CREATE TRIGGER call_changes before update on calls begin insert into call_amounts select -1, id, day, agent, task, model, day_cap, month_cap, spent, reserved, lost, tokens_in, tokens_out, read, write_5m, write_1h from call_amounts where id = old.id; end;
CREATE TRIGGER call_kept before delete on calls begin select raise(abort, 'a call stays in the book'); end;
CREATE TRIGGER call_summed instead of insert on call_amounts begin insert into call_sums values (new.day, new.agent, new.task, new.model, new.sign, new.sign * new.spent, new.sign * new.reserved, new.sign * new.lost, new.sign * new.tokens_in, new.sign * new.tokens_out, new.sign * new.read, new.sign * new.write_5m, new.sign * new.write_1h) on conflict do update set calls = calls + excluded.calls, spent = spent + excluded.spent, reserved = reserved + excluded.reserved, lost = lost + excluded.lost, tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out, read = read + excluded.read, write_5m = write_5m + excluded.write_5m, write_1h = write_1h + excluded.write_1h; insert into day_sums values (new.day, new.sign * new.spent, new.sign * new.reserved, new.sign * new.lost, new.id, new.day_cap, new.month_cap) on conflict do update set spent = spent + excluded.spent, reserved = reserved + excluded.reserved, lost = lost + excluded.lost, last_call = max(last_call, excluded.last_call), day_cap = iif(excluded.last_call >= last_call, excluded.day_cap, day_cap), month_cap = iif(excluded.last_call >= last_call, excluded.month_cap, month_cap); end;
CREATE TRIGGER lesson_words_in after insert on lessons begin insert into lesson_words (rowid, keywords, signature, text) values (new.number, new.keywords, new.signature, new.text); end;
CREATE TRIGGER lesson_words_out after delete on lessons begin insert into lesson_words (lesson_words, rowid, keywords, signature, text) values ('delete', old.number, old.keywords, old.signature, old.text); end;
CREATE TRIGGER push_ends_with_its_session after delete on board_keys begin delete from pushes where session = old.digest; end;
CREATE TABLE agent_runs (
    id integer primary key,
    agent_name text not null,
    day text not null,
    task_id text not null default '',
    attempt integer not null default 0,
    started_at text not null,
    ended_at text,
    result text,
    cpu_s real not null default 0,
    memory integer not null default 0,
    written integer not null default 0
);
CREATE TABLE answers (
    goal_id text not null,
    wording text not null,
    question text not null,
    text text not null,
    at text not null,
    primary key (goal_id, wording, question)
);
CREATE TABLE "attempts" (
    task text not null references tasks,
    number integer not null,
    round integer not null,
    started_at text not null,
    ended_at text,
    outcome text check (outcome in ('ok', 'failed', 'lost', 'void', 'sent back', 'stale')),
    note text not null default '',
    refreshes text not null default '',
    asked text not null default '',
    refused text not null default '[]',
    primary key (task, number)
);
CREATE TABLE audit (
    seq integer primary key autoincrement,
    at text not null,
    kind text not null,
    actor text not null check (actor in ('team', 'owner', '')),
    via text not null default '',
    subject text not null,
    commit_id text not null,
    detail text not null,
    hash text not null default ''
) strict;
CREATE TABLE batches (
    call integer primary key references calls,
    key text not null unique,
    day text not null,
    hour_cache integer not null,
    rates text not null,
    vendor text unique,
    used integer
) strict;
CREATE TABLE "board_keys" (
    digest text primary key,
    kind text not null check (kind in ('link', 'session', 'key')),
    role text not null check (role in ('owner', 'reviewer', 'viewer', 'read', 'answer')),
    name text not null default '',
    made text not null,
    seen text not null,
    until text not null,
    account text not null default '',
    passkey text not null default '',
    check ((kind = 'key') = (role in ('read', 'answer'))),
    check ((kind = 'key') = (name <> ''))
) strict, without rowid;
CREATE TABLE board_orders (
    key text primary key,
    asked text not null,
    status integer not null,
    answer text not null,
    at text not null
) strict, without rowid;
CREATE TABLE board_passkeys (
    credential text primary key,
    id text not null unique,
    site text not null,
    public_key blob not null,
    count integer not null,
    role text not null check (role in ('owner', 'reviewer', 'viewer')),
    person text not null,
    name text not null,
    made text not null,
    used text not null,
    refused text not null default '',
    ended text not null default ''
) strict, without rowid;
CREATE TABLE budget_warnings (
    scope text not null check (scope in ('day', 'month')),
    period text not null,
    at text not null,
    used integer not null,
    cap integer not null,
    primary key (scope, period)
) strict;
CREATE TABLE call_sums (
    day text not null,
    agent text not null,
    task text not null,
    model text not null,
    calls integer not null,
    spent integer not null,
    reserved integer not null,
    lost integer not null,
    tokens_in integer not null,
    tokens_out integer not null,
    read integer not null,
    write_5m integer not null,
    write_1h integer not null,
    primary key (day, agent, task, model)
) strict, without rowid;
CREATE TABLE calls (
    id integer primary key,
    ticket integer not null references tickets,
    at text not null,
    day text not null,
    agent text not null,
    task text not null,
    attempt integer not null,
    model text not null,
    price_version text not null,
    retry integer not null default 0,
    stream integer not null default 0,
    state text not null check (state in ('open', 'settled', 'void', 'lost', 'refused')),
    reserved integer not null default 0 check (reserved >= 0),
    amount integer not null default 0 check (amount >= 0),
    estimate integer,
    max_tokens integer not null default 0,
    clamped integer not null default 0,
    day_cap integer not null default 0,
    month_cap integer not null default 0,
    input integer not null default 0,
    write_5m integer not null default 0,
    write_1h integer not null default 0,
    read integer not null default 0,
    output integer not null default 0,
    thinking integer not null default 0,
    stop_reason text not null default '',
    status integer,
    answered integer,
    code text not null default '',
    note text not null default '',
    request_id text not null default '',
    ms integer
) strict;
CREATE TABLE cap_raises (
    day text primary key,
    amount integer not null,
    at text not null,
    why text not null
) strict;
CREATE TABLE clock_anchor (
    only_one integer primary key check (only_one = 1),
    at text not null,
    boot text not null,
    uptime integer not null
) strict;
CREATE TABLE coder_words (
    task text not null references tasks,
    commit_id text not null,
    words text not null,
    at text not null,
    primary key (task, commit_id)
);
CREATE TABLE conversations (
    call integer primary key references calls,
    day text not null,
    begin integer not null,
    size integer not null
) strict;
CREATE TABLE daily_plans (
    day text primary key,
    attempts integer not null default 0,
    plan_json text,
    readings integer not null default 0
);
CREATE TABLE day_sums (
    day text primary key,
    spent integer not null,
    reserved integer not null,
    lost integer not null,
    last_call integer not null,
    day_cap integer not null,
    month_cap integer not null
) strict, without rowid;
CREATE TABLE deploy_name (
    only_one integer primary key check (only_one = 1),
    name text not null
) strict;
CREATE TABLE deploy_orders (
    number integer primary key,
    place text not null,
    commit_id text not null,
    at text not null,
    deploy integer
) strict;
CREATE TABLE deploy_pauses (
    number integer primary key,
    at text not null,
    why text not null,
    ended_at text,
    forgiven integer not null default 0
) strict;
CREATE TABLE deploys (
    number integer primary key,
    place text not null check (place in ('staging', 'production')),
    commit_id text not null,
    back_to text not null,
    asked integer not null,
    stage text not null,
    why text not null default '',
    begun_at text not null,
    started_at text,
    ended_at text,
    backup text not null default '',
    reverts integer not null default 0,
    settled integer not null default 0
) strict;
CREATE TABLE epochs (
    number integer primary key,
    kind text not null,
    pid integer not null,
    began_at text not null,
    ready_at text,
    seen_at text,
    ended_at text,
    how text not null default '',
    waits_json text not null default '[]',
    machine_json text not null default ''
) strict;
CREATE TABLE file_edits (
    number integer primary key,
    at text not null,
    file text not null,
    before text not null,
    after text not null
) strict;
CREATE TABLE findings_over (
    task text not null references tasks,
    signature text not null,
    finding text not null,
    why text not null default '',
    at text not null,
    primary key (task, signature)
);
CREATE TABLE gate_runs (
    task text not null references tasks,
    commit_id text not null,
    kind text not null check (kind in ('check', 'review')),
    begun integer not null,
    at text not null,
    answer_json text,
    primary key (task, commit_id, kind)
);
CREATE TABLE goal_looks (
    id integer primary key autoincrement,
    goal_id text not null,
    wording text not null,
    commit_id text not null,
    merged integer not null,
    at_end integer not null,
    begun integer not null default 1,
    figure real,
    verdict text not null default '',
    text text not null default '',
    at text not null,
    unique (goal_id, wording, commit_id, merged, at_end)
) strict;
CREATE TABLE goal_measures (
    goal_id text not null,
    wording text not null,
    measure_json text not null,
    primary key (goal_id, wording)
) strict;
CREATE TABLE goal_words (
    id integer primary key autoincrement,
    goal_id text not null,
    kind text not null,
    text text not null,
    task text not null,
    at text not null,
    is_over integer not null default 0,
    unique (goal_id, kind, text, task)
) strict;
CREATE TABLE halts (
    id integer primary key,
    kind text not null check (kind in ('pause', 'halt')),
    at text not null,
    reason text not null,
    ended integer not null default 0,
    model text not null default ''
) strict;
CREATE TABLE inquiries (
    id text primary key,
    text text not null,
    goal_id text not null,
    asked_on text not null,
    tries integer not null default 0,
    tried_on text not null default '',
    problem text not null default '',
    answered_on text not null default '',
    slug text not null default '',
    findings_json text not null default ''
) strict;
CREATE TABLE "intents" (
    key text primary key,
    kind text not null,
    task text not null default '',
    payload text not null,
    state text not null check (state in ('planned', 'done', 'void')),
    external_id text not null default '',
    at text not null
);
CREATE TABLE lesson_uses (
    lesson integer not null references lessons on delete cascade,
    task text not null,
    attempt integer not null,
    passed integer,
    primary key (lesson, task, attempt)
) strict;
CREATE VIRTUAL TABLE lesson_words using fts5(keywords, signature, text, content = 'lessons', content_rowid = 'number', tokenize = 'porter unicode61 remove_diacritics 2');
CREATE TABLE lessons (
    number integer primary key autoincrement,
    agent text not null,
    signature text not null,
    text text not null,
    keywords text not null,
    files text not null,
    origin text not null,
    learned text not null,
    expires text not null,
    theirs integer not null default 0,
    unique (agent, signature, text)
) strict;
CREATE TABLE lessons_forgotten (
    digest text primary key
) strict;
CREATE TABLE metric_days (
    day text primary key,
    counts_json text not null,
    day_cap integer,
    month_cap integer
) strict, without rowid;
CREATE TABLE notices (
    key text not null,
    service text not null,
    digest text not null,
    notice_json text not null,
    at text not null,
    state text not null check (state in ('planned', 'sending', 'delivered', 'perhaps', 'refused')),
    message_id text not null default '',
    posts integer not null default 0,
    blind integer not null default 0,
    tried_at text not null default '',
    why text not null default '',
    told_in text not null default '',
    primary key (key, service)
) strict;
CREATE TABLE outlets (
    key text primary key,
    taken integer not null default 0,
    since text not null default '',
    why text not null default ''
) strict, without rowid;
CREATE TABLE owner_ids (
    login text primary key,
    number integer not null,
    at text not null
) strict;
CREATE TABLE parked (
    task text not null references tasks,
    subject text not null,
    reasons text not null,
    at text not null,
    terms text not null default '',
    primary key (task, subject)
);
CREATE TABLE phases (
    day text not null,
    name text not null,
    started_at text not null,
    ended_at text,
    problem text not null default '',
    missed integer not null default 0,
    primary key (day, name)
);
CREATE TABLE pushes (
    id text primary key,
    session text not null,
    endpoint text not null unique,
    p256dh text not null,
    auth text not null,
    language text not null,
    made text not null,
    told text not null default '',
    why text not null default ''
) strict, without rowid;
CREATE TABLE questions (
    goal_id text not null,
    wording text not null,
    day text not null,
    text text not null,
    evidence text not null,
    primary key (goal_id, wording, text)
);
CREATE TABLE queue_places (
    task text primary key,
    commit_id text not null,
    trees text not null default '',
    together text not null default ''
);
CREATE TABLE replies (
    key text primary key,
    text text not null,
    at text not null,
    ahead integer not null default 0
) strict;
CREATE TABLE roadmap_finished (
    goal text primary key,
    title text not null,
    priority text not null,
    day text not null,
    tasks integer not null,
    cost integer not null
) strict;
CREATE TABLE roadmap_pins (
    goal text primary key,
    place text not null,
    rank integer not null,
    wording text not null
) strict;
CREATE TABLE roadmap_texts (
    number integer primary key autoincrement,
    text text not null,
    replaces text not null,
    stands integer not null default 0
) strict;
CREATE TABLE rulings (
    id integer primary key,
    task text not null references tasks,
    subject text not null,
    kind text not null check (kind in ('approve', 'reject', 'correct')),
    why text not null default '',
    at text not null,
    terms text not null default ''
);
CREATE TABLE searches (
    inquiry text not null references inquiries,
    query text not null,
    day text not null,
    hits_json text not null,
    primary key (inquiry, query)
) strict;
CREATE TABLE sources (
    inquiry text not null references inquiries,
    url text not null,
    day text not null,
    title text not null,
    text text not null,
    written text not null,
    refused text not null default '',
    primary key (inquiry, url)
) strict;
CREATE TABLE suite_runs (
    key text primary key,
    run_json text not null,
    at text not null
);
CREATE TABLE target (
    only_one integer primary key check (only_one = 1),
    repo text not null,
    at text not null
) strict;
CREATE TABLE task_events (
    id integer primary key,
    task text not null references tasks,
    at text not null,
    event text not null,
    from_state text not null,
    to_state text not null,
    note text not null default '',
    done integer not null default 0
);
CREATE TABLE tasks (
    id text primary key,
    title text not null,
    goal_id text not null,
    wording text not null,
    priority text not null,
    created_at text not null,
    branch text not null default '',
    head text not null default ''
);
CREATE TABLE tickets (
    id integer primary key,
    token_sha256 text not null unique,
    run integer not null,
    agent text not null,
    run_day text not null,
    task text not null,
    attempt integer not null,
    budget integer not null check (budget >= 0),
    models text not null,
    max_calls integer not null,
    min_out integer not null,
    retry_s real not null,
    opened_at text not null,
    expires_at text not null,
    closed_at text,
    beside text not null default '',
    batches integer not null default 0
) strict;
CREATE TABLE upkeep_looks (
    day text primary key,
    notes text not null
) strict;
CREATE TABLE upkeep_proposals (
    task text primary key,
    day text not null references upkeep_looks (day),
    kind text not null,
    subject text not null,
    goal text not null,
    goal_json text not null,
    task_json text not null
) strict;
CREATE TABLE visions (
    id integer primary key,
    day text not null,
    digest text not null,
    vision_json text not null,
    guards_json text not null
);
CREATE TABLE waivers (
    task text not null,
    without text not null,
    why text not null default '',
    at text not null,
    primary key (task, without)
);
CREATE TABLE write_offs (
    id integer primary key,
    call integer not null references calls,
    at text not null,
    booked integer not null,
    amount integer not null check (amount between 0 and booked),
    why text not null check (why <> '')
) strict;
CREATE INDEX agent_runs_by_day on agent_runs (day);
CREATE INDEX agent_runs_by_task on agent_runs (task_id) where task_id <> '';
CREATE INDEX attempts_by_start on attempts (started_at);
CREATE INDEX attempts_sent_back on attempts (ended_at) where outcome = 'sent back';
CREATE INDEX audit_by_time on audit (at);
CREATE INDEX audit_unsealed on audit (seq) where hash = '';
CREATE INDEX batches_by_day on batches (day);
CREATE INDEX board_keys_by_passkey on board_keys (passkey) where passkey <> '';
CREATE INDEX board_orders_by_time on board_orders (at);
CREATE INDEX calls_by_day on calls (day, amount) where state <> 'refused';
CREATE INDEX calls_by_task on calls (task, amount) where state <> 'refused';
CREATE INDEX calls_by_ticket on calls (ticket, state, retry, amount);
CREATE INDEX calls_cached on calls (day) where read + write_5m + write_1h > 0;
CREATE INDEX calls_capped on calls (day, day_cap) where state = 'refused' and code = 'meter_day_cap';
CREATE INDEX calls_lost on calls (id) where state = 'lost';
CREATE INDEX calls_open on calls (id) where state = 'open';
CREATE INDEX calls_refused on calls (task) where state = 'refused';
CREATE INDEX calls_settled on calls (task, amount) where state = 'settled';
CREATE INDEX conversations_by_day on conversations (day);
CREATE INDEX deploys_by_commit on deploys (commit_id);
CREATE INDEX deploys_by_time on deploys (place, begun_at);
CREATE INDEX gate_runs_by_time on gate_runs (at);
CREATE INDEX intents_by_outcome on intents (external_id) where state = 'done';
CREATE INDEX intents_by_task on intents (task, kind);
CREATE INDEX lesson_uses_by_try on lesson_uses (task, attempt);
CREATE UNIQUE INDEX one_pause on deploy_pauses ((1)) where ended_at is null;
CREATE INDEX pushes_by_session on pushes (session);
CREATE INDEX replies_by_age on replies (at);
CREATE INDEX rulings_by_task on rulings (task);
CREATE INDEX task_events_by_event on task_events (event, at);
CREATE INDEX task_events_by_state on task_events (to_state);
CREATE INDEX task_events_by_task on task_events (task, id);
CREATE INDEX task_events_by_time on task_events (at);
CREATE INDEX task_events_ends on task_events (task, id, to_state);
CREATE INDEX task_events_open on task_events (done) where done = 0;
CREATE INDEX tasks_by_end on tasks (ltrim(replace(id, rtrim(id, replace(id, '-', '')), ''), '0'));
CREATE INDEX tasks_by_goal on tasks (goal_id, wording);
CREATE INDEX tasks_on_branches on tasks (branch, id) where branch <> '';
CREATE INDEX tickets_by_task on tickets (task, id);
CREATE INDEX tickets_measured on tickets (beside, id) where beside <> '';
CREATE INDEX upkeep_proposals_by_day on upkeep_proposals (day);
CREATE INDEX write_offs_by_call on write_offs (call);
