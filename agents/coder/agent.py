"""TaskSpec -> Branch. Checks out the base, lets the engine work in a box, judges, and commits what it may."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import assert_never

from sisimpur.agents.coder.engine.engine import Engine, EngineJob, EngineRun, never
from sisimpur.agents.coder.judge import (
    Away,
    Broke,
    Disturbed,
    InWords,
    NoMoney,
    NoShare,
    TurnedDown,
    Worked,
    judge,
    pulse,
)
from sisimpur.agents.coder.showing import (
    Formats,
    carry_out,
    keep_form,
    run_and_show,
    texts,
    unformatted,
    with_fixtures,
    with_views,
    words_of,
)
from sisimpur.shared.llm.prompts import Prompts, quoted
from sisimpur.shared.model.change import Change, marks_tests
from sisimpur.shared.model.errors import Misconfigured, ModelAway, OutOfBudget, Refused, Unavailable
from sisimpur.shared.model.naming import attempt_ref, branch_name
from sisimpur.shared.model.scope import Scope
from sisimpur.shared.model.work import (
    Branch,
    CodeAnswer,
    Coded,
    CoderSaid,
    Correction,
    Difficulty,
    ModelChoice,
    NotCoded,
    Run,
    TaskSpec,
)
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.savings import ENOUGH, LedgerSavings, Route, choose, number_of, pays
from sisimpur.shared.money.ticket import TicketOrder
from sisimpur.shared.money.token_budget import room
from sisimpur.shared.repo.commit_text import task_text
from sisimpur.shared.repo.committer import Committed, Committer, NothingChanged
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.log import Log
from sisimpur.shared.system.paths import remove_folder

LEFT_OVER = timedelta(seconds=60)  # a ticket outlives its run by this much, no more


@dataclass(frozen=True)
class CoderLimits:
    """Limits of one run: nano-dollars, seconds, model calls, seconds that a call may be repeated; and the paths.

    `stall`: seconds in which nothing happens; 0: as long as it likes.
    """

    budget: int
    seconds: int
    calls: int
    retry_s: float
    allow: Sequence[str]
    stall: float = 0


@dataclass(frozen=True)
class CoderTickets:
    """A ticket for each run of an engine: what it may spend, on which model.

    `route`: which model a run asks. `longest`: tokens of the longest recent answer to an agent by a model.
    """

    ledger: Ledger
    route: Callable[[Run, TaskSpec, Correction | None], Route]
    limits: CoderLimits
    clock: Clock
    longest: Callable[[str, str], int] = lambda *_: 0

    def open(self, run: Run, route: Route) -> str:
        limits = self.limits
        now = self.clock.now()
        order = TicketOrder(
            run,
            limits.budget,
            (route.model.model,),
            now + timedelta(seconds=limits.seconds) + LEFT_OVER,
            max_calls=limits.calls,
            retry_s=limits.retry_s,
            beside=route.beside,
        )
        return self.ledger.open_ticket(order, now)

    def close(self, token: str) -> None:
        self.ledger.close_ticket(token, self.clock.now())

    def fitted(self, agent: str, model: ModelChoice) -> ModelChoice:
        """Give its answers the room that such answers need: each call reserves all of it."""
        return replace(model, max_tokens=room(self.longest(agent, model.model), model.max_tokens))

    def was_cut(self, token: str) -> bool:
        """Tell whether the last answer had too little room, and the budget had more."""
        calls = self.ledger.calls_of(token)
        return bool(calls) and calls[-1].stop_reason == "max_tokens" and not calls[-1].clamped

    def pulse(self, token: str) -> object:
        """Another answer than before means that something happens."""
        try:
            return pulse(self.ledger.calls_of(token))
        except Unavailable:  # whoever cannot look does not say that nothing happens
            return object()


@dataclass(frozen=True)
class _TellingEngine:
    """An engine whose refused writes are told at once: before there is a commit, which is all that a kill may leave."""

    engine: Engine
    tell: Callable[[Sequence[str]], None]

    @property
    def name(self) -> str:
        return self.engine.name

    def run(self, job: EngineJob, stop: Callable[[], bool] = never) -> EngineRun:
        done = self.engine.run(job, stop)
        if done.refused:
            self.tell(done.refused)
        return done


@dataclass(frozen=True)
class Coder:
    """`refused`: keeps what the engine of an attempt wanted to write and may not. `formats`: see `keep_form`."""

    engine: Engine
    mirror: Mirror
    committer: Committer
    tickets: CoderTickets
    prompts: Prompts
    log: Log
    refused: Callable[[Run, Sequence[str]], None]
    formats: Formats = unformatted

    def code(
        self,
        run: Run,
        task: TaskSpec,
        base: str,
        folder: Path,
        correction: Correction | None = None,
        lessons: Sequence[str] = (),
    ) -> CodeAnswer:
        """A commit at refs/attempts/<task>.a<n> on top of `base`, the coder's word against it, or why there is none.

        `folder` is fresh and belongs to this attempt alone. `correction`: what it goes on from; still one commit.
        `lessons`: of earlier work, one line each.
        OutOfBudget: a cap of the day or month stopped it, or that of upkeep. Unavailable: what the engine
        needs was not there; the task is not to blame. Stopping: see Stoppable.
        """
        start = correction.start if correction and correction.start else base
        self.mirror.check_out(start, folder)
        route = self.tickets.route(run, task, correction)
        token = self.tickets.open(run, route)
        try:
            asked = correction.tests if correction and correction.tests else task
            earlier = () if asked is not task else [change.path for change in self._before(base, correction)]
            asked = with_fixtures(asked, folder)
            job = self._job(asked, self._message(asked, correction, lessons), folder, token, route, earlier)
            job = with_views(job, words_of(asked, correction, self._patch(base, correction)))
            before = texts(job)
            told = self._worked(job, start, run, self._telling(run, task))
        except Refused as reason:
            return NotCoded(str(reason), retry=False)
        finally:
            self.tickets.close(token)
        self.log(run, "engine", model=route.model.model, end=told.end, detail=told.detail, output=told.output)
        try:
            trouble = self._trouble(carry_out(job, told, before), token)
        except Refused as reason:
            return NotCoded(str(reason))
        if not trouble:
            keep_form(job, before, self.formats)
        return trouble or self._commit(run, task, base, job, correction)

    def _telling(self, run: Run, task: TaskSpec) -> Engine:
        """What is written beside a task, and is no part of its change, says nothing about that."""
        aside = run.task != task.id
        return self.engine if aside else _TellingEngine(self.engine, lambda paths: self.refused(run, paths))

    def _worked(self, job: EngineJob, start: str, run: Run, engine: Engine) -> EngineRun:
        """Once more, on fresh files and with all the room there is, if an answer was cut or the engine killed.

        Half an answer is never taken for a whole one.
        """
        fitted = replace(job, model=self.tickets.fitted(run.agent, job.model))
        done = run_and_show(engine, fitted)
        if done.end != "killed" and (fitted == job or not self.tickets.was_cut(job.ticket)):
            return done
        remove_folder(job.folder)
        fault_point("engine.again")
        self.mirror.check_out(start, job.folder)
        return run_and_show(engine, job)

    def _trouble(self, engine_run: EngineRun, token: str) -> CoderSaid | NotCoded | None:
        verdict = judge(engine_run, self.tickets.ledger.calls_of(token))
        match verdict:
            case NoMoney(reason):
                raise OutOfBudget(reason)
            case NoShare(reason):
                raise OutOfBudget(reason, "upkeep")
            case Disturbed(reason):
                raise Unavailable(reason)
            case Away(reason):
                raise ModelAway(reason)
            case TurnedDown(reason):
                raise Misconfigured(reason, "task")
            case Broke(reason, retry):
                return NotCoded(reason, retry)
            case InWords(words):
                return CoderSaid(words)
            case Worked():
                return None
            case _:
                assert_never(verdict)

    def _commit(self, run: Run, task: TaskSpec, base: str, job: EngineJob, correction: Correction | None) -> CodeAnswer:
        before = self._before(base, correction)
        try:
            committed = self.committer.commit(
                job.folder,
                base=base,
                ref=attempt_ref(task.id, run.attempt),
                text=task_text(task, run.attempt, job.model.model, job.message),
                scope=scope_of(task, self.tickets.limits.allow, before, correction),
                now=self.tickets.clock.now(),
            )
        except Refused as reason:
            return NotCoded(f"the change was refused: {reason}")
        if isinstance(committed, NothingChanged):
            return NotCoded("the engine changed nothing")
        if strayed := self._strayed(base, committed, correction):
            return NotCoded(strayed)
        return Coded(self._branch(task, base, committed))

    def _before(self, base: str, correction: Correction | None) -> Sequence[Change]:
        return self.mirror.changed(base, correction.start) if correction and correction.start else ()

    def _patch(self, base: str, correction: Correction | None) -> bytes:
        """The change that is to be corrected; empty: there is none."""
        return self.mirror.diff(base, correction.start) if correction and correction.start else b""

    def _strayed(self, base: str, committed: Committed, correction: Correction | None) -> str:
        """Name the files that changed although only tests were asked for; empty: none."""
        if correction is None or correction.tests is None:
            return ""
        asked = (*correction.tests.files, *correction.tests.new_files)
        changed = self.mirror.changed(correction.start or base, committed.sha)
        others = [change.path for change in changed if change.path not in asked and not marks_tests(change, asked)]
        return f"only tests were asked for, but {', '.join(others)} was changed" if others else ""

    def _branch(self, task: TaskSpec, base: str, committed: Committed) -> Branch:
        name = branch_name(task.id, task.title)
        return Branch(name, base, committed.sha, committed.changed, committed.protected)

    def _message(self, asked: TaskSpec, correction: Correction | None, lessons: Sequence[str]) -> str:
        tests = _list(asked.changes_tests)
        given = {**holes(asked), "changes_tests": tests, "lessons": _lessons(lessons)}
        if correction and correction.tests:
            prompt = self.prompts.render("qa/write_tests", **holes(asked))
        elif correction and correction.start:
            prompt = self.prompts.render("coder/correct", **given, findings=correction.findings)
        else:
            earlier = f"\n\nWhat is known from earlier attempts:\n\n{correction.findings}" if correction else ""
            prompt = self.prompts.render("coder/task", **given, earlier=earlier)
        return f"{prompt.system}\n{prompt.user}"

    def _job(
        self, asked: TaskSpec, message: str, folder: Path, token: str, route: Route, earlier: Sequence[str]
    ) -> EngineJob:
        """`earlier`: what the attempt that it goes on from has changed; it may be corrected too."""
        there = {path for path in (*asked.new_files, *earlier) if (folder / path).exists()} - {*asked.files}
        return EngineJob(
            folder=folder,
            message=message,
            edit=(*asked.files, *sorted(there)),
            create=tuple(path for path in asked.new_files if path not in there),
            read=asked.context,
            ticket=token,
            model=route.model,
            marks=route.marks,
            seconds=self.tickets.limits.seconds,
            stall=self.tickets.limits.stall,
            pulse=lambda: self.tickets.pulse(token),
        )


def _lessons(lines: Sequence[str]) -> str:
    """Block of lessons for the prompt; empty without any, as if there were no memory."""
    told = "\n".join(lines)
    return f"\n\nLessons of earlier work:\n\n{quoted(told, 'lessons')}" if told else ""


# --- texts and scope -----------------------------------------------------------------------------------------


def holes(task: TaskSpec) -> dict[str, str]:
    """Fill the holes of the prompt coder/task."""
    return {
        "id": task.id,
        "title": task.title,
        "description": task.description,
        "acceptance": "\n".join(f"- {line}" for line in task.acceptance) or "- the description is met",
        "files": _list(task.files),
        "new_files": _list(task.new_files),
        "context": _list(task.context),
    }


def scope_of(task: TaskSpec, allow: Sequence[str], before: Sequence[Change], correction: Correction | None) -> Scope:
    """Scope of the commit against its base: what the task names, and what an earlier attempt was allowed."""
    tests = correction.tests if correction else None
    files, new_files = (
        [*task.files, *(tests.files if tests else ())],
        [*task.new_files, *(tests.new_files if tests else ())],
    )
    files += [change.path for change in before if change.kind != "added"]
    new_files += [change.path for change in before if change.kind == "added"]
    return Scope(tuple(dict.fromkeys(files)), tuple(dict.fromkeys(new_files)), tuple(allow), task.guards)


def _list(paths: Sequence[str]) -> str:
    return ", ".join(paths) or "none"


# --- which model a run pays for ------------------------------------------------------------------------------

TYPICAL_PROMPT = 10_000  # tokens: the price band


@dataclass(frozen=True)
class Routes:
    """`easy`: the cheap model for first tries at easy tasks; empty: all are `model`'s."""

    books: LedgerSavings
    pricing: Pricing
    clock: Clock
    model: ModelChoice
    easy: str

    def __call__(self, run: Run, task: TaskSpec, correction: Correction | None) -> Route:
        tries = self.books.tries(run.task, run.attempt) + (correction is not None)
        route = self._routed(task, tries, run.day)
        is_read_again = not (correction and correction.tests)  # QA's turn has other files, and is asked once
        return replace(route, marks=is_read_again and self._marks(run.agent, route.model.model))

    def _routed(self, task: TaskSpec, tries: int, day: str) -> Route:
        """A model whose newest call was refused rests for the day: the other one may be there.

        A first try at an easy task is measured also where there is no choice: whoever has one later knows more.
        """
        dear = self.model.model
        if task.difficulty is not Difficulty.EASY or tries:
            return Route(self.model)
        record = self.books.record(self.easy, dear) if self.easy else ()
        if (
            self.easy
            and not self.books.refused(self.easy, day)
            and choose(task.difficulty, tries, record, number_of(task.id)) == "cheap"
        ):
            return Route(replace(self.model, model=self.easy), dear)
        return Route(self.model, dear)

    def _marks(self, agent: str, model: str) -> bool:
        """A run that is right at once is asked once; enough of them must ask again, or be corrected, soon."""
        calls, again = self.books.begun_again(agent, model)
        rates = self.pricing.rates(model, TYPICAL_PROMPT, self.clock.now())
        return calls >= ENOUGH and pays(rates, calls, again)
