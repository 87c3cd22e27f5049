"""A snapshot is kept for as long as it is true: what comes, is edited, moved or written is in the next one."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.model.work import DailyPlan, TaskSpec
from sisimpur.shared.store.journal import MoveReason
from sisimpur.shared.store.task_records import Waivers
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.reading import readers
from tests.journey.gated import FILES, VISION
from tests.journey.stage import Stage

TEXT = "---\ntitle: Say it\nfiles: [app.py]\n---\n\nSay it in `app.py`.\n"
LONG_AGO = 1_700_000_000  # a file that nobody is still writing
FIRST = "20261120-01"


@dataclass(frozen=True)
class Looked:
    """A home, and records of it that were looked at before."""

    stage: Stage
    records: Records

    def file(self, id_: str = FIRST, state: State = State.BACKLOG) -> Path:
        return self.stage.home.tasks(state) / f"{id_}.md"

    def write(self, text: str, id_: str = FIRST) -> None:
        """In its place, as an editor does."""
        self.file(id_).write_text(text)
        os.utime(self.file(id_), (LONG_AGO, LONG_AGO))

    def anew(self) -> Records:
        return Records(self.records.home, self.records.settings, self.stage.clock, self.records.db, False)


def born(records: Records, id_: str = FIRST) -> None:
    spec = TaskSpec(id_, "Say it", "Say it.", files=("app.py",))
    records.journal.born(spec, State.BACKLOG, "", records.clock.now())


def by_another(looked: Looked) -> None:
    with open_records(looked.stage.home.root, clock=looked.stage.clock) as other:
        born(other)


def begun(looked: Looked) -> None:
    journal, now = looked.records.journal, looked.stage.clock.now()
    planned = journal.plan_move(FIRST, State.BACKLOG, MoveReason(Event.STARTED), now)
    looked.file().rename(looked.file(state=State.IN_PROGRESS))
    journal.moved(planned)


CHANGES: tuple[Callable[[Looked], object], ...] = (
    lambda looked: looked.write(TEXT),
    lambda looked: looked.write(TEXT.replace("title: Say it", "title: Sing it")),
    lambda looked: looked.write("---\n"),
    lambda looked: looked.write(TEXT.replace("files:", "depends_on: [none]\nfiles:")),
    by_another,
    lambda looked: Waivers(looked.records.db).keep(FIRST, ["none"], "said so", looked.stage.clock.now()),
    begun,
    lambda looked: looked.file(state=State.IN_PROGRESS).rename(looked.file(state=State.FAILED)),
    lambda looked: looked.file(state=State.FAILED).unlink(),
)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)


def test_each_change_is_seen_and_without_one_nothing_is_put_together_again(stage: Stage) -> None:
    with open_records(stage.home.root, clock=stage.clock) as records:
        looked, seen = Looked(stage, records), [records.snapshot()]
        for change in CHANGES:
            change(looked)
            seen.append(records.snapshot())
            assert seen[-1] == looked.anew().snapshot() and seen[-1] != seen[-2]
            assert records.snapshot() is seen[-1]
    assert len({id(one) for one in seen}) == len(CHANGES) + 1


def test_the_board_that_was_asked_before_answers_as_one_that_was_just_started(stage: Stage) -> None:
    def asked(home: BoardHome) -> list[str]:
        return [home.read(readers.waiting), home.read(readers.goals), home.read(every_task)]

    def every_task(records: Records) -> object:
        return [readers.tasks(records, {"state": state, "goal": ""}, "", 50) for state in ("", *State)]

    board = BoardHome(stage.home.root, stage.clock)
    with open_records(stage.home.root, clock=stage.clock) as records:
        looked, said = Looked(stage, records), [asked(board)]
        for change in CHANGES:
            change(looked)
            said.append(asked(board))
            assert said[-1] == asked(BoardHome(stage.home.root, stage.clock))
    assert len(set(map(str, said))) > len(CHANGES) / 2


def test_whoever_is_shown_more_keeps_nobody_from_what_he_saw(stage: Stage) -> None:
    with open_records(stage.home.root, clock=stage.clock) as records:
        looked = Looked(stage, records)
        looked.write(TEXT)
        born(records)
        begun(looked)
        looked.file(state=State.IN_PROGRESS).rename(looked.file(state=State.FAILED))
        some, every = records.snapshot(), records.snapshot(None)
        assert records.snapshot() is some and records.snapshot(None) is every


def test_a_plan_that_nobody_approves_ends_by_the_clock_alone(stage: Stage) -> None:
    stage.given_config("policy", approve="{plan: always, days: 3}")
    with open_records(stage.home.root, clock=stage.clock) as records:
        looked, day = Looked(stage, records), records.day()
        id_ = f"{day.replace('-', '')}-01"
        looked.write(TEXT, id_)
        born(records, id_)
        records.plans.keep_plan(DailyPlan(day, (TaskSpec(id_, "Say it", "Say it.", files=("app.py",)),)), {})
        (card,) = records.snapshot().board.cards
        assert card.unapproved and not card.unwanted
        stage.clock.sleep(timedelta(days=4).total_seconds())
        (card,) = records.snapshot().board.cards
        assert card.unwanted == "nobody approved its plan within 3 days"
