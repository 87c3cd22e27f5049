"""What failed, and whose turn it is: by what the program itself writes. How the weeks went: by counting."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any, NoReturn, get_args
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.coder.agent import Coder, CoderLimits, CoderTickets
from sisimpur.agents.coder.engine import aider_launcher
from sisimpur.agents.coder.engine.aider_runner import answer
from sisimpur.agents.coder.engine.engine import EngineJob, EngineRun, named_files, nothing_happened
from sisimpur.agents.coder.judge import Broke, Disturbed, InWords, judge
from sisimpur.agents.orchestrator.publishing.delivery import Delivery, PullFacts
from sisimpur.agents.orchestrator.publishing.gate_text import cannot_be_done, verdict_line
from sisimpur.agents.orchestrator.reports.reflection import (
    KNOWN,
    MOST_LINES,
    STOPPED,
    TURN_WORDS,
    Cause,
    ClassifiedFailure,
    DayFailure,
    How,
    Reflection,
    Standing,
    by_words,
    classify,
    how_it_goes,
    in_one_line,
    reflected,
    undecided,
)
from sisimpur.agents.orchestrator.roadmap.weeks import (
    Burnt,
    Tally,
    TaskEnding,
    Week,
    ended_in,
    ends_by_week,
    looked_from,
    monday_of,
    weeks,
)
from sisimpur.agents.qa.analysis.touched import SuiteFiles, Touched
from sisimpur.agents.qa.evidence_rule import Runs, problems
from sisimpur.agents.qa.gathering import Gathering, Subject
from sisimpur.agents.qa.runner.environment_build import Builder, Setup
from sisimpur.agents.qa.runner.index_proxy import IndexProxy
from sisimpur.agents.qa.survey.roots import Suites
from sisimpur.cli.wiring.records import aider_python
from sisimpur.shared.model.change import Change, ChangeLimits, refusal
from sisimpur.shared.model.errors import BrokenSetup, Misconfigured, Refused, Unavailable
from sisimpur.shared.model.evidence import (
    ChangesRequested,
    Evidence,
    Failure,
    Finding,
    Outcome,
    Problem,
    Severity,
    SuiteRun,
)
from sisimpur.shared.model.gate import AskOwner, Fail, ReviewState, fingerprint, next_step
from sisimpur.shared.model.lifecycle import TRANSITIONS, Event, State, TaskLimits, Tried
from sisimpur.shared.model.scope import Scope
from sisimpur.shared.model.work import Branch, ModelChoice, NotCoded, Policy, Run, TaskSpec
from sisimpur.shared.money.savings import Route
from sisimpur.shared.money.ticket import CallRecord
from sisimpur.shared.money.token_budget import NANO, Ask, CapUsage, Rates, Refusal, TokenUsage, decide
from sisimpur.shared.repo.committer import Committed, NothingChanged
from sisimpur.shared.repo.mirror import moved
from sisimpur.shared.sandbox.box import Finished, Job, find_box
from sisimpur.shared.sandbox.bubblewrap import PROGRAMS, Bubblewrap
from sisimpur.shared.sandbox.selftest import SandboxCheck, require
from sisimpur.shared.store.database import Database
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.process import End

TASK = TaskSpec("20261120-01", "Fix the sum", "It subtracts.", files=("app.py", "tests/test_app.py"))
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
CODER, WISHES, OWNER, QA, SMALLER = (
    Cause.IMPLEMENTATION,
    Cause.SPECIFICATION,
    Cause.ENVIRONMENT,
    Cause.FLAKY,
    Cause.TIME_LIMIT,
)
MONEY, AWAY, WORD = Cause.BUDGET, Cause.OUTAGE, Cause.OWNERS_WORD
Make = Callable[[Path], DayFailure]  # a folder to work in -> what the books would hold


# --- what the program writes: by the functions that write it -----------------------------------------------------


def call(state: Any = "settled", stop: str = "end_turn", code: str = "", clamped: bool = False) -> CallRecord:
    return CallRecord("claude-sonnet-5-5", state, 1, 0, clamped, 200, 200, stop, code, TokenUsage())


def job(folder: Path, *edit: str) -> EngineJob:
    return EngineJob(
        folder, "Fix it.", edit or ("app.py",), (), (), "ticket", ModelChoice("claude-sonnet-5-5"), stall=360
    )


def broke(run: EngineRun, last: CallRecord | None = None) -> DayFailure:
    """An attempt after which the coder says why there is no commit."""
    found = judge(run, [last or call()])
    if isinstance(found, InWords):
        return DayFailure(TASK.id, "failed", cannot_be_done(found.words))
    assert isinstance(found, Broke), found
    return DayFailure(TASK.id, "failed", found.reason)


def ended(end: End = "exited", code: int = 0, result: Mapping[str, object] | None = None) -> Make:
    """A run of Aider that came to this end, with what its launcher wrote."""

    def make(folder: Path) -> DayFailure:
        if result is not None:
            plain = {
                "version": "1",
                "policy": True,
                "edited": [],
                "asks": [],
                "errors": [],
                "exception": "",
                "reply": "",
            }
            (folder / "result.json").write_text(json.dumps({**plain, **result}))
        return broke(answer(Finished(code, b"", b"", end, 1.0), folder, job(folder), "shim"))

    return make


def metered(last: CallRecord) -> Make:
    """The engine says that it has edited; the meter knows better."""
    return lambda _: broke(EngineRun("edited", "", ("app.py",), "", 1.0), last)


class Refuses:
    """A committer and all other doors of a coder, as far as one run asks for them."""

    def __init__(self, answer: Committed | NothingChanged | str) -> None:
        self.answer = answer

    def commit(self, *_: object, **__: object) -> Committed | NothingChanged:
        if isinstance(self.answer, str):
            raise Refused(self.answer)
        return self.answer

    def run(self, *_: object) -> EngineRun:
        return EngineRun("edited", "", ("app.py",), "", 1.0)

    def calls_of(self, _: str) -> Sequence[CallRecord]:
        return [call()]

    def open_ticket(self, *_: object) -> str:
        return "ticket"

    def check_out(self, *_: object) -> None: ...
    def close_ticket(self, *_: object) -> None: ...
    def __call__(self, *_: object, **__: object) -> None: ...

    def render(self, *_: object, **__: object) -> Any:
        return ModelText("Code.", "Fix it.")


@dataclass(frozen=True)
class ModelText:
    system: str
    user: str


def committed(answer: Committed | NothingChanged | str) -> Make:
    def make(folder: Path) -> DayFailure:
        doors: Any = Refuses(answer)
        limits = CoderLimits(NANO, 600, 12, 120, ("**",))
        route: Any = lambda *_: Route(ModelChoice("m"))  # noqa: E731
        tickets = CoderTickets(doors, route, limits, ManualClock(NOON))
        coder = Coder(doors, doors, doors, tickets, doors, doors, lambda *_: None)
        found = coder.code(Run(1, "coder", "2026-11-20", TASK.id, 1), TASK, "base", folder)
        assert isinstance(found, NotCoded)
        return DayFailure(TASK.id, "failed", found.reason)

    return make


def refused(*changes: Change, scope: Scope | None = None, tracked: Sequence[str] = ("app.py",)) -> Make:
    why = refusal(changes, scope or Scope(TASK.files), ChangeLimits(), tracked)
    assert why
    return committed(why)


STRAYS = refused(Change("other.py", "modified", "100644", "100644"))


def unfit(text: bytes | None, path: str = "app.py") -> Make:
    """The task names a file that no engine can be given: no further try could help."""

    def make(folder: Path) -> DayFailure:
        if text is not None:
            (folder / path).write_bytes(text)
        with pytest.raises(Refused) as why:
            named_files(job(folder, path))
        last = DayFailure(TASK.id, "failed", str(why.value))
        return DayFailure(TASK.id, "given up", last.note, before=(last,))

    return make


def ran(end: str = "finished", **outcomes: Outcome) -> SuiteRun:
    return SuiteRun(end, 0, {f"tests/test_app.py::test_{name}": outcome for name, outcome in outcomes.items()})


BASE = ran(a="passed", b="passed")


def judged(runs: Runs, how: How = "sent back", flaky: Sequence[str] = ()) -> Make:
    """What the rule of evidence says of these runs."""
    shaky = frozenset(f"tests/test_app.py::test_{name}" for name in flaky)
    changes = [Change(path, "modified", "100644", "100644", added_lines=((3, "x"),)) for path in TASK.files]
    found = problems(TASK, Touched(tuple(changes)), replace(runs, flaky=shaky), SuiteFiles(TASK.files))
    evidence = Evidence("c", "t", "b", "pytest", "full", flaky=tuple(shaky), problems=found)
    note = "; ".join(problem.text for problem in found[:3])
    return lambda _: DayFailure(TASK.id, how, note, evidence)


FINDING = Finding("app.py", 2, Severity.HIGH, "model", "correctness", "timed out: what about negative numbers?")


def lacking(*texts: str) -> Make:
    """A change is red, and its tests failed like this."""

    def make(folder: Path) -> DayFailure:
        red = RED(folder)
        assert red.evidence
        failures = tuple(Failure(f"tests/test_app.py::test_{n}", "", text) for n, text in enumerate(texts))
        return replace(red, evidence=replace(red.evidence, failures=failures))

    return make


def waits(**more: Any) -> Make:
    plain = ReviewState("c", "s", True, True, True)
    step = next_step(replace(plain, **more), Policy())
    assert isinstance(step, AskOwner)
    return lambda _: DayFailure(TASK.id, "waits", "\n".join(step.reasons), more.get("evidence"))


def guarded(_: Path) -> DayFailure:
    step = next_step(ReviewState("c", "s", True, True, True, guarded=("settings.py",)), Policy())
    assert isinstance(step, Fail)
    last = DayFailure(TASK.id, "sent back", step.why)
    return DayFailure(TASK.id, "given up", step.why, before=(last,))


def same_again(runs: Make) -> Make:
    """The correction gave the same result: the end has the words of the gate, the evidence is the attempt's."""

    def make(folder: Path) -> DayFailure:
        evidence = replace(runs(folder).evidence or Evidence("", "", "", "", ""))
        known = frozenset({fingerprint(evidence, None)})
        step = next_step(ReviewState("c", "s", True, True, True, evidence=evidence, fingerprints=known), Policy())
        assert isinstance(step, Fail)
        return DayFailure(TASK.id, "given up", step.why, before=(DayFailure(TASK.id, "sent back", step.why, evidence),))

    return make


class Nothing:
    """A box in which every command ends like this, and a mirror that checks nothing out."""

    def __init__(self, done: Finished) -> None:
        self.done = done

    def run(self, _job: Job, _stop: object = None) -> Finished:
        return self.done

    def check_out_all(self, *_: object) -> None: ...
    def base_run(self, _key: str) -> None: ...
    def tree(self, _sha: str) -> Sequence[Any]:
        return ()

    def tree_id(self, sha: str) -> str:
        return sha

    def label(self, _commit: str) -> str:
        return "a box"


def not_installed(end: End, code: int = 1) -> Make:
    def make(folder: Path) -> DayFailure:
        doors: Any = Nothing(Finished(code, b"it took more than 1024 MB of memory", b"", end, 1.0))
        setup = Setup("demo", Path(sys.executable), packages=folder)
        (place := folder / "place").mkdir()
        with pytest.raises((BrokenSetup, Unavailable)) as why:
            Builder(doors, doors, setup).build("commit", "pip install -e .", place)
        return DayFailure(TASK.id, "not begun", str(why.value))

    return make


def missing(act: Callable[[Path], object]) -> Make:
    """What everybody needs is not there."""

    def make(folder: Path) -> DayFailure:
        with pytest.raises((Misconfigured, Unavailable)) as why:
            act(folder)
        return DayFailure("", "not begun", str(why.value))

    return make


def box_that_does_not_start(folder: Path) -> None:
    (bwrap := folder / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    bwrap.chmod(0o700)
    Bubblewrap(folder, f"{folder}:{PROGRAMS}").run(Job(("true",)))


def interrupted(_: Path) -> None:
    doors: Any = Nothing(Finished(0, b"", b"", "machine", 1.0))
    branch = Branch("agent/x", "base", "commit")
    subject = Subject(Run(1, "qa", "2026-11-20"), branch, Suites("pytest"), Touched(()), SuiteFiles(()))
    Gathering(doors, doors, doors, doors, subject).base()


def index_away(folder: Path) -> None:
    """As pip would ask for it, while the index does not answer."""

    def dial(*_: object) -> NoReturn:
        raise OSError("no route to host")

    with IndexProxy(folder / "index.sock", way=dial) as index, socket.socket(socket.AF_UNIX) as line:
        line.connect(str(index.place))
        line.sendall(b"CONNECT pypi.org:443 HTTP/1.1\r\n\r\n")
        line.recv(100)
        raise Unavailable(index.unreached)


def closed_by_owner(_: Path) -> DayFailure:
    doors: Any = Closed()
    with pytest.raises(Refused) as why:
        Delivery(doors, doors, doors, str).deliver(TASK, 1, Branch("agent/x", "b", "c"), PullFacts("main", "", 0), NOON)
    last = DayFailure(TASK.id, "failed", str(why.value))
    return DayFailure(TASK.id, "given up", last.note, before=(last,))


class Closed:
    """A journal, a mirror and a forge: the push is done, the pull request was closed by the owner."""

    number, state = 7, "closed"

    def intend(self, *_: object) -> bool:
        return True

    def has_closed(self, *_: object) -> bool:
        return False

    def find_pull(self, *_: object) -> Closed:
        return self


def disturbed(_: Path) -> DayFailure:
    found = judge(EngineRun("crashed", "timed out", (), "", 1.0), [])
    assert isinstance(found, Disturbed)
    return DayFailure(TASK.id, "lost", found.reason)


def used_up(*tries: Make, **tried: Any) -> Make:
    def make(folder: Path) -> DayFailure:
        before = tuple(one(folder) for one in tries)
        why = f"given up after {len(before)} attempts: {Tried(**tried).exhausted(TaskLimits())}"
        return DayFailure(TASK.id, "given up", "; ".join((why, *(one.note for one in before))), before=before)

    return make


def twice(make: Make) -> Make:
    return lambda folder: replace(make(folder), before=(make(folder),))


def said(how: How, note: str) -> Make:
    return lambda _: DayFailure(TASK.id, how, note)


RED = judged(Runs(BASE, ran(a="failed", b="passed")))
OTHER_RED = judged(Runs(BASE, ran(a="passed", b="failed")))
NEW_RED = judged(Runs(BASE, ran(a="passed", b="passed", new="failed")))
NEW_FLAKY = judged(Runs(BASE, ran(a="passed", b="passed", new="failed")), flaky=["new"])
OLD_FLAKY = judged(Runs(BASE, ran(a="failed", b="passed")), "waits", flaky=["a"])
SLOW = ended("timed out")
STUCK = said("failed", "nothing happened for 6 minutes: no output, no file, no model call")
REPLY = "timed out: nothing happened for 6 minutes"
REFUSED = decide(Ask("m", Rates(1, 1, 1, 1, 1), "v", 9, 9), [CapUsage("task", NANO, NANO)], 1)
TOO_DEAR = REFUSED.text if isinstance(REFUSED, Refusal) else ""

TABLE = [
    # the coder's
    pytest.param(RED, CODER, id="a test fails that passed on the base"),
    pytest.param(NEW_RED, CODER, id="a new test fails"),
    pytest.param(judged(Runs(BASE, ran("timed out", a="passed"))), CODER, id="only with the change tests have no end"),
    pytest.param(
        judged(Runs(BASE, ran(a="failed", b="failed")), flaky=["a"]), CODER, id="a flaky test, and one that is not"
    ),
    pytest.param(
        judged(Runs(BASE, ran(a="failed", b="passed", new="failed")), flaky=["new"]), CODER, id="a new one is flaky too"
    ),
    pytest.param(said("sent back", verdict_line(ChangesRequested((FINDING,)))), CODER, id="the reviewer's findings"),
    pytest.param(said("sent back", "conflicts with what is on main now: app.py"), CODER, id="a conflict"),
    pytest.param(said("sent back", "it was merged, deployed and rolled back: staging: 500"), CODER, id="rolled back"),
    pytest.param(STRAYS, CODER, id="it strayed from the task once"),
    pytest.param(refused(Change("app.py", "modified", "100644", "120000")), CODER, id="a link"),
    pytest.param(committed(NothingChanged()), CODER, id="nothing was changed"),
    pytest.param(ended(code=aider_launcher.EDITS_FAILED, result={}), CODER, id="edits that do not fit"),
    pytest.param(
        ended(code=aider_launcher.NO_EDITS, result={"reply": REPLY}),
        WISHES,
        id="words instead of a change, and what they say is no fact",
    ),
    pytest.param(used_up(RED, RED, RED, RED, sent_back=4), CODER, id="the same test till the end"),
    pytest.param(same_again(RED), CODER, id="the same result twice"),
    # the planner's or the owner's
    pytest.param(twice(STRAYS), WISHES, id="it needs a file that the task does not name"),
    pytest.param(
        twice(refused(Change("app.py", "modified", "100644", "100644"), scope=Scope(guards=("app.py",)))),
        WISHES,
        id="it needs a file that the owner guards",
    ),
    pytest.param(
        refused(Change("app.py", "added", "", "100644"), tracked=()), WISHES, id="what it is to edit is not there"
    ),
    pytest.param(unfit(None), WISHES, id="a file that the task names is not there"),
    pytest.param(unfit(b"\xff"), WISHES, id="a file that is no text"),
    pytest.param(unfit(b"x", ".env"), WISHES, id="a file of keys"),
    pytest.param(closed_by_owner, WISHES, id="its pull request was closed by the owner"),
    pytest.param(guarded, WISHES, id="what the owner has said not to touch"),
    pytest.param(said("rejected", "it has to round, too"), WISHES, id="rejected by the owner, who says why"),
    pytest.param(said("rejected", "closed by the owner"), WORD, id="its pull request is closed, nobody knows why"),
    pytest.param(said("rejected", ""), WORD, id="rejected without a reason"),
    pytest.param(lacking("socket.gaierror: [Errno -2] Name or service not known"), OWNER, id="there is no network"),
    pytest.param(lacking("DockerException: Error", "KeyError: 'x'"), CODER, id="no Docker, and a fault of its own"),
    pytest.param(metered(call(stop="refusal")), WISHES, id="the model declined"),
    pytest.param(used_up(RED, OTHER_RED, NEW_RED, RED, sent_back=4), WISHES, id="another test each time"),
    pytest.param(used_up(RED, SLOW, SLOW, SLOW, failed=3), WISHES, id="of different kinds"),
    # the owner's
    pytest.param(not_installed("exited"), OWNER, id="the set-up failed"),
    pytest.param(not_installed("timed out", -9), OWNER, id="the set-up took too long"),
    pytest.param(not_installed("machine", -9), OWNER, id="the machine is full"),
    pytest.param(missing(index_away), AWAY, id="the package index is away"),
    pytest.param(missing(interrupted), OWNER, id="the tests were interrupted by a full machine"),
    pytest.param(missing(lambda folder: find_box(folder, "/nowhere")), OWNER, id="no sandbox"),
    pytest.param(missing(lambda folder: Bubblewrap(folder, "/nowhere")), OWNER, id="no sandbox any more"),
    pytest.param(missing(box_that_does_not_start), OWNER, id="a sandbox that does not start"),
    pytest.param(
        missing(lambda _: require((SandboxCheck("a file", False),))), OWNER, id="a sandbox that does not hold"
    ),
    pytest.param(missing(lambda _: aider_python("/nowhere/python")), OWNER, id="no engine"),
    pytest.param(missing(Database), OWNER, id="the database cannot be written"),
    pytest.param(disturbed, OWNER, id="the engine did not start: lost"),
    pytest.param(said("lost", "cut off before it led to a commit"), AWAY, id="the machine died under it"),
    pytest.param(ended("machine", -9), OWNER, id="no memory or disk left"),
    pytest.param(ended(code=aider_launcher.API_ERROR, result={}), AWAY, id="what the vendor said of a request"),
    pytest.param(ended(code=1), OWNER, id="the engine crashed"),
    pytest.param(metered(call("refused", code="meter_unknown_model")), OWNER, id="the meter knows no such model"),
    pytest.param(metered(call("lost", "")), AWAY, id="no complete answer"),
    pytest.param(waits(checks_begun=3), OWNER, id="its tests come to no end, nobody knows why"),
    pytest.param(judged(Runs(ran("no report"), BASE), "waits"), OWNER, id="the tests of the base come to no end"),
    pytest.param(used_up(*[disturbed] * 5, lost=5), OWNER, id="lost five times"),
    pytest.param(
        lambda _: DayFailure(TASK.id, "given up", str(moved("agent/x", "ab12"))),
        OWNER,
        id="somebody moved its branch",
    ),
    # QA's
    pytest.param(NEW_FLAKY, QA, id="a new test fails now and then"),
    pytest.param(OLD_FLAKY, QA, id="an old test failed, then passed"),
    pytest.param(same_again(NEW_FLAKY), QA, id="the same flaky test twice"),
    # smaller tasks
    pytest.param(SLOW, SMALLER, id="a run that took too long"),
    pytest.param(STUCK, SMALLER, id="nothing happened, in the books of an earlier version"),
    pytest.param(said("lost", nothing_happened(job(Path()))), Cause.ENVIRONMENT, id="nothing happened"),
    pytest.param(ended("memory", -9), SMALLER, id="too much memory"),
    pytest.param(ended("processes", -9), SMALLER, id="too many processes"),
    pytest.param(ended("output", -9), SMALLER, id="too much printed"),
    pytest.param(ended(code=aider_launcher.TOKEN_LIMIT, result={}), SMALLER, id="too long for the model"),
    pytest.param(metered(call(stop="max_tokens")), SMALLER, id="a longer answer than max_tokens"),
    pytest.param(metered(call(stop="max_tokens", clamped=True)), MONEY, id="a longer answer than its budget allowed"),
    pytest.param(metered(call("refused", code="meter_call_cap")), SMALLER, id="too many calls"),
    pytest.param(metered(replace(call("refused", code="meter_task_cap"), note=TOO_DEAR)), MONEY, id="the task's money"),
    pytest.param(used_up(RED, minutes=240), SMALLER, id="the task's minutes"),
    pytest.param(used_up(RED, OTHER_RED, tokens=3_000_000), SMALLER, id="the task's tokens"),
    pytest.param(used_up(SLOW, STUCK, SLOW, failed=3), SMALLER, id="limit after limit"),
]


# --- the classification ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "cause"), TABLE)
def test_what_the_program_writes_of_a_failure_has_this_cause(make: Make, cause: Cause, tmp_path: Path) -> None:
    failure = make(tmp_path)
    assert classify(failure) is cause, failure.note


def test_each_cause_has_somebody_whose_turn_it_is() -> None:
    assert [(cause.value, cause.turn) for cause in Cause] == [
        ("implementation", "coder"),
        ("specification", "planner or owner"),
        ("environment", "owner"),
        ("flaky test", "QA"),
        ("time limit", "planner"),
        ("budget", "owner"),
        ("outage", "nobody"),
        ("your word", "nobody"),
    ]


def test_each_phrase_is_written_by_the_program_somewhere(tmp_path: Path) -> None:
    """One that no case begins with is none any more: the table has to follow the program."""
    notes = []
    for number, one in enumerate(TABLE):
        (place := tmp_path / str(number)).mkdir()
        failure = one.values[0](place)  # type: ignore[operator]
        notes += [note for each in (failure, *failure.before) for note in each.note.split("\n")]
    unwritten = {phrase for _, phrase in KNOWN if not any(map(phrase.match, notes))}
    told_in_stories = {"the forge does not take ", "the target cannot be laid out: "}  # of such days
    assert {phrase.pattern for phrase in unwritten} == told_in_stories


def test_an_attempt_that_ended_because_the_team_was_stopped_has_words_of_its_own() -> None:
    assert judge(EngineRun("crashed", "", (), "", 1.0), [call("lost", "", "meter_stopping")]) == Disturbed(STOPPED)


def test_what_waits_for_the_owner_for_another_reason_is_no_failure() -> None:
    asked = Evidence("c", "t", "b", "", "", problems=(Problem("a test is gone", "it is gone", "ask owner"),))
    assert (
        undecided(DayFailure("t", "waits", "it changes settings.py, which is never merged without you", asked)) is None
    )


TEXTS = st.one_of(
    st.text(),
    st.sampled_from([phrase.pattern for _, phrase in KNOWN]),
    st.builds("{}{}".format, st.sampled_from(["crashed: ", "timed out", "the change was refused: ", "a: "]), st.text()),
)
EVIDENCE = st.builds(
    lambda flaky, found: Evidence("c", "t", "b", "", "", flaky=tuple(flaky), problems=tuple(found)),
    st.lists(st.sampled_from("ab")),
    st.lists(
        st.builds(
            Problem,
            st.sampled_from(["no evidence", "an old test is flaky now", "a test fails", "?"]),
            TEXTS,
            st.sampled_from(["correct", "write tests", "ask owner"]),
            st.lists(st.sampled_from("abc")).map(tuple),
        )
    ),
)
TRIES = st.builds(DayFailure, st.text(), st.sampled_from(get_args(How)), TEXTS, st.none() | EVIDENCE)
FAILURES = st.builds(
    DayFailure,
    st.text(),
    st.sampled_from(get_args(How)),
    TEXTS,
    st.none() | EVIDENCE,
    st.lists(TRIES, max_size=4).map(tuple),
)


@given(FAILURES, st.text())
def test_every_failure_has_a_cause_whatever_it_says_and_whoevers_it_is(failure: DayFailure, name: str) -> None:
    cause = classify(failure)
    assert cause in Cause
    assert classify(replace(failure, task=name)) is cause
    if failure.how in ("sent back", "failed") and failure.evidence and failure.evidence.is_red:
        assert cause in (CODER, QA), "red tests are never put down to words"


@given(st.text(min_size=1), st.sampled_from(["\ud800", "\0", "\x1b[31m", "", "\n"]))
def test_what_stands_behind_our_own_words_changes_nothing(text: str, odd: str) -> None:
    """A test's output, a model's answer: they cannot choose whose turn it is."""
    said = cannot_be_done("")
    for cause, begin in ((CODER, "no edits: the model answered without an edit: "), (WISHES, said)):
        hostile = f"{begin}{odd}{text}; timed out; nothing happened for 6 minutes: the tests of x have no environment: "
        assert classify(DayFailure("t", "failed", hostile)) is cause


# --- the weeks ---------------------------------------------------------------------------------------------------


def at(day: str) -> str:
    return f"{day}T12:00:00+00:00"


E = Event


@pytest.mark.parametrize(
    ("happened", "found"),
    [
        pytest.param([("2026-11-20", E.MERGED)], {"2026-11-16": "merged"}, id="merged"),
        pytest.param([("2026-11-20", E.STARTED), ("2026-11-20", E.STUMBLED)], {}, id="not over"),
        pytest.param([("2026-11-16", E.EXHAUSTED), ("2026-11-22", E.RETRIED)], {}, id="retried in the same week"),
        pytest.param(
            [("2026-11-16", E.EXHAUSTED), ("2026-11-18", E.RETRIED), ("2026-11-22", E.MERGED)],
            {"2026-11-16": "merged"},
            id="failed, then merged: it counts once",
        ),
        pytest.param(
            [("2026-11-22", E.EXHAUSTED), ("2026-11-23", E.RETRIED), ("2026-11-24", E.MERGED)],
            {"2026-11-16": "attempts used up", "2026-11-23": "merged"},
            id="another week, another end: what is over stays as it was",
        ),
        pytest.param([("2026-11-17", E.MERGED), ("2026-11-18", E.SICK)], {}, id="taken back where it was deployed"),
        pytest.param(
            [("2026-11-17", E.MERGED), ("2026-11-24", E.SICK)], {"2026-11-16": "merged"}, id="taken back a week later"
        ),
        pytest.param(
            [("2026-11-17", E.MERGED), ("2026-11-18", E.DELETED)],
            {"2026-11-16": "merged"},
            id="its file was tidied away",
        ),
        pytest.param(
            [("2026-11-17", E.EXHAUSTED), ("2026-11-18", E.DONE_BY_OWNER)],
            {"2026-11-16": "attempts used up"},
            id="the owner did it himself",
        ),
        pytest.param([("2026-11-17", E.GOAL_REMOVED)], {}, id="not wanted any more"),
    ],
)
def test_a_week_counts_a_task_as_it_left_it(happened: list[tuple[str, Event]], found: dict[str, str]) -> None:
    ends = ends_by_week((at(day), event) for day, event in happened)
    assert {monday.isoformat(): str(event) for monday, (_, event) in ends.items()} in (
        found,
        {monday: {"attempts used up": str(E.EXHAUSTED)}.get(end, end) for monday, end in found.items()},
    )


def test_of_every_short_history_each_week_counts_one_end_at_most() -> None:
    """All walks of five events through the lifecycle, all in one week."""
    after = {state: [(event, row.to) for (at_, event), row in TRANSITIONS.items() if at_ is state] for state in State}
    walks: list[tuple[list[Event], State]] = [([], State.BACKLOG)]
    for _ in range(5):
        walks = [([*events, event], to) for events, state in walks for event, to in after[state]]
        for events, state in walks:
            ends = ends_by_week((at("2026-11-20"), event) for event in events)
            if state is State.COMPLETED and events[-1] is E.MERGED:
                assert [event for _, event in ends.values()] == [E.MERGED]
            if state in (State.BACKLOG, State.IN_PROGRESS, State.IN_REVIEW):
                assert not ends, events


@pytest.mark.parametrize(
    ("day", "monday", "number"),
    [
        pytest.param("2026-12-31", "2026-12-28", 53, id="the old year's last day"),
        pytest.param("2027-01-01", "2026-12-28", 53, id="the new year's first day: the same week"),
        pytest.param("2027-01-03", "2026-12-28", 53, id="its Sunday"),
        pytest.param("2027-01-04", "2027-01-04", 1, id="the next one"),
        pytest.param("2024-12-30", "2024-12-30", 1, id="a week that belongs to the new year"),
        pytest.param("2028-02-29", "2028-02-28", 9, id="a leap day"),
    ],
)
def test_a_week_is_one_week_also_at_the_turn_of_the_year(day: str, monday: str, number: int) -> None:
    assert monday_of(day) == date.fromisoformat(monday)
    assert Week(monday_of(day), ()).number == number


@pytest.mark.parametrize(
    ("zone", "begin", "hours"),
    [
        pytest.param("Europe/Berlin", datetime(2026, 3, 29, 0, 30), 23, id="summer time begins on a Sunday"),
        pytest.param("Europe/Berlin", datetime(2026, 10, 25, 0, 30), 25, id="and ends on one"),
        pytest.param("America/Los_Angeles", datetime(2026, 11, 1, 0, 30), 25, id="elsewhere"),
        pytest.param("Pacific/Auckland", datetime(2026, 4, 5, 0, 30), 25, id="far away"),
    ],
)
def test_summer_time_moves_nothing_into_another_week(zone: str, begin: datetime, hours: int) -> None:
    """Each hour of that Sunday is in its week, the first of Monday in the next, as the owner's clock shows it."""
    first = begin.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    shown = [(first + timedelta(hours=hour)).astimezone(ZoneInfo(zone)).isoformat() for hour in range(hours + 1)]
    sunday = begin.date()
    assert [monday_of(one) for one in shown] == [sunday - timedelta(days=6)] * hours + [sunday + timedelta(days=1)]


TODAY = "2026-11-20"  # a Friday in week 47


def end(day: str, merged: bool = True, back: int = 0, cost: int = 0, minutes: float = 0, tokens: int = 0) -> TaskEnding:
    return TaskEnding(f"t-{day}-{back}-{cost}", day, merged, back, cost, minutes, tokens)


def test_four_weeks_are_looked_at_and_only_those_with_work() -> None:
    days = ["2026-10-25", "2026-10-26", "2026-11-08", "2026-11-16", "2026-11-20", "2026-11-21"]
    found = weeks([end(day) for day in days], [], TODAY)
    assert [(week.number, week.tally.tasks) for week in found] == [(47, 2), (45, 1), (44, 1)]


def test_the_figures_of_a_week_are_those_of_a_hand() -> None:
    endings = [end("2026-11-16", True, 1, 100, 10, 1_000), end("2026-11-17", True, 0, 300, 20, 3_000)]
    endings += [end("2026-11-18", False, 9, 9_999, 999, 99_999), end("2026-11-13", True, 7, 7, 7, 7)]
    burnt = [Burnt("2026-11-16", "coder", 750), Burnt("2026-11-17", "planner", 150), Burnt("2026-11-20", "qa", 100)]
    burnt += [Burnt("2026-11-15", "planner", 5), Burnt("2026-11-21", "planner", 9)]  # last week's, tomorrow's
    week, before = weeks(endings, burnt, TODAY)
    assert (len(week.merged), week.tally.tasks, week.tally.success) == (2, 3, 2 / 3)
    assert [week.each(what) for what in ("sent_back", "cost", "minutes", "tokens")] == [0.5, 200, 15, 2_000]
    assert week.orchestration == 0.25
    assert (before.tally.success, before.each("sent_back"), before.orchestration) == (1.0, 7, 1.0)


def test_a_week_without_a_merge_has_no_average_and_no_division_by_nothing() -> None:
    (week,) = weeks([end(TODAY, False)], [], TODAY)
    assert (week.tally.success, week.each("cost"), week.orchestration) == (0.0, None, None)


@given(st.lists(st.tuples(st.dates(date(2026, 10, 1), date(2026, 12, 31)), st.booleans())))
def test_no_ending_is_counted_twice_and_none_of_the_four_weeks_is_lost(found: list[tuple[date, bool]]) -> None:
    counted = weeks([end(day.isoformat(), merged) for day, merged in found], [], TODAY)
    of_them = [day for day, _ in found if date(2026, 10, 26) <= day <= date(2026, 11, 20)]
    assert sum(week.tally.tasks for week in counted) == len(of_them)
    assert [week.monday for week in counted] == sorted({monday_of(day.isoformat()) for day in of_them}, reverse=True)


# --- the section -------------------------------------------------------------------------------------------------


def week(merged: int, ended: int, monday: str = "2026-11-16", **more: Any) -> Week:
    endings = [replace(end(monday, **more), task=str(n), merged=n < merged) for n in range(ended)]
    return Week(date.fromisoformat(monday), tuple(endings))


def told(*setbacks: ClassifiedFailure, week: Week | None = None, before: Sequence[Week] = ()) -> list[str]:
    return list(how_it_goes(Reflection(setbacks, week, tuple(before))))


EARLIER, LONG_AGO = week(3, 5, "2026-11-09"), week(1, 2, "2026-11-02")


def test_nothing_to_tell_is_no_line() -> None:
    assert told() == [] == told(before=[EARLIER])
    assert list(in_one_line(Reflection(before=(EARLIER,)))) == []


def test_each_cause_names_its_tasks_and_whose_turn_it_is() -> None:
    assert told(
        ClassifiedFailure("b", OWNER),
        ClassifiedFailure("a", CODER),
        ClassifiedFailure("c", CODER, "mended"),
        ClassifiedFailure("d", SMALLER, "given up"),
    ) == [
        "implementation → the coder's turn: `a`, `c` (mended)",
        "environment → your turn: `b`",
        "time limit → the planner's turn: smaller tasks: `d` (given up)",
    ]


def test_what_is_mended_or_rejected_is_nobodys_turn() -> None:
    assert told(ClassifiedFailure("a", CODER, "mended"), ClassifiedFailure("b", WISHES, "rejected")) == [
        "implementation: `a` (mended)",
        "specification: `b` (rejected)",
    ]


def test_an_outage_is_nobodys_turn() -> None:
    assert told(ClassifiedFailure("a", AWAY)) == ["outage: `a`"]


def test_what_stops_everybody_names_no_task() -> None:
    assert told(ClassifiedFailure("", OWNER)) == ["environment → your turn: all tasks"]


def test_of_many_tasks_the_rest_is_counted() -> None:
    (line,) = told(*(ClassifiedFailure(str(n), QA) for n in range(9)))
    assert line == "flaky test → QA's turn: `0`, `1`, `2`, `3`, `4`, and 4 more"


@pytest.mark.parametrize(
    ("now", "before", "line"),
    [
        pytest.param(week(7, 9), EARLIER, "merged 7 of 9 this week (78 %, ↑ from 60 %)", id="better"),
        pytest.param(week(2, 9), EARLIER, "merged 2 of 9 this week (22 %, ↓ from 60 %)", id="worse"),
        pytest.param(week(6, 10), EARLIER, "merged 6 of 10 this week (60 %, as before)", id="the same"),
        pytest.param(week(7, 9), None, "merged 7 of 9 this week (78 %)", id="the first week"),
        pytest.param(week(1, 2), None, "merged 1 of 2 tasks this week", id="few tasks have no percentage"),
        pytest.param(week(2, 2), LONG_AGO, "merged 2 of 2 tasks this week (↑ from 1 of 2)", id="few, and few before"),
        pytest.param(week(0, 1), LONG_AGO, "merged 0 of 1 tasks this week (↓ from 1 of 2)", id="nothing"),
    ],
)
def test_what_was_merged_is_compared_with_the_week_before(now: Week, before: Week | None, line: str) -> None:
    earlier = [before] if before else []
    assert told(week=now, before=earlier)[0] == line
    assert list(in_one_line(Reflection((), now, tuple(earlier)))) == [line]


def test_the_month_stands_beside_the_week_and_alone_where_the_week_has_ended_nothing_yet() -> None:
    month = Tally(20, 14)
    assert list(in_one_line(Reflection((), week(1, 2), (), month))) == [
        "merged 1 of 2 tasks this week, 14 of 20 this month"
    ]
    assert list(in_one_line(Reflection((), None, (), month))) == ["merged 14 of 20 this month"]


@pytest.mark.parametrize(
    ("happened", "found"),
    [
        pytest.param([("2026-11-01", E.MERGED)], Tally(1, 1), id="merged"),
        pytest.param([("2026-10-31", E.MERGED)], Tally(), id="in another month"),
        pytest.param([("2026-11-30", E.EXHAUSTED)], Tally(1, 0), id="given up"),
        pytest.param([("2026-11-02", E.EXHAUSTED), ("2026-11-27", E.MERGED)], Tally(1, 1), id="it counts once"),
        pytest.param([("2026-11-02", E.MERGED), ("2026-11-27", E.SICK)], Tally(), id="taken back three weeks later"),
        pytest.param([("2026-11-30", E.MERGED), ("2026-12-01", E.SICK)], Tally(1, 1), id="and in the next month"),
    ],
)
def test_a_month_counts_a_task_as_it_left_it(happened: list[tuple[str, Event]], found: Tally) -> None:
    lives = [[(at(day), event) for day, event in happened], [(at("2026-11-20"), E.STARTED)]]
    assert ended_in("2026-11", lives) == found


@pytest.mark.parametrize(
    ("day", "first"),
    [
        pytest.param("2026-11-20", "2026-10-26", id="three weeks before this one"),
        pytest.param("2026-11-30", "2026-11-01", id="the month, late in it"),
    ],
)
def test_a_report_looks_at_the_weeks_before_and_at_the_whole_month(day: str, first: str) -> None:
    assert looked_from(day) == first


def test_each_merged_task_has_its_rounds_cost_minutes_and_tokens() -> None:
    now = replace(week(1, 2, back=1, cost=NANO // 2, minutes=12, tokens=48_000), tokens=1_000, arranging=180)
    before = replace(week(1, 1, "2026-11-09", back=3, cost=NANO, minutes=12.2, tokens=9_000), tokens=100, arranging=15)
    assert told(week=now, before=[before])[1] == (
        "per merged task (of 1) sent back 1.0 times (↓ from 3.0), $0.50 (↓ from $1.00), 12 minutes (as before),"
        " 48,000 tokens (↑ from 9,000); 18 % of the week's tokens for orchestration (↑ from 15 %)"
    )


def test_the_weeks_before_stand_in_one_line_with_how_many_they_were() -> None:
    assert told(week=week(7, 9), before=[EARLIER, LONG_AGO])[-1] == (
        "the weeks before: 3 of 5 (60 %) in week 46, 1 of 2 in week 45"
    )


def test_it_is_never_more_than_six_lines_and_no_cause_is_left_out() -> None:
    for number, size in product(range(1, 6), range(4)):
        setbacks = [ClassifiedFailure(f"t{n}", cause) for n, cause in enumerate(list(Cause)[:number])]
        lines = told(*setbacks, week=week(7, 9) if size else None, before=[EARLIER, LONG_AGO, LONG_AGO][:size])
        assert len(lines) <= MOST_LINES
        assert all(f"`t{n}`" in "\n".join(lines) for n in range(number))


def test_every_turn_and_every_standing_has_words() -> None:
    assert {cause.turn for cause in Cause} <= set(TURN_WORDS)
    for cause, standing in product(Cause, get_args(Standing)):
        assert "`t`" in told(ClassifiedFailure("t", cause, standing))[0]


def test_the_same_setback_counts_once() -> None:
    found = reflected(
        [ClassifiedFailure("a", CODER), ClassifiedFailure("a", CODER), ClassifiedFailure("a", SMALLER)],
        [EARLIER],
        Tally(),
        TODAY,
    )
    assert len(found.setbacks) == 2
    assert (found.week, found.before) == (None, (EARLIER,))


def test_words_that_are_not_ours_have_no_cause() -> None:
    assert by_words("E   TimeoutError: timed out") is None
