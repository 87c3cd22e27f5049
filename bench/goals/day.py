"""The days of one repository: a home, the real pipeline, the reader as its model, and an owner who knows what is right.

Everything is real but the model. The owner approves what waits if the goal's check holds with it (or would, with what
is still to come of its plan), and leaves the rest; questions are not answered.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

from bench.goals import goals as known
from bench.goals.goals import Broken, Goal
from bench.goals.outcomes import Ran, Result, Told, outcome
from bench.goals.reader import Asked, Reader
from bench.goals.sight import Sight
from bench.goals.verify import PACKAGES, RUBBISH, run
from sisimpur.agents.orchestrator.inbox.answers import OwnerAnswers
from sisimpur.cli.commands import owner_commands
from sisimpur.cli.views.roadmap import laid_out
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.cli.wiring.team import open_team
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.store.task_records import TaskRecord
from sisimpur.shared.system.paths import Home
from sisimpur.simulators.model.rules import Call
from sisimpur.simulators.model.scripted_model import ScriptedModel
from sisimpur.simulators.model.steps import PlacedStep

MOST_DAYS = 3
ROUNDS_WITH_THE_OWNER = 4  # of one day
PRIORITIES = ("critical", "high", "medium", "low")
# What an owner would write: Django is there, gunicorn of the image is not; the monorepo's tests run in a folder.
SET_UP = {
    "django_site": 'setup: "pip install Django"\n',
    "async_service": "",
    "cli_tool": "",
    "library": "",
    "monorepo": 'test: "cd api && python -m pytest -q"\n',
}
GIT = {
    "PATH": "/usr/bin:/bin:/usr/local/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "The owner" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "owner@localhost" for who in ("AUTHOR", "COMMITTER")},
}


class DaysAhead:
    """The real clock, some days ahead."""

    def __init__(self) -> None:
        self.days = 0

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=self.days)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Upstream(ScriptedModel):
    """The scripted model's wire, with a reader behind it in place of a script."""

    def __init__(self, reader: Reader, clock: DaysAhead) -> None:
        super().__init__([], clock=clock)
        self._reader = reader

    async def step_for(self, call: Call, number: int) -> PlacedStep:  # noqa: ARG002  the reader counts for itself
        return PlacedStep(text=self._reader.answer(Sight.of(call.request)))


@dataclass
class Days:
    """One repository's home. `python`: has what the checks need; `keep`: where prompts and answers go, or nowhere."""

    name: str
    goals: Sequence[Goal]
    place: Path
    python: str
    keep: Path | None = None
    clock: DaysAhead = field(default_factory=DaysAhead)
    heard: list[Asked] = field(default_factory=list)
    approved: set[str] = field(default_factory=set)

    @property
    def home(self) -> Home:
        return Home(self.place / "home")

    def run(self) -> Ran:
        """All days, then what came of it."""
        begun, ran = datetime.now(UTC), Ran()
        reader = Reader(self.goals, self._hear)
        with Upstream(reader, self.clock) as model, (self.place / "day.log").open("w") as log:
            self._make_home(model.url)
            for _ in range(MOST_DAYS):
                self._day(ran, lambda line: print(line, file=log, flush=True))
                if not self._is_something_left():
                    break
                self.clock.days += 1
        with self._records() as records:
            if len(self._ids(records)) < len(self.goals):
                ran.problems.append(f"{self.name}: goals are known by another title than in VISION.md")
            ran.results = [self._result(records, goal) for goal in self.goals]
            for share in records.spending.breakdown(""):
                ran.shares[share.agent] += share.tokens_in
        ran.unknown = reader.unknown
        ran.seconds = (datetime.now(UTC) - begun).total_seconds()
        return ran

    # --- the home --------------------------------------------------------------------------------------------

    def _make_home(self, url: str) -> None:
        target = self.place / self.name
        shutil.copytree(known.HERE / "repositories" / self.name, target, ignore=RUBBISH)
        for words in (("init", "-q", "-b", "main"), ("add", "-A", "-f"), ("commit", "-q", "-m", "As it is")):
            subprocess.run(["git", *words], cwd=target, env=GIT, check=True)
        home = self.home
        with redirect_stdout(StringIO()):
            owner_commands.make_home(home, str(target))
        keys = home.config / ".env"
        keys.touch(mode=0o600)
        keys.write_text(f"ANTHROPIC_API_KEY=a-key-that-only-the-reader-takes\nANTHROPIC_BASE_URL={url}\n")
        policy = home.config / "policy.yaml"
        policy.write_text(policy.read_text().replace("upkeep: {tasks: 1,", "upkeep: {tasks: 0,"))
        with next(home.targets.glob("*.yaml")).open("a") as file:
            file.write(f"packages: {json.dumps(str(PACKAGES))}\n{SET_UP[self.name]}")
        home.vision.write_text(vision(self.goals))

    def _hear(self, asked: Asked) -> None:
        self.heard.append(asked)
        if self.keep:
            self.keep.mkdir(parents=True, exist_ok=True)
            name = f"{len(self.heard):03}-{asked.role.replace(' ', '-')}-{'+'.join(asked.goals) or 'none'}"[:120]
            lacks = [
                f"{id_} lacks {need.path}: {need.contains}" for id_, some in asked.missing.items() for need in some
            ]
            text = "\n".join(
                [f"[{asked.done}]", *lacks, "", asked.system, "-" * 80, asked.user, "-" * 80, asked.answer]
            )
            (self.keep / f"{name}.txt").write_text(text, "utf-8")

    def _records(self) -> Any:
        return open_records(self.home.root, {}, self.clock)

    # --- a day -----------------------------------------------------------------------------------------------

    def _day(self, ran: Ran, tell: Callable[[str], None]) -> None:
        """With the owner looking in between: whatever is approved goes on the same day."""
        for _ in range(ROUNDS_WITH_THE_OWNER):
            with self._records() as records:
                try:
                    with open_team(records, tell) as team:
                        team.run_day()
                        ran.problems += [f"{self.name}: {one}" for one in team.problems]
                except Exception:  # noqa: BLE001  a bug in a day is a finding, and the other repositories go on
                    ran.problems.append(f"{self.name}: {traceback.format_exc()[-2000:]}")
                    return
                if not self._owner(records):
                    return

    def _owner(self, records: Records) -> bool:
        """Whether anything was approved."""
        answers = OwnerAnswers(records.store, records.gates, self.clock, records.journal)
        forge = records.forge()
        heads = {pull.head: pull.head_sha for pull in (forge.list_pulls() if forge else ())}
        found = False
        for task in records.journal.every_task().values():
            parked = records.gates.parked(task.id) if task.seen_in is State.IN_REVIEW else None
            goal = self._goal_of(records, task)
            head = next((sha for name, sha in heads.items() if name.startswith(f"agent/{task.id}-")), "")
            if parked is None or records.gates.is_approved(parked) or not goal or not head:
                continue
            if self._is_right(goal, head):
                answers.approve(task.id, State.IN_REVIEW, "")
                self.approved.add(task.id)
                found = True
        return found

    def _is_right(self, goal: Goal, commit: str) -> bool:
        """Whether the check holds, if need be with what is still to come of the plan."""
        for done in range(max(1, len(goal.edits))):
            with self._tree(commit) as tree:
                try:
                    if done:
                        known.apply(goal.edits[done:], tree)
                except Broken:
                    continue
                if self._check(goal, tree, [commit])[0] == 0:
                    return True
        return False

    def _check(self, goal: Goal, tree: Path, commits: Sequence[str]) -> tuple[int, str]:
        """What the check says of a tree. A false goal's sees nothing of other goals' changes: only these commits'."""
        if goal.kind != "false":
            return run([self.python, str(goal.program), str(tree)], self.place)
        alone = self.place / "alone"
        shutil.copytree(goal.tree, alone, ignore=RUBBISH)
        for path in {path for commit in commits for path in self._git("diff", "--name-only", f"{commit}^", commit)}:
            (alone / path).parent.mkdir(parents=True, exist_ok=True)
            (alone / path).unlink(missing_ok=True)
            if (tree / path).exists():
                shutil.copyfile(tree / path, alone / path)
        found = run([self.python, str(goal.program), str(alone)], self.place)
        shutil.rmtree(alone)
        return found

    def _git(self, *words: str) -> list[str]:
        argv = ["git", "-C", str(self.home.forge(self._target())), *words]
        return subprocess.run(argv, env=GIT, check=True, capture_output=True, text=True).stdout.splitlines()

    def _tree(self, commit: str) -> Any:
        return exported(self.home.forge(self._target()), commit, self.place / "tree")

    def _target(self) -> str:
        return next(self.home.targets.glob("*.yaml")).stem

    def _is_something_left(self) -> bool:
        with self._records() as records:
            asked = {question.goal_id for question in records.questions()}
            told = self._ids(records)
            tasks = list(records.journal.every_task().values())
            moving = (State.BACKLOG, State.IN_PROGRESS)
            planned = {task.goal_id for task in tasks}
            return any(id_ not in asked | planned for id_ in told) or any(task.seen_in in moving for task in tasks)

    # --- what came of it -------------------------------------------------------------------------------------

    def _ids(self, records: Records) -> dict[str, Goal]:
        """The pipeline's id of a goal -> the goal."""
        accepted = records.plans.accepted()
        titles = {goal.words.splitlines()[0].strip(): goal for goal in self.goals}
        return {one.id: titles[one.title] for one in accepted.vision.goals if one.title in titles} if accepted else {}

    def _goal_of(self, records: Records, task: TaskRecord) -> Goal | None:
        return self._ids(records).get(task.goal_id)

    def _result(self, records: Records, goal: Goal) -> Result:
        id_ = next((id_ for id_, one in self._ids(records).items() if one is goal), "")
        tasks = [task for task in records.journal.every_task().values() if task.goal_id == id_]
        merged = [task for task in tasks if task.seen_in is State.COMPLETED]
        question = next((one for one in records.questions() if one.goal_id == id_), None)
        forge = records.forge()
        pulls = forge.list_pulls(every=True) if forge else ()
        ids = [f"agent/{task.id}-" for task in merged]
        commits = [one.merge_sha for one in pulls if one.merge_sha and any(one.head.startswith(id_) for id_ in ids)]
        with self._tree("main") as tree:
            code, why = self._check(goal, tree, commits)
        cost, tokens = self._spent(records, [task.id for task in tasks])
        rounds = {task.id: sum(one.outcome != "void" and not one.refreshes for one in task.attempts) for task in tasks}
        heard = [asked for asked in self.heard if goal.id in asked.goals]
        first = next((asked for asked in heard if goal.id in asked.whole), None)
        return Result(
            goal.id,
            goal.repository,
            goal.kind,
            outcome(goal, code == 0, Told(bool(merged), self._is_done(records, id_), question, bool(tasks))),
            why,
            f"{question.text} [{question.evidence}]" if question else "",
            tuple(f"{task.title}: {_stands(task)}, {rounds[task.id]} rounds" for task in tasks),
            len(merged),
            sum(rounds[task.id] for task in merged),
            sum(task.id in self.approved for task in tasks),
            cost,
            tokens,
            tuple(f"{asked.role} {asked.done}" for asked in heard),
            Counter(
                f"{asked.role}: {path}" for asked in heard for path in {need.path for need in asked.missing[goal.id]}
            ),
            sum(asked.role == "test writer" for asked in heard) if merged else 0,
            first.whole[goal.id] if first else (0, 0),
        )

    def _spent(self, records: Records, tasks: Sequence[str]) -> tuple[float, int]:
        """Dollars and tokens in: of its tasks, and an even share of what belongs to none."""
        shares = records.spending.breakdown("")
        every = records.journal.every_task()
        own = [share for share in shares if share.task in tasks]
        common = [share for share in shares if share.task not in every]
        many = len(self.goals)
        nano = sum(share.spent for share in own) + sum(share.spent for share in common) / many
        tokens = sum(share.tokens_in for share in own) + sum(share.tokens_in for share in common) // many
        return nano / 1e9, tokens

    def _is_done(self, records: Records, id_: str) -> bool:
        """Whether the owner is told that it is done."""
        accepted = records.plans.accepted()
        if accepted is None:
            return False
        _, roadmap = laid_out(records, accepted.vision)
        return any(entry.is_done for entry in roadmap.entries if entry.need.id == id_)


def _stands(task: TaskRecord) -> str:
    note = f" ({task.newest.note[:160]})" if task.newest and task.seen_in is not State.COMPLETED else ""
    return f"{task.seen_in.value}{note}"


def vision(goals: Sequence[Goal]) -> str:
    """VISION.md with all goals, in the owner's words."""
    text = "# Vision\n"
    for priority in PRIORITIES:
        some = [goal for goal in goals if goal.priority == priority]
        text += f"\n## Priority: {priority.upper()}\n" if some else ""
        for goal in some:
            title, *details = goal.words.strip().splitlines()
            text += "".join([f"- {title}\n", *(f"  - {line.strip()}\n" for line in details if line.strip())])
    return text


class exported:  # noqa: N801  read as a verb: with exported(...) as tree
    """The files of a commit, in a folder that goes with the block."""

    def __init__(self, repository: Path, commit: str, folder: Path) -> None:
        self._from, self._commit, self._folder = repository, commit, folder

    def __enter__(self) -> Path:
        self._folder.mkdir()
        argv = ["git", "-C", str(self._from), "archive", self._commit]
        packed = subprocess.run(argv, env=GIT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(self._folder)], input=packed, check=True)
        return self._folder

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder)


# --- a process of its own ---------------------------------------------------------------------------------------


def days(todo: tuple[str, Sequence[Goal], Path, str, Path | None]) -> Ran:
    """Run one repository, in a process of its own."""
    name, goals, folder, python, keep = todo
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
    place = folder / name
    place.mkdir()
    if keep:
        shutil.rmtree(keep / name, ignore_errors=True)
    ran = Days(name, goals, place, python, keep / name if keep else None).run()
    if keep:
        (keep / name / "day.log").write_text((place / "day.log").read_text("utf-8"), "utf-8")
    print(f"{name}: {ran.seconds:.0f} s", file=sys.stderr, flush=True)
    return ran
