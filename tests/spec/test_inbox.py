"""What the forge brings in: issues that become goals, and the owner's words that become answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.inbox.inbox import LONGEST, OwnerAnswer, answer_in, answers_in, counting, last_word
from sisimpur.agents.orchestrator.vision.issue_goals import MOST, InboxRules, goals_in, number_of, with_issues
from sisimpur.agents.orchestrator.vision.vision_parser import difference, parse
from sisimpur.shared.forge.forge import Comment, Issue, Verdict
from sisimpur.shared.model.work import Goal, MarkdownLine, Priority, Vision

AT = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)
OWNERS = InboxRules(owners=("Alice",))
LABELLED = InboxRules(owners=("Alice",), label="agents")


def issue(number: int = 7, author: str = "alice", labels: tuple[str, ...] = (), body: str = "") -> Issue:
    return Issue(number, "Count the visits", body, frozenset(labels), author, "")


def comment(body: str, verdict: Verdict | None = None, sha: str = "", path: str = "", line: int = 0) -> Comment:
    return Comment("1", "alice", body, AT, verdict, sha, path=path, line=line)


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


# --- answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (comment("/approve"), OwnerAnswer("approve", AT)),
        (
            comment("/Approve `1a2b3c4d5e` looks right"),
            OwnerAnswer("approve", AT, "`1a2b3c4d5e` looks right", "1a2b3c4d5e"),
        ),
        (
            comment("/approve 1A2B3C4D5E\n\nlooks right"),
            OwnerAnswer("approve", AT, "1A2B3C4D5E\n\nlooks right", "1a2b3c4d5e"),
        ),
        (comment("/approve 1a2b3c4d5e, thanks"), OwnerAnswer("approve", AT, "1a2b3c4d5e, thanks", "1a2b3c4d5e")),
        (comment("/approve commit 1a2b3c4d5e"), OwnerAnswer("approve", AT, "commit 1a2b3c4d5e", "1a2b3c4d5e")),
        (comment("/approve 1a2b"), OwnerAnswer("approve", AT, "1a2b", "1a2b")),
        (comment("/approve the commit 1a2b3c4"), OwnerAnswer("approve", AT, "the commit 1a2b3c4", "1a2b3c4")),
        (comment("/approve", "approve", "abc"), OwnerAnswer("approve", AT, "", "abc")),
        (comment("/approve", "comment", "abc"), OwnerAnswer("approve", AT, "", "abc")),
        (comment("/approve", sha="abc", path="a.py", line=3), OwnerAnswer("approve", AT, "", "none")),
        (comment("/approve t-1 over 2 t is ours"), OwnerAnswer("approve", AT, "t is ours", over="2", task="t-1")),
        (comment("/approve over `3f2a99c1`: ours"), OwnerAnswer("approve", AT, "ours", over="3f2a99c1")),
        (comment("/approve t-1 --over 12"), OwnerAnswer("approve", AT, over="12", task="t-1")),
        (comment("/approve over all of it"), OwnerAnswer("approve", AT, "over all of it")),
        (comment("/approve since it is short"), OwnerAnswer("approve", AT, "since it is short")),
        (comment("  /retry use a set\nand sort it"), OwnerAnswer("retry", AT, "use a set\nand sort it")),
        (comment("/retest"), OwnerAnswer("retest", AT)),
        (comment("/reject not now"), OwnerAnswer("reject", AT, "not now")),
        (comment("/cancel"), OwnerAnswer("cancel", AT)),
        (comment("/approved by nobody"), None),
        (comment("I would /approve this if I could"), None),
        (comment("> /approve"), None),
        (comment("thanks, looks good"), None),
        (comment("", "approve", "abc"), OwnerAnswer("approve", AT, "", "abc")),
        (comment("rename it", "request_changes", "abc"), OwnerAnswer("retry", AT, "rename it")),
        (comment("", "request_changes", "abc"), OwnerAnswer("retry", AT)),
        (comment("rename it", "comment", "abc"), OwnerAnswer("retry", AT, "rename it")),
        (comment("", "comment", "abc"), None),
        (comment("off by one", path="a.py", line=3), OwnerAnswer("retry", AT, "a.py:3: off by one")),
        (comment("off by one", path="a.py"), OwnerAnswer("retry", AT, "a.py:?: off by one")),
        (comment("/cancel", "approve", "abc"), OwnerAnswer("cancel", AT)),
    ],
)
def test_what_the_owner_wrote_is_an_answer_or_just_talk(said: Comment, answer: OwnerAnswer | None) -> None:
    assert answer_in(said) == answer


def test_a_very_long_answer_is_cut() -> None:
    answer = answer_in(comment("/retry " + "x" * 100_000))
    assert answer
    assert len(answer.why) <= LONGEST


def test_remarks_of_a_review_that_approves_are_no_order() -> None:
    review = Comment("review-5", "alice", "", AT, "approve", "abc")
    nit = Comment("remark-6", "alice", "a shorter name?", AT, review="review-5", path="a.py", line=3)
    alone = Comment("remark-7", "alice", "off by one", AT, path="a.py", line=3)
    assert [answer.word for answer in answers_in([review, nit])] == ["approve"]
    assert [answer.word for answer in answers_in([nit, review])] == ["approve"]
    assert [answer.word for answer in answers_in([review, alone])] == ["approve", "retry"]


def test_the_last_word_counts_and_what_is_to_be_done_adds_up() -> None:
    later = AT + timedelta(minutes=1)
    first, second = OwnerAnswer("retry", AT, "rename it"), OwnerAnswer("retry", later, "and test it")
    over = [OwnerAnswer("approve", AT, over=one) for one in ("1", "2")]
    assert counting([over[0], first, over[1], second]) == [*over, OwnerAnswer("retry", later, "rename it\nand test it")]
    assert last_word([]) is None
    assert last_word([first, second]) == OwnerAnswer("retry", later, "rename it\nand test it")
    assert last_word([first, OwnerAnswer("approve", later, "", "abc")]) == OwnerAnswer("approve", later, "", "abc")
    assert last_word([OwnerAnswer("cancel", AT), second]) == OwnerAnswer("retry", later, "and test it")
