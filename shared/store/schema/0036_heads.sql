-- The task's own branch, named when it is first seen: what a title is spelled as may change between versions.
-- Empty: it was seen by a version that spelled Latin letters only.

alter table tasks add column head text not null default '';
