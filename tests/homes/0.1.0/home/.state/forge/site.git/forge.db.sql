pragma user_version = 0;
CREATE TABLE item (           -- pull requests and issues share one row of numbers
    number    integer primary key autoincrement,
    kind      text not null check (kind in ('pull', 'issue')),
    state     text not null default 'open' check (state in ('open', 'closed', 'merged')),
    title     text not null,
    body      text not null,
    author    text not null,
    head      text not null default '',     -- branch
    base      text not null default '',     -- branch
    head_sha  text not null default '',     -- last known; refs/pull/<number>/head keeps it alive
    draft     integer not null default 0,
    merge_sha text
);
insert into item values (1, 'pull', 'merged', 'Fix the sum', '<!-- sisimpur-key 20261120-01:pr -->
Fix the sum, please.

### Acceptance criteria

- [ ] it adds

### Changed

- `app.py`
- `tests/test_app.py`

### Where it comes from

- task: `20261120-01` (`python main.py show 20261120-01`)
- goal: Fix the sum in app.py
- commit: 554b6c17a03bd222f14d3b19d981d19e4194c538, on top of bad1ba2f56c6bb12bd42494d62ee4e75c42354a1
- model cost: $0.0159
- written by a model; what tests and review say of exactly this commit stands in the comments', 'sisimpur', 'agent/20261120-01-fix-the-sum', 'main', '554b6c17a03bd222f14d3b19d981d19e4194c538', 0, '1550e1dc6a367b0a2deb2d8aee4af6ee93afef38');
insert into item values (2, 'pull', 'open', 'Count the visitors', '<!-- sisimpur-key 20261120-02:pr -->
Count the visitors, please.

### Acceptance criteria

- [ ] it adds

### Changed

- `counter.py`
- `settings.py`
- `tests/test_counter.py`

### Needs your eyes

- `settings.py` is a protected path

### Where it comes from

- task: `20261120-02` (`python main.py show 20261120-02`)
- goal: Count the visitors of the house
- commit: d11b209809fc7d049a4264fb2d343435865d8cc8, on top of 1550e1dc6a367b0a2deb2d8aee4af6ee93afef38
- model cost: $0.0004
- written by a model; what tests and review say of exactly this commit stands in the comments', 'sisimpur', 'agent/20261120-02-count-the-visitors', 'main', 'd11b209809fc7d049a4264fb2d343435865d8cc8', 0, NULL);
insert into item values (3, 'pull', 'closed', 'Make the lamp green', '<!-- sisimpur-key 20261120-03:pr -->
Make the lamp green, please.

### Acceptance criteria

- [ ] it adds

### Changed

- `lamp.py`
- `tests/test_lamp.py`

### Where it comes from

- task: `20261120-03` (`python main.py show 20261120-03`)
- goal: Make the lamp green
- commit: 5f024dfe45c34c1504329bffd71f7b03ce1854b9, on top of 1550e1dc6a367b0a2deb2d8aee4af6ee93afef38
- model cost: $0.0010
- written by a model; what tests and review say of exactly this commit stands in the comments', 'sisimpur', 'agent/20261120-03-make-the-lamp-green', 'main', '5f024dfe45c34c1504329bffd71f7b03ce1854b9', 1, NULL);
insert into item values (4, 'pull', 'merged', 'Set the number of room 0', '<!-- sisimpur-key 20261120-04:pr -->
Set the number of room 0, please.

### Acceptance criteria

- [ ] it adds

### Changed

- `room0.py`
- `tests/test_room0.py`

### Where it comes from

- task: `20261120-04` (`python main.py show 20261120-04`)
- goal: Number all rooms of the house
- commit: f6d9781d3dfaaab0dc9a20c2a985ea6147b8f8bd, on top of 1550e1dc6a367b0a2deb2d8aee4af6ee93afef38
- model cost: $0.0004
- written by a model; what tests and review say of exactly this commit stands in the comments', 'sisimpur', 'agent/20261120-04-set-the-number-of-room-0', 'agent/goal-g-6d7d1a', 'f6d9781d3dfaaab0dc9a20c2a985ea6147b8f8bd', 0, '6406c09116255cb2de1e709d052dfbebdd0a00af');
insert into item values (5, 'pull', 'merged', 'Set the number of room 1', '<!-- sisimpur-key 20261120-05:pr -->
Set the number of room 1, please.

### Acceptance criteria

- [ ] it adds

### Changed

- `room1.py`
- `tests/test_room1.py`

### Where it comes from

- task: `20261120-05` (`python main.py show 20261120-05`)
- goal: Number all rooms of the house
- commit: 6b87916bfba4634bdaf2f05c3673021eba25d71c, on top of 6406c09116255cb2de1e709d052dfbebdd0a00af
- model cost: $0.0004
- written by a model; what tests and review say of exactly this commit stands in the comments', 'sisimpur', 'agent/20261120-05-set-the-number-of-room-1', 'agent/goal-g-6d7d1a', '6b87916bfba4634bdaf2f05c3673021eba25d71c', 0, 'c095ed48bb8407b11e40efda1a362549b6589083');
insert into item values (6, 'pull', 'open', 'Hang a sign up', '<!-- sisimpur-key 20261121-01:pr -->
Hang a sign up, please.

### Acceptance criteria

- [ ] it adds

### Changed

- `sign.py`
- `tests/test_sign.py`

### Where it comes from

- task: `20261121-01` (`python main.py show 20261121-01`)
- goal: Hang a sign up
- commit: 389e680265dee8f24ed6a4a591c99d87ceacdb08, on top of 1550e1dc6a367b0a2deb2d8aee4af6ee93afef38
- model cost: $0.0004
- written by a model; what tests and review say of exactly this commit stands in the comments', 'sisimpur', 'agent/20261121-01-hang-a-sign-up', 'main', '389e680265dee8f24ed6a4a591c99d87ceacdb08', 1, NULL);
CREATE TABLE label (
    number    integer not null references item,
    name      text not null,
    primary key (number, name)
);
insert into label values (1, 'agents');
insert into label values (2, 'agents');
insert into label values (3, 'agents');
insert into label values (4, 'agents');
insert into label values (5, 'agents');
insert into label values (6, 'agents');
CREATE TABLE comment (
    number    integer not null references item,
    key       text not null,
    author    text not null,
    body      text not null,
    at        text not null default '1970-01-01T00:00:00+00:00',   -- when it was made
    primary key (number, key, author)
);
insert into comment values (1, '20261120-01:tests', 'sisimpur', '<!-- sisimpur-key 20261120-01:tests -->
### Tests: green

2 passed, 0 failed, 0 skipped; 1 new, 1 of them fail without the change; 0.1 s; `python -m pytest` in full full box of a story

commit 554b6c17a03bd222f14d3b19d981d19e4194c538, tree 777329e9c668f0c3eeeaf2702c78387a06d1ef56, on top of bad1ba2f56c6bb12bd42494d62ee4e75c42354a1; report f202d6630fe123b0', '2026-11-20T10:24:02.211369+00:00');
insert into comment values (2, '20261120-02:tests', 'sisimpur', '<!-- sisimpur-key 20261120-02:tests -->
### Tests: green

3 passed, 0 failed, 0 skipped; 1 new, 1 of them fail without the change; 0.1 s; `python -m pytest` in full full box of a story

commit d11b209809fc7d049a4264fb2d343435865d8cc8, tree acd003b754131b40aa74267333c006e70075e0b3, on top of 1550e1dc6a367b0a2deb2d8aee4af6ee93afef38; report 00b0610abfd52f4b', '2026-11-20T10:24:06.389231+00:00');
insert into comment values (2, '20261120-02:owner', 'sisimpur', '<!-- sisimpur-key 20261120-02:owner -->
### Waits for the owner

- it changes settings.py, which is never merged without you

`python main.py approve 20261120-02`, `reject 20261120-02 --why ...`, or `retry 20261120-02 --why ...`', '2026-11-20T10:24:06.611259+00:00');
insert into comment values (3, '20261120-03:tests', 'sisimpur', '<!-- sisimpur-key 20261120-03:tests -->
### Tests: red

2 passed, 1 failed, 0 skipped; 1 new, 0 of them fail without the change; 0.1 s; `python -m pytest` in full full box of a story

- tests/test_lamp.py::test_it is new and fails at app.py:1
- nothing shows what the change does: no new or changed test fails without the change

- `tests/test_lamp.py::test_it` at app.py:1

commit 5f024dfe45c34c1504329bffd71f7b03ce1854b9, tree de36a00a181e05cc5590567153f6edbbd62fbbdc, on top of 1550e1dc6a367b0a2deb2d8aee4af6ee93afef38; report 2b0b2b14858ef8f0', '2026-11-20T10:24:08.834863+00:00');
insert into comment values (3, '20261120-03:end', 'sisimpur', '<!-- sisimpur-key 20261120-03:end -->
### Closed: the correction gave exactly the same result as before

1. tests/test_lamp.py::test_it is new and fails at app.py:1; nothing shows what the change does: no new or changed test fails without the change
2. pull request #​3

`python main.py retry 20261120-03 --why ''what to do differently''` gives it fresh attempts; or reword its goal.', '2026-11-20T10:24:10.551524+00:00');
insert into comment values (4, '20261120-04:tests', 'sisimpur', '<!-- sisimpur-key 20261120-04:tests -->
### Tests: green

3 passed, 0 failed, 0 skipped; 1 new, 1 of them fail without the change; 0.1 s; `python -m pytest` in full full box of a story

commit f6d9781d3dfaaab0dc9a20c2a985ea6147b8f8bd, tree c36aae2d665157de1010023b2cc91a32fe84e098, on top of 1550e1dc6a367b0a2deb2d8aee4af6ee93afef38; report 95a8c963cb983cc3', '2026-11-20T10:24:11.944576+00:00');
insert into comment values (5, '20261120-05:tests', 'sisimpur', '<!-- sisimpur-key 20261120-05:tests -->
### Tests: green

4 passed, 0 failed, 0 skipped; 1 new, 1 of them fail without the change; 0.1 s; `python -m pytest` in full full box of a story

commit 6b87916bfba4634bdaf2f05c3673021eba25d71c, tree 32de4bc3e67331032f43ba5ad714e9197ddcad8f, on top of 6406c09116255cb2de1e709d052dfbebdd0a00af; report bc555bde8e2501aa', '2026-11-20T10:24:13.911244+00:00');
CREATE TABLE review (
    id        integer primary key,
    number    integer not null references item,
    author    text not null,
    verdict   text not null,
    sha       text not null,
    body      text not null,
    formal    integer not null,
    at        text not null default '1970-01-01T00:00:00+00:00',
    unique (number, author, verdict, sha)
);
insert into review values (1, 1, 'sisimpur-reviewer', 'approve', '554b6c17a03bd222f14d3b19d981d19e4194c538', '### Review: approved, 1 comments

- low: app.py:2 a and b say little (model: naming)', 1, '2026-11-20T10:24:04.260901+00:00');
insert into review values (2, 2, 'sisimpur-reviewer', 'approve', 'd11b209809fc7d049a4264fb2d343435865d8cc8', '### Review: approved', 1, '2026-11-20T10:24:06.607261+00:00');
insert into review values (3, 4, 'sisimpur-reviewer', 'approve', 'f6d9781d3dfaaab0dc9a20c2a985ea6147b8f8bd', '### Review: approved', 1, '2026-11-20T10:24:12.197191+00:00');
insert into review values (4, 5, 'sisimpur-reviewer', 'approve', '6b87916bfba4634bdaf2f05c3673021eba25d71c', '### Review: approved', 1, '2026-11-20T10:24:14.106791+00:00');
CREATE TABLE status (
    sha       text not null,
    context   text not null,
    state     text not null,
    note      text not null,
    primary key (sha, context)
);
insert into status values ('f88c3f08012a947c921b4018f0be2a388234027e', 'agents/tests', 'failure', 'tests/test_app.py::test_sum is new and fails at app.py:1');
insert into status values ('554b6c17a03bd222f14d3b19d981d19e4194c538', 'agents/tests', 'success', '2 passed, 0 failed, 0 skipped; 1 new, 1 of them fail without the change');
insert into status values ('554b6c17a03bd222f14d3b19d981d19e4194c538', 'agents/review', 'success', 'approve');
insert into status values ('d11b209809fc7d049a4264fb2d343435865d8cc8', 'agents/tests', 'success', '3 passed, 0 failed, 0 skipped; 1 new, 1 of them fail without the change');
insert into status values ('d11b209809fc7d049a4264fb2d343435865d8cc8', 'agents/review', 'success', 'approve');
insert into status values ('b411cc77e159a277ead911aa468f0399f7831bcc', 'agents/tests', 'failure', 'tests/test_lamp.py::test_it is new and fails at app.py:1');
insert into status values ('5f024dfe45c34c1504329bffd71f7b03ce1854b9', 'agents/tests', 'failure', 'tests/test_lamp.py::test_it is new and fails at app.py:1');
insert into status values ('f6d9781d3dfaaab0dc9a20c2a985ea6147b8f8bd', 'agents/tests', 'success', '3 passed, 0 failed, 0 skipped; 1 new, 1 of them fail without the change');
insert into status values ('f6d9781d3dfaaab0dc9a20c2a985ea6147b8f8bd', 'agents/review', 'success', 'approve');
insert into status values ('6b87916bfba4634bdaf2f05c3673021eba25d71c', 'agents/tests', 'success', '4 passed, 0 failed, 0 skipped; 1 new, 1 of them fail without the change');
insert into status values ('6b87916bfba4634bdaf2f05c3673021eba25d71c', 'agents/review', 'success', 'approve');
CREATE TABLE merge_plan (     -- never forgotten: whichever of them is part of the base did happen
    merge_sha text primary key,
    number    integer not null references item,
    head_sha  text not null,
    base_sha  text not null                 -- the base just before
);
insert into merge_plan values ('1550e1dc6a367b0a2deb2d8aee4af6ee93afef38', 1, '554b6c17a03bd222f14d3b19d981d19e4194c538', 'bad1ba2f56c6bb12bd42494d62ee4e75c42354a1');
insert into merge_plan values ('6406c09116255cb2de1e709d052dfbebdd0a00af', 4, 'f6d9781d3dfaaab0dc9a20c2a985ea6147b8f8bd', '1550e1dc6a367b0a2deb2d8aee4af6ee93afef38');
insert into merge_plan values ('c095ed48bb8407b11e40efda1a362549b6589083', 5, '6b87916bfba4634bdaf2f05c3673021eba25d71c', '6406c09116255cb2de1e709d052dfbebdd0a00af');
CREATE UNIQUE INDEX one_open_pull on item (head, base) where kind = 'pull' and state = 'open';
CREATE INDEX merge_plan_by_number on merge_plan (number);
CREATE VIEW pull as
    select *, (select group_concat(name, char(10)) from label where label.number = item.number) as labels
    from item where kind = 'pull';
CREATE VIEW issue as
    select *, (select group_concat(name, char(10)) from label where label.number = item.number) as labels
    from item where kind = 'issue';
delete from sqlite_sequence;
insert into sqlite_sequence values ('item', 6);
