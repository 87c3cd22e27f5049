"""What a goal sets apart from its own work is guarded in its tasks, and in no other's."""

from __future__ import annotations

from dataclasses import replace
from time import process_time

import pytest

from sisimpur.agents.orchestrator.vision.named_paths import goal_guards
from sisimpur.agents.planner.plan_rules import faults
from sisimpur.agents.planner.task_spec import PlanReply
from sisimpur.shared.model.work import Goal, Guard, Priority, TaskSpec
from tests.spec.test_plan_rules import ORDER, TREE, draft, plan

FILES = ("app/db/models.py", "app/views.py", "alembic/env.py", "billing/pay.py", "README.md")


@pytest.mark.parametrize(
    ("said", "patterns"),
    [
        ("Refuse such a name. Don't touch the database for it (app/db, alembic).", ("app/db", "alembic/")),
        ("Speed up app/views.py without touching billing/pay.py", ("billing/pay.py",)),
        ("Mend app/views.py, but hands off billing/", ("billing/",)),
        ("app/views.py ঠিক করো। billing/pay.py-তে হাত দেবে না।", ("billing/pay.py",)),
        ("Leave billing/pay.py alone", ("billing/pay.py",)),
        ("billing/pay.py: don't touch.", ("billing/pay.py",)),
        ("app/views.py is slow. app/db (do not touch them!)", ("app/db",)),
        ("Wrap billing/pay.py without touching it at all", ("billing/pay.py",)),
        ("Speed up app/views.py and leave billing/ untouched", ("billing/",)),
        ("You may not, under any circumstances, touch billing/", ("billing/",)),
        ("Leave billing/ alone, mend app/views.py, and don't touch app/db", ("billing/", "app/db")),
        ("Without touching billing/pay.py, mend app/views.py", ("billing/pay.py",)),
        ("Speed up app/views.py, billing/ is off limits", ("billing/",)),
        ("app/views.py ঠিক করো, billing/pay.py-তে হাত দেবে না", ("billing/pay.py",)),
        ("Don't touch billing/, app/db and alembic", ("billing/", "app/db", "alembic/")),
        ("Don't touch billing/, add nothing to app/db", ("billing/", "app/db")),
        ("Don't touch billing/, the old app/db", ("billing/", "app/db")),
        ("Mend app/views.py. billing/pay.py must not be touched", ("billing/pay.py",)),
        ("Mend app/views.py, but do not modify billing/pay.py", ("billing/pay.py",)),
        ("Speed up app/views.py without changing anything in billing/", ("billing/",)),
        ("Mend app/views.py; never edit `alembic/env.py`, please", ("alembic/env.py",)),
        ("billing/pay.py: the list must not be changed", ()),
        ("Round once, without changing billing/pay.py's answers", ()),
        ("Do not change the public functions of this package", ()),
        ("Nobody may delete what billing/pay.py has booked", ()),
        ("billing/pay.py never rounds", ()),
        ("Don't touch what is booked", ()),
    ],
)
def test_what_a_goal_says_not_to_touch_is_guarded_in_its_own_tasks(said: str, patterns: tuple[str, ...]) -> None:
    goal = Goal("g-1", said, (), Priority.HIGH)
    found = list(goal_guards([goal], FILES))
    assert tuple(pattern for guard in found for pattern in guard.patterns) == patterns
    assert all(guard.goal_id == "g-1" and guard.note in said for guard in found)
    assert not any("app/views.py" in guard.note for guard in found), "what is to be changed is looked up"
    assert not list(goal_guards([replace(goal, proposed_by="somebody")], FILES)), "strangers guard nothing"
    assert len(list(goal_guards([replace(goal, title="Do it", details=(said,))], FILES))) == len(found)


def test_of_many_clauses_rather_too_much_is_guarded() -> None:
    said = f"Don't touch billing/{', mend app/views.py' * 20}, app/db"
    (guard,) = goal_guards([Goal("g-1", said, (), Priority.HIGH)], FILES)
    assert guard.patterns == ("billing/", "app/views.py", "app/db")


@pytest.mark.parametrize(
    "words",
    [
        "don't touch ",
        "off-limits, ",
        "leave ",
        "don't touch app/db, mend b, ",
        "leave a alone, ",
        "don't change -",
        "never edit  ",
    ],
)
def test_a_goal_of_a_megabyte_is_looked_at_in_seconds(words: str) -> None:
    """Each "don't touch" was read to the end of its sentence: minutes, in which nobody could end the day."""
    goal = Goal("g-1", (words * 90_000)[:1_000_000], (), Priority.HIGH)
    before = process_time()
    list(goal_guards([goal], FILES))
    assert process_time() - before < 15


def test_a_task_has_its_turn_after_an_open_one_of_the_same_file() -> None:
    there = TaskSpec("20261119-04", "Fix the urls", "…", goal_id="g-3", files=("app/urls.py",))
    order = replace(ORDER, open_tasks=(there,))
    tasks = plan(draft("a", "g-1", files=["app/urls.py"]), draft("b", "g-2"), order=order).tasks
    assert {task.goal_id: task.after for task in tasks} == {"g-1": ("20261119-04",), "g-2": ()}
    (needs,) = plan(draft("a", "g-1", "20261119-04", files=["app/urls.py"]), order=order).tasks
    assert (needs.depends_on, needs.after) == (("20261119-04",), ())


def test_a_task_of_that_goal_may_not_and_another_may() -> None:
    order = replace(ORDER, guards=(*ORDER.guards, Guard("Don't touch app/urls.py", ("app/urls.py",), goal_id="g-1")))
    own, other = draft("a", "g-1", files=["app/urls.py"]), draft("b", "g-2", files=["app/urls.py"])
    (fault,) = faults(PlanReply([], [own]), order, TREE)[0]
    assert "app/urls.py must not be touched (app/urls.py): the owner's goal says" in fault
    assert not faults(PlanReply([], [other]), order, TREE)
    made = {task.goal_id: task.guards for task in plan(draft("a", "g-1"), other, order=order).tasks}
    assert made == {"g-1": ("hooks/**", "app/urls.py"), "g-2": ("hooks/**",)}
