-- The owner's word over a finding: it settles it for that line, in later commits, too.

create table findings_over (
    task        text not null references tasks,
    signature   text not null,      -- of the finding: the same line under the same rule
    finding     text not null,      -- its rule and place, for reading
    why         text not null default '',
    at          text not null,
    primary key (task, signature)
);
