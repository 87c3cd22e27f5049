-- How a day went, in counts: written in the evening, so that nothing that is forgotten later is missing in a figure.

create table metric_days (
    day         text primary key,   -- YYYY-MM-DD
    counts_json text not null,      -- a count, or count/label -> how many
    day_cap     integer,            -- nano-dollars, as the day's report says them; null: it had no evening
    month_cap   integer
) strict, without rowid;
create index agent_runs_by_day on agent_runs (day);
create index attempts_by_start on attempts (started_at);
create index attempts_sent_back on attempts (ended_at) where outcome = 'sent back';
create index gate_runs_by_time on gate_runs (at);
