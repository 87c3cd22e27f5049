-- An effect that a kill kept from being done, and that nobody does any more: its attempt was overtaken. It is void.

create table intents_now (          -- outward effects: written before, done, written after
    key         text primary key,
    kind        text not null,
    task        text not null default '',
    payload     text not null,      -- digest; another payload under the same key is a bug
    state       text not null check (state in ('planned', 'done', 'void')),
    external_id text not null default '',
    at          text not null
);

insert into intents_now select key, kind, task, payload, state, external_id, at from intents;

drop table intents;

alter table intents_now rename to intents;
