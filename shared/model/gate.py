"""Next step of a commit that waits at the gates: tested, reviewed, then merged, sent back, or the owner's.

`next_step` is the merge policy. It is a pure function of facts; docs/gates.md shows it as a table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sisimpur.shared.model.evidence import (
    OLD_FAILS,
    UNSHOWN,
    Approved,
    ChangesRequested,
    Escalated,
    Evidence,
    Reviewed,
    rules,
)
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Policy

LONGEST_WORDS = 300  # characters of a coder's answer, as the owner is told
MOST_RUNS = 3  # of the tests that came to no end, or of a review that was begun
MOST_WRITING = 2  # turns of QA with tests that show nothing; one more with a red one


# Proposed: by a stranger, in an issue; upkeep: by the team itself; early: more of the goal has to be done first.
Wish = Literal["wanted", "reworded", "removed", "proposed", "upkeep", "early"]


# Of a stack that came out green: to be merged now, or after others. Alone: it was red in one, and is tested by itself.
Turn = Literal["now", "later", "alone", ""]


@dataclass(frozen=True)
class Writing:
    """Turns of QA with the tests of a change, in this round. `before`: the commit that it was first asked about.

    `own`: test files that it has changed since; `doubted`: rules that its tests broke, and it was asked whether they
    are wrong or the code; `says`: that the code is, and why; `answered`: the coder was told so.
    What the coder has changed since without being told so has no `before` any more.
    """

    turns: int = 0
    before: str = ""
    own: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()
    says: str = ""
    answered: bool = False


@dataclass(frozen=True)
class CheckedByOthers:
    """What others check of a commit at the forge. `against`: why it is not merged, for the owner; `awaited`: names.

    `seen`: names of all that ever was there; `read_again`: while it is awaited.
    """

    commit: str
    against: tuple[str, ...] = ()
    awaited: tuple[str, ...] = ()
    seen: frozenset[str] = frozenset()
    read_again: datetime | None = None


DISPUTED = (
    "{why}: either the code is wrong, or the test said what was. "
    "`approve` takes the new test; `retry ID --why` says that the old one is right"
)
Writer = Literal["QA", "coder", "nobody", ""]
NOT_ASKED = Writing()


@dataclass(frozen=True)
class ReviewState:
    """A task's commit at the gates, and all that is known of it."""

    commit: str
    subject: str  # digest of the change itself: what a ruling is about
    is_current: bool  # its parent is the newest commit of the branch that it goes into
    in_full_box: bool  # the sandbox is no reduced one
    in_budget: bool  # the task's cost is inside its cap
    approved: bool = False  # by the owner, and exactly this change
    goal: Wish = "wanted"
    protected: tuple[str, ...] = ()  # changed paths that need the owner
    guarded: tuple[str, ...] = ()  # changed paths that the owner has said not to touch, perhaps since
    unseen: tuple[str, ...] = ()  # what only a model made of a note today, and the owner has not seen with it yet
    pull_state: Literal["open", "closed", "merged", ""] = "open"
    head: str = ""  # where the pull request's branch is, if somebody else moved it
    evidence: Evidence | None = None
    checks_begun: int = 0
    reviewed: Reviewed | None = None
    reviews_begun: int = 0
    contradicted: str = ""  # what the coder says against the findings of exactly this commit
    fingerprints: frozenset[str] = frozenset()  # of the earlier attempts of this round
    bent: frozenset[str] = frozenset()  # tests that an earlier attempt of this round changed, and was sent back for
    writing: Writing = NOT_ASKED
    told: str = ""  # why it waits, as the owner was told
    into: str = ""  # the branch that it goes into; empty: it is never tested together with others
    paths: tuple[str, ...] = ()  # that it changes
    is_again: bool = False  # the same change was approved on another base
    turn: Turn = ""
    others: CheckedByOthers | None = None  # None: nothing is known to be against it
    is_as_asked: bool = True  # its task says what it said when it was coded
    asked: str = ""  # digest of what its task says now
    terms: tuple[tuple[str, str], ...] = ()  # what the owner reads beside the change: (of what, its words now)
    since: tuple[str, ...] = ()  # of these, what was approved in other words, and is not approved in these


# --- steps ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunTests:
    """Run the tests on exactly this commit."""


@dataclass(frozen=True)
class Judge:
    """Let the reviewer read it."""


@dataclass(frozen=True)
class SendBack:
    """Send it back to the coder (or to QA, to write tests), with what was found."""

    by: Literal["tests", "review", "conflict"]
    wants_tests: bool = False


@dataclass(frozen=True)
class Fail:
    """Give it up: no further attempt can help. `said`: the coder's words against what was found, for the planner."""

    why: str
    said: str = ""


@dataclass(frozen=True)
class Cancel:
    """Withdraw it: its goal was removed from VISION.md, or it has come too early and is made anew."""


@dataclass(frozen=True)
class BeginAnew:
    """Its task says something else by now: another attempt, for the new words."""


@dataclass(frozen=True)
class Refresh:
    """Bring it up to date with its base; then it is tested again.

    `to`: another commit takes its place, and `why`; empty: none does.
    """

    to: str = ""
    why: str = ""


@dataclass(frozen=True)
class Merge:
    """Exactly this commit."""


@dataclass(frozen=True)
class AskOwner:
    """The owner's turn. The reasons are for the owner."""

    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Noticed:
    """The owner's own hand has merged or closed the pull request."""

    merged: bool


Step = RunTests | Judge | SendBack | Fail | Cancel | BeginAnew | Refresh | Merge | AskOwner | Noticed


# --- the decision --------------------------------------------------------------------------------------------


def next_step(found: ReviewState, policy: Policy) -> Step:
    """The first row of the table that fits."""
    return next(step for step in _steps(found, policy) if step is not None)


def _steps(found: ReviewState, policy: Policy) -> Iterator[Step | None]:
    is_ruled = found.approved or bool(found.since)
    yield _outside(found, is_ruled)
    yield None if found.is_as_asked or is_ruled else BeginAnew()
    if found.head:
        yield AskOwner(
            (f"somebody else moved its branch to {found.head[:10]}: merge or close its pull request yourself",)
        )
    if found.guarded:
        why = f"it changes {', '.join(found.guarded[:5])}, which you have said not to touch"
        yield AskOwner((*found.since, f"{why}: change the note, or reject it")) if is_ruled else Fail(why)
    yield AskOwner(found.since) if found.since else None
    if found.evidence is None:
        yield _untested(found)
        return
    turn = _written(found, found.evidence, policy)
    yield (turn or _back("tests", found)) if found.evidence.is_red and not is_disputed(found) else None
    if found.approved:
        yield _merge(found)
    yield turn
    if found.reviewed is None:
        yield _unread(found)
        return
    yield _answered(found, found.reviewed) if isinstance(found.reviewed.verdict, ChangesRequested) else None
    asked = reasons(found, policy)
    yield AskOwner(asked) if asked else _merge(found)


def is_disputed(found: ReviewState) -> bool:
    """All that is red is that old tests say otherwise, and after a word about them the coder holds to its change.

    Either the code is wrong or the test said what was: the owner decides.
    """
    red = found.evidence.needing("correct") if found.evidence else ()
    holds = all(bool(found.contradicted) or {*one.tests} <= found.bent for one in red)
    return bool(red) and holds and all(one.rule == OLD_FAILS and one.tests for one in red)


def writer(evidence: Evidence, writing: Writing) -> Writer:
    """Whose turn it is with the tests of a change. "nobody": what QA wrote is taken out; "": the change goes on.

    Before QA was asked nothing was red, and only tests were changed since: what is red then is of its tests.
    """
    if not writing.before or not writing.own:
        is_missing = bool(evidence.needing("write tests")) and not writing.turns
        return "coder" if evidence.is_red else "QA" if is_missing else ""
    if evidence.is_red:
        is_new = bool({*rules(evidence.needing("correct"))} - {*writing.doubted})
        says: Writer = "coder" if writing.says and not writing.answered else "nobody"
        return "QA" if is_new and writing.turns <= MOST_WRITING else says
    if UNSHOWN not in rules(evidence.needing("write tests")):
        return ""  # which lines no test runs, it was told the first time
    return "QA" if writing.turns < MOST_WRITING else "nobody"


def _written(found: ReviewState, evidence: Evidence, policy: Policy) -> Step | None:
    """None: it is nobody's turn because of what QA wrote, or is to write."""
    match writer(evidence, found.writing):
        case "QA" if policy.write_tests:
            return SendBack("tests", wants_tests=True)
        case "nobody":
            what = f"stay red: {evidence.needing('correct')[0].text}" if evidence.is_red else "show nothing"
            return Refresh(found.writing.before, f"QA's tests {what}. They are taken out, the change goes on")
        case "coder" if found.writing.own and found.writing.says:
            return SendBack("tests")
        case _:
            return None


def _answered(found: ReviewState, reviewed: Reviewed) -> Step:
    """What the coder contradicts, and the reviewer holds to, is not asked of the coder once more."""
    if not found.contradicted or not reviewed.holds:
        return _back("review", found)
    words = one_line(found.contradicted, LONGEST_WORDS)
    gravest = reviewed.verdict.findings[0]
    holds = f"the reviewer holds to it: {gravest.path}:{gravest.line} {gravest.text}"
    return AskOwner((f"the coder says that a finding is wrong: {words}", holds))


def _outside(found: ReviewState, is_ruled: bool) -> Step | None:
    """Decide about what the owner did at the forge, or in VISION.md. What was approved is never thrown away."""
    if found.pull_state in ("merged", "closed"):
        return Noticed(merged=found.pull_state == "merged")
    return Cancel() if found.goal == "early" or (found.goal == "removed" and not is_ruled) else None


def _untested(found: ReviewState) -> Step:
    if found.checks_begun < MOST_RUNS:
        return RunTests() if found.is_current else Refresh()
    if found.approved:
        return _merge(found)
    told = f"its tests were begun {found.checks_begun} times and came to no end; `retest` runs them again"
    return AskOwner((told,))


def _unread(found: ReviewState) -> Step:
    if found.reviews_begun < MOST_RUNS:
        return Judge()
    return AskOwner((f"its review was begun {found.reviews_begun} times and came to no verdict",))


def _merge(found: ReviewState) -> Step:
    """Merge what was tested on top of exactly what is there. What others found is the owner's, and may be old then."""
    against = found.others.against if found.others else ()
    if against and (found.is_current or not found.approved):
        return AskOwner(against)
    return Merge() if found.is_current else Refresh()


def _back(by: Literal["tests", "review"], found: ReviewState) -> Step:
    """The same tree with the same failures and findings once more: nothing will come of a further round.

    Where the coder has said that what fails is none of its doing, its tests have run once more since.
    """
    if fingerprint(found.evidence, found.reviewed) not in found.fingerprints:
        return SendBack(by)
    return Fail("the correction gave exactly the same result as before", found.contradicted if by == "tests" else "")


def reasons(found: ReviewState, policy: Policy) -> tuple[str, ...]:
    """Say why this is not merged without the owner; empty: it is. Each is one line that the owner can judge."""
    evidence, verdict = found.evidence, found.reviewed.verdict if found.reviewed else None
    asked = [problem.text for problem in evidence.problems] if evidence else ["it was not tested"]
    if is_disputed(found):
        words = one_line(found.contradicted, LONGEST_WORDS)
        why = f"the coder says that the old test is wrong ({words})" if words else "the coder changed this test twice"
        asked.append(DISPUTED.format(why=why))
    if found.protected:
        asked.append(f"it changes {', '.join(found.protected[:5])}, which is never merged without you")
    asked += found.unseen
    if isinstance(verdict, Escalated):
        asked.append(f"the reviewer asks you: {verdict.reason}")
    elif not isinstance(verdict, Approved):
        asked.append("it was not approved by the reviewer")
    rules = {
        "the sandbox of this machine is a reduced one": not found.in_full_box,
        "its goal was reworded in VISION.md": found.goal == "reworded",
        "somebody else asked for it, in an issue": found.goal == "proposed",
        "the team's own proposal, not from VISION.md": found.goal == "upkeep",
        "it cost more than the cap of a task": not found.in_budget,
        "config/policy.yaml says merge.auto: false": not policy.auto,
    }
    asked += [text for text, holds in rules.items() if holds]
    if asked and found.writing.before == found.commit and found.writing.turns >= MOST_WRITING:
        asked.append("QA wrote tests twice that showed nothing; they were taken out")
    word = found.reviewed.word if found.reviewed else ""
    if asked and word and not any(word in one for one in asked):
        asked.append(f"the reviewer tells you: {word}")
    return tuple(asked)


def fingerprint(evidence: Evidence | None, reviewed: Reviewed | None) -> str:
    """(tree, failing tests, findings): two rounds with the same one made no progress."""
    verdict = reviewed.verdict if reviewed else Approved()
    problems = evidence.problems if evidence else ()
    failing = sorted(f"{problem.rule}:{','.join(sorted(problem.tests))}" for problem in problems)
    findings = () if isinstance(verdict, Approved) else tuple(sorted({one.signature for one in verdict.findings}))
    words = repr((evidence.tree if evidence else "", failing, findings))
    return hashlib.sha256(words.encode()).hexdigest()[:16]
