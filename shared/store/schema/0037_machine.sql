-- What boxes took in a run, and what the machine had left when its daemon looked last.

alter table agent_runs add column cpu_s   real    not null default 0;  -- seconds of processors, all boxes together
alter table agent_runs add column memory  integer not null default 0;  -- bytes, of the largest box
alter table agent_runs add column written integer not null default 0;  -- bytes, all boxes together
alter table epochs     add column machine_json text not null default '';
