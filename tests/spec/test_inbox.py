"""What the forge brings in: issues that become goals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.vision.issue_goals import MOST, InboxRules, goals_in, number_of, with_issues
from sisimpur.agents.orchestrator.vision.vision_parser import difference, parse
from sisimpur.shared.forge.forge import Issue
from sisimpur.shared.model.work import Goal, MarkdownLine, Priority, Vision

OWNERS = InboxRules(owners=("Alice",))
LABELLED = InboxRules(owners=("Alice",), label="agents")


def issue(number: int = 7, author: str = "alice", labels: tuple[str, ...] = (), body: str = "") -> Issue:
    return Issue(number, "Count the visits", body, frozenset(labels), author, "")


# --- issues --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "author", "labels", "counts", "proposed_by"),
    [
        pytest.param(InboxRules(), "alice", ("agents",), False, "", id="nobody is named: nothing counts"),
        pytest.param(OWNERS, "alice", (), True, "", id="the owner's"),
        pytest.param(OWNERS, "ALICE", (), True, "", id="logins have no capitals"),
        pytest.param(OWNERS, "mallory", (), False, "", id="a stranger's"),
        pytest.param(OWNERS, "mallory", ("agents",), False, "", id="a label that no rule names"),
        pytest.param(LABELLED, "alice", (), False, "", id="the owner's own notes, without the label"),
        pytest.param(LABELLED, "alice", ("agents",), True, "", id="the owner's, with it"),
        pytest.param(LABELLED, "mallory", ("agents",), True, "mallory", id="a stranger's, with it: a proposal"),
    ],
)
def test_who_wrote_an_issue_and_its_label_decide_what_it_is(
    rules: InboxRules, author: str, labels: tuple[str, ...], counts: bool, proposed_by: str
) -> None:
    goals = goals_in([issue(author=author, labels=labels)], rules)
    assert [goal.proposed_by for goal in goals] == ([proposed_by] if counts else [])


def test_an_issue_becomes_a_goal_that_keeps_its_id() -> None:
    (goal,) = goals_in([issue(body="Per day.\r\n\r\n- also at night\n", labels=("priority: high",))], OWNERS)
    assert goal == Goal("i-7", "Count the visits", ("Per day.", "- also at night"), Priority.HIGH)
    assert number_of(goal.id) == 7
    assert number_of("g-123456") == 0


def test_what_a_stranger_asks_for_comes_after_everything_that_the_owner_wants() -> None:
    (goal,) = goals_in([issue(author="mallory", labels=("agents", "critical"))], LABELLED)
    assert goal.priority is Priority.LOW


def test_the_oldest_issues_come_first_and_a_flood_is_cut() -> None:
    goals = goals_in([issue(number) for number in range(100, 0, -1)], OWNERS)
    assert [number_of(goal.id) for goal in goals] == list(range(1, MOST + 1))


def test_a_flood_of_issues_washes_no_goal_away_and_no_owner_out() -> None:
    flood = [issue(number, "mallory", ("agents",)) for number in range(1, 100)]
    known = {"i-99", "i-200"}
    goals = goals_in([*flood, issue(200, labels=("agents",)), issue(201, labels=("agents",))], LABELLED, known)
    assert [number_of(goal.id) for goal in goals][:2] == [200, 201]
    assert "i-99" in {goal.id for goal in goals}
    assert len(goals) == 2 + MOST


@pytest.mark.parametrize("label", ["agents", "Agents", "AGENTS"])
def test_labels_have_no_capitals(label: str) -> None:
    assert goals_in([issue(labels=(label,))], LABELLED)


@given(st.text(max_size=500), st.text(max_size=3000))
def test_whatever_is_written_in_an_issue_a_goal_stays_small_and_printable(title: str, body: str) -> None:
    (goal,) = goals_in([Issue(1, title, body, frozenset(), "alice", "")], OWNERS)
    lines = (goal.title, *goal.details)
    assert goal.title
    assert len(lines) <= 41
    assert all(len(line) <= 300 and line.isprintable() for line in lines)


def test_an_issue_that_is_closed_is_a_goal_that_was_removed() -> None:
    before = with_issues(Vision(), goals_in([issue(7), issue(8)], OWNERS))
    now = with_issues(Vision(), goals_in([issue(8)], OWNERS))
    change = difference(before, now)
    assert [goal.id for goal in change.removed] == ["i-7"]
    assert [goal.id for goal in change.unchanged] == ["i-8"]


def test_a_bullet_with_the_words_of_an_issue_is_a_goal_of_its_own() -> None:
    before = with_issues(Vision(), goals_in([issue(7)], OWNERS))
    outline = [MarkdownLine("heading", 2, "Priority: HIGH", 1), MarkdownLine("bullet", 0, "Count the visits", 2)]
    (goal,) = parse(outline, before).goals
    assert goal.id.startswith("g-")
