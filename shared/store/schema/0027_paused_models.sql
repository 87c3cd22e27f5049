-- A stop of one model, whose count could not be true twice; empty: of all spending.

alter table halts add column model text not null default '';
