"""What the owner wrote is an order, a question back, or just talk: the whole table of forms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.inbox.inbox import (
    LONGEST,
    AskedBack,
    Channel,
    OwnerAnswer,
    answer_in,
    answers_in,
    counting,
    last_word,
)
from sisimpur.shared.forge.forge import Comment, Verdict

AT = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)
COMMIT = "1a2b3c4d5e"
ONE = Channel(("20261120-01",), COMMIT * 4)
TWO = Channel(("20261120-01", "20261120-02"))
ASKED = "asked back"


def comment(body: str, verdict: Verdict | None = None, sha: str = "", path: str = "", line: int = 0) -> Comment:
    return Comment("1", "alice", body, AT, verdict, sha, path=path, line=line)


def approved(commit: str = "", why: str = "", task: str = "") -> OwnerAnswer:
    return OwnerAnswer("approve", AT, why, commit, task=task)


def over(finding: str, why: str = "", task: str = "") -> OwnerAnswer:
    return OwnerAnswer("approve", AT, why, over=finding, task=task)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (comment("/approve"), approved()),
        (comment(" /Approve \r\n"), approved()),
        (comment(f"/approve `{COMMIT.upper()}`"), approved(COMMIT)),
        (comment("/approve 20261120-01"), approved(task="20261120-01")),
        (comment(f"/approve 20261120-01 {COMMIT}"), approved(COMMIT, task="20261120-01")),
        (comment("/approve NO WAIT, do not merge"), ASKED),
        (comment(f"/approve {COMMIT} looks right"), ASKED),
        (comment(f"/approve {COMMIT}\n\nNO, WAIT"), ASKED),
        (comment("/approve" + " " * 2 * LONGEST + "NO WAIT"), ASKED),
        (comment("/approve\n/reject"), ASKED),
        (comment("/approve 1a2b"), ASKED),
        (comment(f"/approve the commit {COMMIT}"), ASKED),
        (comment("/approve 20261120-07"), ASKED),
        (comment("/approve."), ASKED),
        (comment("/approve, thanks"), ASKED),
        (comment("/approve over all of it"), ASKED),
        (comment("/approve 20261120-01 over 2 t is ours"), over("2", "t is ours", "20261120-01")),
        (comment("/approve over `3f2a99c1`: ours"), over("3f2a99c1", "ours")),
        (comment("/approve --over 12"), over("12")),
        (comment("/approve 20261120-07 over 1"), ASKED),
        (comment("  /retry use a set\nand sort it"), OwnerAnswer("retry", AT, "use a set\nand sort it")),
        (comment("/retry: use a set"), OwnerAnswer("retry", AT, "use a set")),
        (comment("/retry 20261120-01\nuse a set"), OwnerAnswer("retry", AT, "use a set", task="20261120-01")),
        (comment("/retry 20261120-07 use a set"), ASKED),
        (comment("/answer both"), OwnerAnswer("retry", AT, "both")),
        (comment("/reject not now\n/approve"), OwnerAnswer("reject", AT, "not now\n/approve")),
        (comment("/cancel"), OwnerAnswer("cancel", AT)),
        (comment("/retest"), OwnerAnswer("retest", AT)),
        (comment("/retest twice"), ASKED),
        (comment("/approved by nobody"), ASKED),
        (comment("/merge"), ASKED),
        (comment("/ approve it"), ASKED),
        (comment("/аpprove"), ASKED),  # its second letter is Cyrillic
        (comment("Thank you.\n/approve"), ASKED),
        (comment("I would /approve this if I could"), None),
        (comment("> /approve"), None),
        (comment("/usr/bin/env is missing"), None),
        (comment("thanks, looks good"), None),
        (comment(""), None),
        (comment("", "approve", "abc"), approved("abc")),
        (comment("well done", "approve", "abc"), approved("abc", "well done")),
        (comment("/approve", "approve", "abc"), approved("abc")),
        (comment("/approve", "comment", "abc"), approved("abc")),
        (comment("/approve not yet", "approve", "abc"), ASKED),
        (comment("/cancel", "approve", "abc"), ASKED),
        (comment("/approve", "request_changes", "abc"), ASKED),
        (comment("/approve", sha="abc", path="a.py", line=3), ASKED),
        (comment("rename it", "request_changes", "abc"), OwnerAnswer("retry", AT, "rename it")),
        (comment("", "request_changes", "abc"), OwnerAnswer("retry", AT)),
        (comment("rename it", "comment", "abc"), OwnerAnswer("retry", AT, "rename it")),
        (comment("", "comment", "abc"), None),
        (comment("off by one", path="a.py", line=3), OwnerAnswer("retry", AT, "a.py:3: off by one")),
        (comment("off by one", path="a.py"), OwnerAnswer("retry", AT, "a.py:?: off by one")),
    ],
)
def test_what_the_owner_wrote_is_an_order_a_question_back_or_just_talk(said: Comment, meant: object) -> None:
    found = answer_in(said, ONE)
    assert (ASKED if isinstance(found, AskedBack) else found) == meant
    edited = answer_in(Comment(**{**vars(said), "edited": True}), ONE)
    assert isinstance(edited, AskedBack) if meant else edited is None


@given(st.text(min_size=1), st.sampled_from(["/approve ", "/approve\n", f"/approve {COMMIT} ", "/APPROVE\t"]))
def test_nothing_but_a_commit_or_the_task_stands_behind_an_approval(text: str, begin: str) -> None:
    found = answer_in(comment(begin + text), ONE)
    assert isinstance(found, (OwnerAnswer, AskedBack))
    if isinstance(found, OwnerAnswer) and not found.over:
        assert not (begin + text).lower().translate(str.maketrans("", "", "`")).split()[3:]
        assert not text.strip() or found.commit


@pytest.mark.parametrize(
    ("word", "named"), list(product(["approve", "retry", "reject", "cancel", "retest", "unblock"], [False, True]))
)
def test_where_several_tasks_wait_the_one_that_is_meant_is_named(word: str, named: bool) -> None:
    found = answer_in(comment(f"/{word} 20261120-02" if named else f"/{word}"), TWO)
    assert isinstance(found, OwnerAnswer) is named
    assert getattr(found, "task", "") == ("20261120-02" if named else "")
    if isinstance(found, AskedBack):
        assert "20261120-01, 20261120-02" in found.question and "/reject ID why" in found.question


def test_who_is_asked_back_reads_what_to_type_and_nothing_of_it_acts() -> None:
    found = answer_in(comment("/approve @all `NO` fixes #1\n# WAIT"), ONE)
    assert isinstance(found, AskedBack)
    assert "`/approve 1a2b3c4d5e1a`" in found.question
    assert found.wrote.count("\n") == 0 and not {"`", "@all", "#1"} & set(found.wrote.split())


def test_a_very_long_answer_is_cut() -> None:
    answer = answer_in(comment("/retry " + "x" * 100_000))
    assert isinstance(answer, OwnerAnswer)
    assert len(answer.why) <= LONGEST


def words(*said: Comment) -> list[str]:
    return [one.word if isinstance(one, OwnerAnswer) else ASKED for one in answers_in(said)]


def test_remarks_of_a_review_that_approves_are_no_order_unless_they_are_commands() -> None:
    review = Comment("review-5", "alice", "", AT, "approve", "abc")
    nit = Comment("remark-6", "alice", "a shorter name?", AT, review="review-5", path="a.py", line=3)
    alone = Comment("remark-7", "alice", "off by one", AT, path="a.py", line=3)
    against = Comment("remark-8", "alice", "/reject", AT, review="review-5", path="a.py", line=3)
    assert words(review, nit) == words(nit, review) == ["approve"]
    assert words(review, alone) == ["approve", "retry"]
    assert words(review, against) == ["approve", ASKED]


def test_the_last_word_counts_and_what_is_to_be_done_adds_up() -> None:
    later = AT + timedelta(minutes=1)
    first, second = OwnerAnswer("retry", AT, "rename it"), OwnerAnswer("retry", later, "and test it")
    finding = [over("1"), over("2")]
    assert counting([finding[0], first, finding[1], second]) == [
        *finding,
        OwnerAnswer("retry", later, "rename it\nand test it"),
    ]
    assert last_word([]) is None
    assert last_word([first, second]) == OwnerAnswer("retry", later, "rename it\nand test it")
    assert last_word([first, OwnerAnswer("approve", later, "", "abc")]) == OwnerAnswer("approve", later, "", "abc")
    assert last_word([OwnerAnswer("cancel", AT), second]) == OwnerAnswer("retry", later, "and test it")


@pytest.mark.parametrize(("minutes", "counts"), [(-1, True), (0, False), (1, False)])
def test_an_unclear_word_holds_back_the_approval_before_it(minutes: int, counts: bool) -> None:
    unclear = AskedBack(AT + timedelta(minutes=minutes), "/approve NO WAIT", "?")
    assert (approved() in counting([approved(), unclear])) is counts
    assert unclear in counting([approved(), unclear])
