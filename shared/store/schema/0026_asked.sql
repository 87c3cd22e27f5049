-- What a task said when it was coded: its file is the owner's, who may write something else into it meanwhile.

alter table attempts add column asked text not null default '';  -- TaskSpec.asked; empty: begun by an earlier version
