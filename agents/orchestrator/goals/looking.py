"""A goal whose tasks are merged -> what is seen of it: its figure, or what a model misses. One look, one record."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Literal, Protocol

from sisimpur.agents.orchestrator.board.breaker import CircuitBreaker, Service
from sisimpur.agents.orchestrator.board.session import AgentRuns
from sisimpur.agents.orchestrator.goals.standing import (
    GoalBooks,
    GoalEnds,
    GoalStanding,
    all_of,
    bulleted,
    is_measured,
    question,
)
from sisimpur.agents.orchestrator.integration.feature_branches import TargetBranch, lands
from sisimpur.shared.llm.prompts import Asker, Prompts, quoted
from sisimpur.shared.model.change import CommitFiles, usually_holds_keys
from sisimpur.shared.model.errors import (
    BrokenSetup,
    Misconfigured,
    ModelAway,
    OutOfBudget,
    Refused,
    Replaced,
    Stopping,
    Stumble,
    TeamError,
    Unavailable,
)
from sisimpur.shared.model.evidence import Figure, is_test_file
from sisimpur.shared.model.lifecycle import State, worded, wording
from sisimpur.shared.model.naming import attempt_ref
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Goal, GoalWord, Measure, Question, Run, TaskSpec
from sisimpur.shared.repo.file_parts import changed_lines, lines_of, view
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.goal_book import GoalLook
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.store.task_records import TaskRecord
from sisimpur.shared.store.task_store import TaskStore

LONGEST_MISSING = 1_200  # characters of what a reader misses: the planner plans from them
LEFT = "left for later: "  # so begins what a look says that read nothing
LOOK = "a goal"  # its name among what the pool works on, where no task has such a one
Standings = Callable[[str], Sequence[GoalStanding]]  # of a day


class TakesWork(Protocol):
    """The pool of workers."""

    @property
    def free(self) -> int: ...
    @property
    def busy(self) -> frozenset[str]: ...
    def give(self, name: str, act: Callable[[], None]) -> None: ...


class TakesFigures(Protocol):
    def measure(self, run: Run, measure: Measure, commit: str) -> Figure: ...


class ReadsEnds(Protocol):
    def read(self, run: Run, work: GoalWork, tree: MergedTree, commit: str) -> EndReading: ...


@dataclass(frozen=True)
class GoalEyes:
    """What looks. `qa` is made when it is first needed: without a sandbox the rest of the day goes on."""

    mirror: Mirror
    main: TargetBranch
    qa: Callable[[], TakesFigures]
    reader: ReadsEnds
    breaker: CircuitBreaker


@dataclass(eq=False)
class GoalLooks:
    """Looks before a goal's first task, after each merge, and at its end. `standings`: what the roadmap knows."""

    _books: GoalBooks
    _eyes: GoalEyes
    _plans: PlanRepository
    _store: TaskStore
    _runs: AgentRuns
    _standings: Standings
    _resting: set[tuple[str, str]] = field(default_factory=set)  # (day, goal): it cannot be looked at on that day
    _known: object = None  # what was so when nothing was due

    def begin(self, pool: TakesWork) -> bool:
        """Whether a look was begun: it takes a worker. Called by who holds the lock, as often as anything happens."""
        if not pool.free or LOOK in pool.busy or not self._has_changed():
            return False
        standings = self._standings(self._runs.session.day())
        self._ask(standings)
        due = next(self._due(standings), None)
        if due is None:
            return False
        self._known = None
        pool.give(LOOK, partial(self._try, *due))
        return True

    def anew(self) -> None:
        """Something may have happened that moved no task: a plan, a word of the owner."""
        self._known = None

    def _has_changed(self) -> bool:
        now = (self._runs.journal.places(), self._eyes.breaker.no_model())
        if now == self._known:
            return False
        self._known = now
        return True

    def _ask(self, standings: Sequence[GoalStanding]) -> None:
        """Whoever was asked about it has no end to wait for: it is the owner's turn, once."""
        known, session = GoalEnds(self._books), self._runs.session
        for goal, merged in [(one.goal, one.merged) for one in standings if one.end == "ask"]:
            text = question(known.looks(goal), known.measure(goal), merged)
            now = dict([worded(goal)])
            self._plans.ask(session.day(), (Question(goal.id, text),), now)
            if self._plans.asked(now):
                session.tell(f"{goal.title}: a question for you")

    def _due(self, standings: Sequence[GoalStanding]) -> Iterator[tuple[GoalStanding, GoalLook]]:
        """Each with the look that is to be made, on what is merged now."""
        day, known = self._runs.session.day(), GoalEnds(self._books)
        tip = self._eyes.mirror.head(self._eyes.main.name)
        for standing in standings if tip else ():
            is_end = standing.end == "look" and self._may_end(known, standing.goal)
            if (day, standing.goal.id) not in self._resting and (is_end or _to_measure(known, standing)):
                yield standing, GoalLook(tip or "", standing.merged, is_end)

    def _may_end(self, known: GoalEnds, goal: Goal) -> bool:
        """A model is asked when there is money and it answers; what needs none is looked at all the same."""
        return bool(known.measures(goal) or known.left(goal)) or not self._eyes.breaker.no_model()

    # -- one look ---------------------------------------------------------------------------------------------

    def _try(self, standing: GoalStanding, look: GoalLook) -> None:
        """What goes wrong with one goal is its own affair: it stays merged, and not yet looked at."""
        goal, breaker = standing.goal, self._eyes.breaker
        key = worded(goal)
        self._books.looks.begin(key, look, self._runs.session.now())
        try:
            self._keep(standing, self._seen(standing, look))
            return
        except OutOfBudget as problem:
            breaker.spent(problem)
            self._rest(goal, problem)
        except ModelAway as problem:
            breaker.away(Service.MODEL, problem)
            self._rest(goal, problem)
        except (Stopping, Replaced):
            self._books.looks.put_off(key, look)
            raise
        except (Misconfigured, Unavailable) as problem:
            self._rest(goal, problem)
        except TeamError as problem:  # counted: the third is the last
            self._runs.session.tell(f"{goal.title}: {problem}")
            return
        self._books.looks.put_off(key, look)

    def _rest(self, goal: Goal, problem: TeamError) -> None:
        self._resting.add((self._runs.session.day(), goal.id))
        self._runs.session.tell(f"{goal.title}: not looked at today: {problem}")

    def _keep(self, standing: GoalStanding, look: GoalLook) -> None:
        goal = standing.goal
        self._books.looks.keep(worded(goal), look)
        known = GoalEnds(self._books)
        end = known.end(goal, standing.merged, was_done=False) if look.at_end else None
        self._runs.session.tell(f"{goal.title}: {known.told(goal, end)}")

    def _seen(self, standing: GoalStanding, look: GoalLook) -> GoalLook:
        """A figure settles it; else what was left for later; else a model reads it, once."""
        goal, known = standing.goal, GoalEnds(self._books)
        left, why = known.left(goal), ""
        if look.at_end and left:
            return replace(look, verdict="not yet", text=f"{LEFT}{left}")
        if measures := known.measures(goal):
            taken, why = self._figures(measures, look)
            if not why:
                short = [value for measure, value in taken if not measure.holds(value)]
                text, value = all_of(taken), (short or [taken[0][1]])[0]
                return replace(look, figure=value, verdict="not yet" if short else "holds", text=text)
        if not look.at_end or not self._books.is_read:
            return replace(look, verdict="cannot tell", text=one_line(why, 600))
        found = self._read(goal, look, why)
        return replace(look, verdict=found.verdict, text=one_line(found.missing, LONGEST_MISSING))

    def _figures(self, measures: Sequence[Measure], look: GoalLook) -> tuple[list[tuple[Measure, float]], str]:
        """Each with its figure; and why one cannot be taken, which leaves the goal to a reader."""
        taken: list[tuple[Measure, float]] = []
        for measure in measures:
            figure = self._measured(measure, look)
            if figure.value is None:
                return taken, figure.why
            taken.append((measure, figure.value))
        return taken, ""

    def _measured(self, measure: Measure, look: GoalLook) -> Figure:
        try:
            qa = self._eyes.qa()
            with self._runs.unlocked("qa") as run:
                return qa.measure(run, measure, look.commit)
        except BrokenSetup as problem:
            return Figure(None, str(problem))

    def _read(self, goal: Goal, look: GoalLook, why: str) -> EndReading:
        work = self._work(goal, why)
        with self._runs.unlocked("orchestrator") as run:
            return self._eyes.reader.read(run, work, self._eyes.mirror, look.commit)

    def _work(self, goal: Goal, why: str) -> GoalWork:
        journal = self._runs.journal
        of_it = [one for one in journal.tasks_of([goal.id]).values() if one.wording == wording(goal)]
        done = [one for one in of_it if one.seen_in is State.COMPLETED]
        specs = (self._store.read(State.COMPLETED, one.id).spec for one in done if not lands(one))
        tasks = [spec for spec in specs if isinstance(spec, TaskSpec)]
        changes = [ends_ for one in done if not lands(one) and (ends_ := self._change(one))]
        looks = GoalEnds(self._books).looks(goal)
        asked = (one for one in looks if one.at_end and one.verdict == "not yet" and one.figure is None)
        read = [one for one in asked if not one.text.startswith(LEFT)]
        return GoalWork(
            self._plans.answered(goal), tasks, changes, self._books.words.of([goal.id]), why, read[-1] if read else None
        )

    def _change(self, task: TaskRecord) -> tuple[str, str] | None:
        """Of the commit that was merged, and where it began; None: it is not here any more."""
        mirror = self._eyes.mirror
        ok = [attempt.number for attempt in task.attempts if attempt.outcome == "ok"]
        commit = mirror.attempt(attempt_ref(task.id, ok[-1])) if ok else None
        try:
            return (mirror.parent(commit), commit) if commit else None
        except (Refused, Stumble, Unavailable):
            return None


def _to_measure(known: GoalEnds, standing: GoalStanding) -> bool:
    """Its figure is taken before the first task, and after each merge."""
    goal = standing.goal
    is_under_way = standing.end is None and bool(standing.begun) and bool(known.measures(goal))
    return is_under_way and not is_measured(known.looks(goal), standing.merged)


# --- the reader of an end ------------------------------------------------------------------------------------

MAX_CHANGES = 24_000  # characters of all differences
MAX_FILES = 24_000  # of all files
LARGEST_FILE, LARGEST_READ = 10_000, 3_000  # of one of them; of one that tasks only read
MAX_BLOCK = 8_000  # of any other block
OF_A_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)
NAMED = re.compile(r"[\w-][\w./-]*")


@dataclass(frozen=True)
class EndReading:
    verdict: Literal["holds", "not yet", "cannot tell"]
    missing: str


class MergedTree(CommitFiles, Protocol):
    """The target's commits: the mirror."""

    def diff(self, old: str, new: str, limit: int = ...) -> bytes: ...


@dataclass(frozen=True)
class GoalWork:
    """What was done for a goal. `changes`: (before, after) of each merge; `unmeasured`: why no figure tells.

    `before`: the last look that found something missing. What is as it was then is not read once more.
    """

    goal: Goal
    tasks: Sequence[TaskSpec]
    changes: Sequence[tuple[str, str]]
    words: Sequence[GoalWord]
    unmeasured: str = ""
    before: GoalLook | None = None

    def is_seen(self, tree: MergedTree, commit: str, path: str) -> bool:
        """Whether it is as it was at the last look, which did not speak of it."""
        if self.before is None or path in NAMED.findall(self.before.text):
            return False
        then = _text(tree, self.before.commit, path)
        return bool(then) and then == _text(tree, commit, path)


@dataclass(frozen=True)
class GoalEvaluator:
    asker: Asker
    prompts: Prompts

    def read(self, run: Run, work: GoalWork, tree: MergedTree, commit: str) -> EndReading:
        """Ask once, about the tree of this commit. Errors are those of the asker."""
        seen = cache(lambda path: work.is_seen(tree, commit, path))
        patches = [_difference(tree, *ends, seen) for ends in work.changes]
        share = MAX_CHANGES // max(1, len(patches))  # what is cut says so
        changes = "\n".join(_cut(patch, share) for patch in patches)
        files = _files(work, tree, commit, "\n".join(patches), dict(_made(changes)), seen)
        prompt = self.prompts.render(
            "orchestrator/goal_end",
            goal=_block(bulleted(work.goal), "goal"),
            tasks=_block(map(_task, work.tasks), "tasks"),
            words=_block(_words(work), "words"),
            changes=quoted(changes, "changes"),
            files=files or quoted("", "files"),
        )
        return self.asker.ask(run, prompt.system, prompt.user, EndReading)


def _block(lines: Iterable[str], label: str) -> str:
    return quoted("\n".join(lines)[:MAX_BLOCK], label)


def _task(task: TaskSpec) -> str:
    return "\n".join((f"{task.id}: {task.title}", *(f"  - {line}" for line in task.acceptance)))


def _words(work: GoalWork) -> Iterable[str]:
    if work.unmeasured:
        yield f"could not be measured: {work.unmeasured}"
    if work.before:
        yield f"at the last look this was missing: {work.before.text}"
    yield from (f"{word.kind}{f' ({word.task})' if word.task else ''}: {word.text}" for word in work.words)


def _difference(tree: MergedTree, before: str, after: str, is_seen: Callable[[str], bool]) -> str:
    """Without the files that are as they were at the last look."""
    try:
        patch = tree.diff(before, after).decode("utf-8", "replace")
    except (Refused, Stumble, Unavailable) as problem:  # not here any more, or too large
        return f"({problem})"
    parts = ((part, _path(part)) for part in OF_A_FILE.split(patch))
    return "".join(part for part, path in parts if not (usually_holds_keys(path) or is_seen(path)))


def _path(part: str) -> str:
    """The path of one file's part of a patch."""
    return re.split(r' "?b/', part.partition("\n")[0])[-1].rstrip('"')


def _made(changes: str) -> Iterator[tuple[str, str]]:
    """(path, text) of each file that stands in the changes from its first line to its last, since one has made it."""
    for part in OF_A_FILE.split(changes):
        head, _, body = part.partition("\n@@ -0,0 ")
        if "\nnew file mode " in head:
            yield _path(part), "\n".join(line[1:] for line in body.split("\n")[1:] if line[:1] == "+")


def _files(
    work: GoalWork, tree: MergedTree, commit: str, patch: str, made: Mapping[str, str], is_seen: Callable[[str], bool]
) -> str:
    """The files that the goal and its tasks name, the product's and small ones first; none can speak as another one.

    Long ones by the parts that the words or the changes are about. `made`: texts that stand in the changes; what is
    still so is not shown twice.
    """
    there = {entry.path for entry in tree.tree(commit) if not usually_holds_keys(entry.path)}
    said = "\n".join((work.goal.title, *work.goal.details))
    own = {*NAMED.findall(said), *(path for task in work.tasks for path in (*task.files, *task.new_files))}
    named = [*NAMED.findall(said), *(path for task in work.tasks for path in (*task.files, *task.context))]
    texts = {path: _text(tree, commit, path) for path in dict.fromkeys(named) if path in there}
    words = "\n".join((said, *map(_task, work.tasks), *changed_lines(patch)))
    read = [path for path, text in texts.items() if path in made and text.rstrip("\n") == made[path].rstrip("\n")]
    shown, room = [f"{path} ({len(lines_of(texts.pop(path)))} lines): whole in the changes" for path in read], MAX_FILES
    known = [path for path in texts if is_seen(path)]
    shown += [f"{path} ({len(lines_of(texts.pop(path)))} lines): as it was at the last look" for path in known]
    for path, text in sorted(texts.items(), key=lambda one: (is_test_file(one[0]), len(one[1]), one[0])):
        most = LARGEST_FILE if path in own else LARGEST_READ
        part = view(path, text, words, most, most) or text
        part = _cut(part, min(2 * LARGEST_FILE, room))
        shown.append(f"{path} ({len(lines_of(text))} lines):\n{quoted(part, 'file')}")
        room -= len(part)
        if room <= 0:
            break
    return "\n\n".join(shown)


def _text(tree: MergedTree, commit: str, path: str) -> str:
    try:
        return (tree.read(commit, path) or b"").decode("utf-8", "replace")
    except (Refused, Stumble, Unavailable) as problem:
        return f"({problem})"


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[:room]}\n(cut: {len(text) - room} more characters)"
