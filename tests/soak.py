"""Months in minutes: simulated days of one home with good and bad luck, and the laws that hold all the while.

Real: git, SQLite, the meter, the committer, the local forge, the daemon's ticks. Scripted: model, engine, tests, time.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from sisimpur.agents.orchestrator.daemon import Daemon, End, Outside
from sisimpur.cli.wiring.config_watch import ConfigWatch
from sisimpur.cli.wiring.housekeeping import tidy
from sisimpur.cli.wiring.lifetime import Quitting, Stop
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.cli.wiring.team import open_team
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.store.activity import STOPPED, Epochs
from sisimpur.shared.system import lock
from sisimpur.shared.system.clock import ManualClock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.days import MIDNIGHT, Days
from tests.journey.luck import FILES, Dice, Fate, Improvised, Killed, Owner, Post, World, suite
from tests.journey.stage import ScriptedWorkshop, Stage
from tests.recount import recounted
from tests.soak_figures import Figures, growth, resident, row

STEP = timedelta(hours=3)
RECOUNTED_EACH = 5  # days: every figure of the evening's page and message, from the books alone
TALK_MEGABYTES = 1  # what was said may take so much: half of what all these months say
MEASURED_EACH = 30  # days
TICKS = 7  # of which the fastest is told: others may be using the machine


@dataclass
class Soak:
    """One home, and what has happened to it so far."""

    folder: Path
    luck: int
    say: Callable[[str], None]
    figures: list[Figures] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)  # laws
    kills: int = 0
    reloads: int = 0
    billed: int = 0
    seconds: float = 0.0
    states: dict[str, int] = field(default_factory=dict)  # how many tasks lie where, at the end

    def live(self, days: int, each: int = MEASURED_EACH) -> None:
        """`each`: so many days lie between two measurements."""
        self.dice, self.clock = Dice(self.luck), ManualClock(MIDNIGHT)
        self.script = Improvised(self.dice)
        with ScriptedModel(self.script) as self.model:
            self.fate, self.post = Fate(self.dice), Post(self.folder / "post")
            self.stage = Stage(self.folder, self.model.url, self.fate, suite, services=[self.post])
            self.stage.set_up("# Vision\n", FILES)
            self.stage.given_config("agents", engine="{launcher: shim, patience: 0}")
            self.stage.given_config("policy", capacity="{tasks_per_day: 3, parallel: 2, open_pulls: 5}")
            with (self.stage.home.config / "policy.yaml").open("a") as file:
                file.write(f"talk: {{days: 3650, megabytes: {TALK_MEGABYTES}}}\n")  # size alone throws away
            config = {path.name: path.read_text() for path in self.stage.home.config.glob("*.yaml")}
            self.world = World(self.stage, self.dice, self.script, self.post, config)
            self.owner = Owner(self.stage, self.dice)
            began = time.perf_counter()
            self._live(days, each)
            self.seconds = time.perf_counter() - began
            for words in growth(self.figures):
                self._breaks(words)

    # -- one life after the other -----------------------------------------------------------------------------

    def _live(self, days: int, each: int) -> None:
        events, is_over = self._story(days, each), False
        while not is_over:
            try:
                with self._life() as life:
                    while life.end is None and (event := next(events, None)):
                        event(life)
                self.reloads += life.end == "reload"
                is_over = life.end is None
            except Killed:
                self.kills += 1
            except TeamError as problem:  # the owner is told, and mends it
                self.stage.said.append(str(problem))
                self.world.is_mended()

    @contextmanager
    def _life(self) -> Iterator[Days]:
        """As `start --foreground` has it: the lock, an epoch, the settings as they are now."""
        home, stop = self.stage.home, Stop()

        def make(records: Records, *_: object) -> ScriptedWorkshop:
            return ScriptedWorkshop(self.stage, records.home.meter_socket, lambda: None)

        with (
            lock.hold(home.lock),
            open_records(home.root, {}, self.clock) as records,
            open_team(
                records, self.stage.said.append, make, lambda _: self.stage.services, Quitting(stop), mode="daemon"
            ) as team,
        ):
            epochs, watch = Epochs(records.db), ConfigWatch(home, {}, self.stage.said.append)
            number = epochs.begin(os.getpid(), self.clock.now())
            records.db.guard(number)

            def check() -> End | None:
                epochs.seen(number, self.clock.now())
                watch.look(self.clock.now())
                return "reload" if watch.settings != records.settings else None

            def after(phase: str, _: bool) -> None:
                if phase == "wrap_up":
                    talk = records.settings.policy.talk
                    self.stage.said.extend(tidy(home, records.db, team.mirror, self.clock.now(), talk=talk))
                    self._check_talk(records)
                    records.db.close()

            outside = Outside(lambda _: nullcontext(), check, after)
            life = Days(records, self.clock, Daemon(team, records.settings.schedules.schedule, outside), stop, [])
            yield life
            epochs.end(number, self.clock.now(), STOPPED)

    # -- what happens -----------------------------------------------------------------------------------------

    def _story(self, days: int, each: int) -> Iterator[Callable[[Days], None]]:
        for number in range(1, days + 1):
            throw = self.dice.of("day", number)
            midnight = MIDNIGHT + timedelta(days=number - 1)
            if throw.random() < 0.03 and number % each:
                yield lambda _, day=midnight: self.clock.set(day + timedelta(days=1))  # type: ignore[misc]
                continue  # a suspended machine
            yield from self._day(midnight, throw.random)
            if number % each == 0:
                yield lambda _: self.world.is_mended()
                yield from self._passes(midnight + timedelta(hours=22, minutes=30))
                yield lambda life, day=number: self._measure(life, day)  # type: ignore[misc]
            yield from self._passes(midnight + timedelta(days=1))
            yield lambda life: self._end_of_day(life)
        yield lambda _: self.world.is_mended()
        yield from self._passes(MIDNIGHT + timedelta(days=days, hours=21))
        yield lambda life: self._settled(life)

    def _day(self, midnight: datetime, chance: Callable[[], float]) -> Iterator[Callable[[Days], None]]:
        day = midnight.date().isoformat()
        at = {name: midnight + timedelta(hours=6 + 15 * self.dice.of(name, day).random()) for name in ACTS}
        for name in sorted(at, key=lambda name: at[name]):
            if self.dice.of("whether", name, day).random() < ACTS[name]:
                yield from self._passes(at[name])
                yield lambda life, name=name: self._act(name, life)  # type: ignore[misc]

    def _act(self, name: str, life: Days) -> None:
        throw = self.dice.of("act", name, self.clock.now())
        match name:
            case "goals":
                self.owner.edits_goals(throw)
            case "files":
                self.owner.edits_files(throw)
            case "answers":
                self.owner.answers(life, throw)
            case "trouble":
                self.world.goes_wrong(throw)
            case "mended":
                self.world.is_mended()
            case "kill":
                raise Killed
            case "clock":
                self.clock.set(self.clock.now() + timedelta(hours=throw.choice((-1, 1))))

    def _passes(self, until: datetime) -> Iterator[Callable[[Days], None]]:
        while self.clock.now() < until:
            yield lambda life: life.until(min(until, self.clock.now() + STEP), STEP)

    def _end_of_day(self, life: Days) -> None:
        self.fate.may_kill = True
        self.billed += sum(request.billed for request in self.model.requests)
        for full in (self.model.requests, self.stage.said, self.stage.engines, life.after):
            full.clear()
        self._check_laws(life)

    # -- laws -------------------------------------------------------------------------------------------------

    def _check_laws(self, life: Days) -> None:
        day = (self.clock.now() - timedelta(days=1)).date()
        if not (self.stage.home.reports / f"{day}.md").exists():
            self._breaks(f"{day} has no report")
        elif day.toordinal() % RECOUNTED_EACH == 0 and not self.owner.scribbles:  # what nobody can read is in no book
            for wrong in recounted(self.stage.home.root, day.isoformat()):
                self._breaks(f"{day}: {wrong}")
        book = self._sum(life, "select sum(amount) from calls where state <> 'refused'")
        if book < self.billed:
            self._breaks(f"{day}: the book says {book}, the vendor {self.billed}")
        names = [name for ids in life.records.store.names().values() for name in ids]
        if twice := {name for name in names if names.count(name) > 1}:
            self._breaks(f"{day}: in two folders: {twice}")

    def _check_talk(self, records: Records) -> None:
        """After the evening what was said takes no more than the owner allows, and each row has its file."""
        rows = records.db.rows("select day, max(begin + size) as ends from conversations group by day")
        sizes = {path.stem: path.stat().st_size for path in self.stage.home.talk.glob("*.talk")}
        if sum(sizes.values()) > TALK_MEGABYTES * 1_000_000:
            self._breaks(f"what was said takes {sum(sizes.values())} bytes")
        for one in rows:
            if sizes.get(one["day"], 0) < one["ends"]:
                self._breaks(f"what was said on {one['day']} is gone, and its rows are not")

    def _settled(self, life: Days) -> None:
        """After a calm day each task is over, or it waits for the owner."""
        names = life.records.store.names()
        self.states = {str(state): len(ids) for state, ids in names.items()}
        for known in life.records.journal.every_task().values():
            if known.seen_in in (State.BACKLOG, State.IN_PROGRESS):
                self._breaks(f"{known.id} is still in {known.seen_in}")

    def _breaks(self, words: str) -> None:
        self.broken.append(words)
        self.say(f"BROKEN: {words}")

    def _sum(self, life: Days, sql: str) -> int:
        row = life.records.db.row(sql)
        return int(row[0] or 0) if row else 0

    # -- figures ----------------------------------------------------------------------------------------------

    def _measure(self, life: Days, day: int) -> None:
        home = self.stage.home
        gc.collect()  # of lives that were cut off; when Python does it by itself is chance
        found = Figures(
            day=day,
            rss=resident(),
            descriptors=len(os.listdir("/proc/self/fd")),
            threads=threading.active_count(),
            files=sum("objects" not in path.parts for path in home.state.rglob("*")),
            database=home.database.stat().st_size,
            logs=sum(path.stat().st_size for path in home.logs.rglob("*")),
            talk=sum(path.stat().st_size for path in home.talk.glob("*.talk")),
            tasks=len(life.records.journal.every_task()),
            tick=self._idle_tick(life),
        )
        self.figures.append(found)
        self.say(row(found))

    def _idle_tick(self, life: Days) -> float:
        times = []
        for _ in range(TICKS):
            self.clock.sleep(60)
            began = time.perf_counter()
            life.tick()
            times.append(time.perf_counter() - began)
        return min(times)


ACTS = {  # what may happen once a day, and how probable it is
    "goals": 0.5,
    "files": 0.3,
    "answers": 0.7,
    "trouble": 0.5,
    "mended": 0.7,
    "kill": 0.07,
    "clock": 0.03,
}
