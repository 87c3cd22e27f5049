"""Good and bad luck for months: what the model says, how tasks go, what the owner does, what is away. By dice.

The same luck throws the same dice, whoever asks first: each throw depends on the words of its question alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.agents.orchestrator.inbox.answers import OwnerAnswers
from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.model.lifecycle import FOLDERS, State
from sisimpur.shared.notify.notice import Notice
from sisimpur.shared.system.paths import Home
from sisimpur.simulators.model.script import Asked, Script, script_of
from sisimpur.simulators.model.steps import PlacedStep
from tests.journey.days import Days
from tests.journey.stage import APPROVES, CODES, Stage, mends, reads, task
from tests.mailbox import Mailbox

PARTS = 12  # files of the owner's repository
FILES = {f"part{number}.py": f"PART = {number}\n" for number in range(PARTS)} | {
    "Makefile": "all:\n",
    "tests/test_parts.py": "def test_parts():\n    assert True\n",
}
MOST_GOALS = 6
GOAL = re.compile(r"^([gp]-[0-9a-f]{6}) \(\w+\): (.*)$", re.MULTILINE)
FILE = re.compile(r"part\d+\.py|Makefile")
BROKEN = "# broken\n"
AWAY = {"status": 529, "times": "any", "headers": {"retry-after": "7200"}}  # longer than the meter waits for it
LONG_AGO = 1_700_000_000  # a file that nobody is still writing


class Killed(BaseException):
    """This process, in the middle of something: nothing that it would still like to do is done."""


@dataclass(frozen=True)
class Dice:
    luck: int

    def of(self, *words: object) -> Random:
        return Random(f"{self.luck} {words}")


def suite(files: Mapping[str, str]) -> dict[str, str]:
    is_broken = any(BROKEN in text for text in files.values())
    return {"tests/test_parts.py::test_parts": "failed" if is_broken else "passed"}


# --- the model -----------------------------------------------------------------------------------------------


class Improvised(Script):
    """Has an answer to every call; while it is away, none."""

    def __init__(self, dice: Dice) -> None:
        super().__init__((), "good and bad luck")
        self._dice = dice
        self._calls = 0
        self.is_away = False

    def answer(self, call: Asked) -> PlacedStep | str:
        self._calls += 1
        throw = self._dice.of("model", call.user, self._calls)
        if self.is_away or throw.random() < 0.01:
            return script_of([AWAY]).answer(call)
        if throw.random() < 0.01:
            return script_of([{"text": "I would rather not.", "times": "any"}]).answer(call)
        return script_of([reads(), self._plan(call.user, throw), CODES, self._review(throw)]).answer(call)

    def _plan(self, prompt: str, throw: Random) -> dict[str, object]:
        goals, tasks = [], []
        for id_, title in GOAL.findall(prompt):
            is_clear = throw.random() < 0.9
            verdict = "tasks" if is_clear else "question"
            goals.append({"goal_id": id_, "verdict": verdict, "text": "Which of the two?", "evidence": []})
            if is_clear:
                tasks.append(task(id_, title, FILE.findall(title)))
        return {"agent": "planner", "times": "any", "json": {"goals": goals, "tasks": tasks}}

    def _review(self, throw: Random) -> Mapping[str, object]:
        if throw.random() < 0.9:
            return APPROVES
        answer = {"decision": "escalate", "reason": "I am not sure.", "unresolved": [], "findings": []}
        return {**APPROVES, "json": answer}


# --- tasks ---------------------------------------------------------------------------------------------------


@dataclass
class Fate:
    """How the work on a task ends. `may_kill`: now and then it is the end of the whole process."""

    dice: Dice
    may_kill: bool = True

    def __call__(self, folder: Path, job: EngineJob) -> None:
        throw = self.dice.of("engine", folder.name).random()
        if throw < 0.03 and self.may_kill:
            self.may_kill = False
            raise Killed
        for name in job.edit:
            (folder / name).write_text((folder / name).read_text().replace(BROKEN, ""))
        if throw < 0.10:
            return  # it changes nothing
        if throw < 0.12:
            raise ZeroDivisionError("of a soak")
        mends(folder, job)
        if throw < 0.20:
            with (folder / job.edit[0]).open("a") as file:
                file.write(BROKEN)


@dataclass
class Post(Mailbox):
    is_away: bool = False

    def send(self, notice: Notice, sent: str = "") -> str:
        if self.is_away:
            raise Unavailable("nobody answers")
        self.folder.mkdir(exist_ok=True)
        return sent or str(len(list(self.folder.iterdir())) + 1)


# --- the owner -----------------------------------------------------------------------------------------------


@dataclass
class Owner:
    """Edits whatever he likes, by hand, while the daemon runs."""

    stage: Stage
    dice: Dice
    goals: list[str] = field(default_factory=list)
    wishes: int = 0
    scribbles: list[Path] = field(default_factory=list)

    @property
    def home(self) -> Home:
        return self.stage.home

    def edits_goals(self, throw: Random) -> None:
        for _ in range(throw.choice((1, 2, 3))):
            self.wishes += 1
            file = "Makefile" if throw.random() < 0.05 else f"part{throw.randrange(PARTS)}.py"
            self.goals.append(f"Say what is new in {file}, wish {self.wishes}")
        if self.goals and throw.random() < 0.2:
            place = throw.randrange(len(self.goals))
            self.goals[place] = f"{self.goals[place]} again"
        if self.goals and throw.random() < 0.15:
            self.goals.pop(throw.randrange(len(self.goals)))
        self.goals = self.goals[-MOST_GOALS:]
        lines = "".join(f"- {goal}\n" for goal in self.goals)
        self.stage.given_vision(f"# Vision\n\n## Priority: HIGH\n{lines}")

    def edits_files(self, throw: Random) -> None:
        """Of the task folders: a task of his own, one moved or deleted, something that is none."""
        act = throw.choice((self._drops, self._deletes, self._tries_again, self._scribbles, self._tidies))
        act(throw)

    def _drops(self, throw: Random) -> None:
        path = self.home.tasks(State.BACKLOG) / f"mine-{throw.randrange(10**6)}.md"
        file = f"part{throw.randrange(PARTS)}.py"
        path.write_text(f"---\ntitle: Of my own\nfiles: [{file}]\n---\n\nSay more in {file}.\n")
        os.utime(path, (LONG_AGO, LONG_AGO))

    def _deletes(self, throw: Random) -> None:
        found = [path for state in FOLDERS[:4] for path in sorted(self.home.tasks(state).glob("*.md"))]
        if found:
            throw.choice(found).unlink()

    def _tries_again(self, throw: Random) -> None:
        found = sorted(self.home.tasks(State.FAILED).glob("*.md"))
        if found:
            path = throw.choice(found)
            path.rename(self.home.tasks(State.BACKLOG) / path.name)

    def _scribbles(self, throw: Random) -> None:
        path = self.home.tasks(throw.choice(FOLDERS)) / f"scribble-{throw.randrange(10**6)}.md"
        path.write_bytes(throw.randbytes(300))
        self.scribbles.append(path)

    def _tidies(self, _: Random) -> None:
        while self.scribbles:
            self.scribbles.pop().unlink(missing_ok=True)

    def answers(self, days: Days, throw: Random) -> None:
        """Whatever waits for him, soon or later."""
        records = days.records
        for known in records.journal.every_task().values():
            if known.seen_in is State.IN_REVIEW and records.gates.parked(known.id) and throw.random() < 0.5:
                self._answers(days, known.id, throw.random() < 0.7)

    def _answers(self, days: Days, task_: str, likes_it: bool) -> None:
        records = days.records
        answers = OwnerAnswers(records.store, records.gates, days.clock, records.journal)
        try:
            if likes_it:
                answers.approve(task_, State.IN_REVIEW, "")
            else:
                answers.move(task_, State.IN_REVIEW, "reject", "I do not like it")
        except Misconfigured:
            pass  # it does not wait any more


# --- what is away --------------------------------------------------------------------------------------------


@dataclass
class World:
    """All that can be away, and comes back."""

    stage: Stage
    dice: Dice
    model: Improvised
    post: Post
    config: dict[str, str]

    def goes_wrong(self, throw: Random) -> None:
        act: Callable[[Random], None] = throw.choice((self._no_model, self._no_forge, self._no_post, self._new_config))
        act(throw)

    def is_mended(self) -> None:
        self.model.is_away = self.post.is_away = False
        away, head = self._head.with_name("away"), self._head
        if away.exists():
            away.replace(head)
        for name, text in self.config.items():
            (self.stage.home.config / name).write_text(text)

    @property
    def _head(self) -> Path:
        return self.stage.home.forge("site") / "HEAD"

    def _no_model(self, _: Random) -> None:
        self.model.is_away = True

    def _no_forge(self, _: Random) -> None:
        if self._head.exists():
            self._head.rename(self._head.with_name("away"))

    def _no_post(self, _: Random) -> None:
        self.post.is_away = True

    def _new_config(self, throw: Random) -> None:
        path = self.stage.home.config / "policy.yaml"
        text = self.config["policy.yaml"]
        day = throw.choice(("5.00", "0.05", "not a number", "4.00"))
        path.write_text(re.sub(r"\bday: [\d.]+", f"day: {day}", text))
