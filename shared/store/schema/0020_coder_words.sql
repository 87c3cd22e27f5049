-- What the coder answers instead of a change is kept: it cannot be done as described, or a finding is wrong.

create table coder_words (          -- the newest words count
    task        text not null references tasks,
    commit_id   text not null,      -- the commit whose findings it contradicts; empty: the task itself cannot be done
    words       text not null,      -- a model's: data
    at          text not null,
    primary key (task, commit_id)
);
