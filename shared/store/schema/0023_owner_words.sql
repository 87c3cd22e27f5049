-- The owner's word that frees what waits: a task begins without another that it names; a question of a goal is answered.

create table waivers (
    task        text not null,
    without     text not null,      -- the task that it does not wait for any more
    why         text not null default '',
    at          text not null,
    primary key (task, without)
);

create table answers (              -- of a goal's questions, in one wording of the goal
    goal_id     text not null,
    wording     text not null,
    question    text not null,
    text        text not null,      -- what the owner said
    at          text not null,
    primary key (goal_id, wording, question)
);
