-- What the owner read beside a change when it was asked about, and when it was approved: goal, task and guards, as JSON.
-- Empty: an earlier version asked; what was approved so stays approved.

alter table parked add column terms text not null default '';
alter table rulings add column terms text not null default '';
