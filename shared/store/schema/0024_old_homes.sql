-- What is shown costs the same after years. First sums of the calls: triggers keep them in the transaction of the row.

create table call_sums (            -- what an agent has booked on a day for a task (empty: for none) at a model
    day         text not null,
    agent       text not null,
    task        text not null,
    model       text not null,
    calls       integer not null,   -- without refused ones, as all sums
    spent       integer not null,   -- nano-dollars: settled, reserved, lost
    reserved    integer not null,
    lost        integer not null,
    tokens_in   integer not null,
    tokens_out  integer not null,
    read        integer not null,   -- tokens of settled calls: from the vendor's cache, and into it
    write_5m    integer not null,
    write_1h    integer not null,
    primary key (day, agent, task, model)
) strict, without rowid;

create table day_sums (             -- the same of all together; the caps that its last call was reserved against
    day         text primary key,
    spent       integer not null,
    reserved    integer not null,
    lost        integer not null,
    last_call   integer not null,
    day_cap     integer not null,
    month_cap   integer not null
) strict, without rowid;

create view call_amounts as         -- what a call adds; `sign` is -1 to take it away again
    select 1 as sign, id, day, agent, task, model, day_cap, month_cap,
        iif(state = 'settled', amount, 0) as spent,
        iif(state = 'open', amount, 0) as reserved,
        iif(state = 'lost', amount, 0) as lost,
        input + write_5m + write_1h + read as tokens_in,
        output as tokens_out,
        iif(state = 'settled', read, 0) as read,
        iif(state = 'settled', write_5m, 0) as write_5m,
        iif(state = 'settled', write_1h, 0) as write_1h
    from calls where state <> 'refused';

create trigger call_summed instead of insert on call_amounts begin
    insert into call_sums values (new.day, new.agent, new.task, new.model, new.sign, new.sign * new.spent,
            new.sign * new.reserved, new.sign * new.lost, new.sign * new.tokens_in, new.sign * new.tokens_out,
            new.sign * new.read, new.sign * new.write_5m, new.sign * new.write_1h)
        on conflict do update set calls = calls + excluded.calls, spent = spent + excluded.spent,
            reserved = reserved + excluded.reserved, lost = lost + excluded.lost,
            tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out,
            read = read + excluded.read, write_5m = write_5m + excluded.write_5m,
            write_1h = write_1h + excluded.write_1h;
    insert into day_sums values (new.day, new.sign * new.spent, new.sign * new.reserved, new.sign * new.lost,
            new.id, new.day_cap, new.month_cap)
        on conflict do update set spent = spent + excluded.spent, reserved = reserved + excluded.reserved,
            lost = lost + excluded.lost, last_call = max(last_call, excluded.last_call),
            day_cap = iif(excluded.last_call >= last_call, excluded.day_cap, day_cap),
            month_cap = iif(excluded.last_call >= last_call, excluded.month_cap, month_cap);
end;

create trigger call_added after insert on calls begin
    insert into call_amounts select * from call_amounts where id = new.id;
end;
create trigger call_changes before update on calls begin
    insert into call_amounts select -1, id, day, agent, task, model, day_cap, month_cap, spent, reserved, lost, tokens_in,
        tokens_out, read, write_5m, write_1h from call_amounts where id = old.id;
end;
create trigger call_changed after update on calls begin
    insert into call_amounts select * from call_amounts where id = new.id;
end;
create trigger call_kept before delete on calls begin
    select raise(abort, 'a call stays in the book');
end;

insert into call_sums
    select day, agent, task, model, count(*), sum(spent), sum(reserved), sum(lost), sum(tokens_in), sum(tokens_out),
        sum(read), sum(write_5m), sum(write_1h) from call_amounts group by day, agent, task, model;
insert into day_sums
    select day, sum(spent), sum(reserved), sum(lost), max(id), day_cap, month_cap from call_amounts group by day;

-- What ended last, without reading all that ever happened.

create index task_events_by_state on task_events (to_state);
