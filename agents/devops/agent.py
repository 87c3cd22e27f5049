"""DevOps. One verb: carry out one step of a deploy -> what happened. It books nothing and decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol

from sisimpur.agents.devops.drivers.driver import Driver, Release, ReleaseFailed
from sisimpur.shared.model.deployment import (
    Build,
    ByHand,
    Deploy,
    DeployEvent,
    DeployStage,
    HealthLook,
    Healthy,
    Place,
    RollBack,
    Rule,
    Running,
    Save,
    Sick,
    Start,
    StepOutcome,
    Unsure,
    Watch,
    WatchRollback,
    judge,
)
from sisimpur.shared.model.errors import Stopping, Stumble, TeamError, Unavailable
from sisimpur.shared.model.scope import matches
from sisimpur.shared.system.clock import Clock

BACK_WATCH = 3.0  # seconds that the last healthy version has to be well again
WATCHED_ANEW = 60.0  # seconds that are watched after a start of ours, however long ago it was started
LONGEST_GAP = 120.0  # seconds that a look may be late, and count: a clock may jump, a machine may sleep
BEAT = 1.0  # seconds after which whoever waits looks up
NOT_PERMITTED = "; a container may do no more than `cap_add` of its service, or `deploy.capabilities`, names"


class Looks(Protocol):
    def look(self, driver: Driver, place: Place, commit: str, since: float, restarts_before: int = 0) -> HealthLook:
        """`since`: seconds from its start; `restarts_before`: how often it had been started again by itself then."""

    def last_words(self, driver: Driver, place: Place) -> str:
        """The newest of what it printed, on one line; empty: nothing."""


class Saves(Protocol):
    def is_wanted(self, place: Place) -> bool:
        """Say whether the owner names a command for it."""

    def save(self, place: Place, commit: str) -> Path:
        """Save the data -> where it lies. Stumble: there is no backup."""


@dataclass(frozen=True)
class DevOps:
    """`changed`: (old, new) -> the paths that differ. `every`: seconds between two looks.

    `forget`: (commits, backups) -> throws away what was laid out and saved for others.
    """

    driver: Driver
    sites: Mapping[Place, Looks]
    saves: Saves
    rule: Rule
    every: float
    migrations: tuple[str, ...]
    keep: int
    changed: Callable[[str, str], tuple[str, ...]]
    clock: Clock
    yields: Callable[[], bool]  # whether watching is left to who comes next
    overruled: Callable[[Deploy], bool]  # whether the owner has ordered another commit for its place
    forget: Callable[[Collection[str], Collection[str]], None]
    print_progress: Callable[[str], None]

    def carry_out(self, step: ByHand) -> StepOutcome:
        """EngineAway, Misconfigured: no commit is to blame. Stopping: it goes on with the next start."""
        match step:
            case Build(deploy):
                return self._build(deploy)
            case Save(deploy):
                return self._save(deploy)
            case Start(deploy):
                return self._start(deploy)
            case Watch(deploy):
                return self._watch(deploy)
            case RollBack(deploy):
                if not deploy.back_to or deploy.back_to == deploy.commit:
                    return StepOutcome(DeployEvent.LOST, f"{deploy.why}; no version is known that was healthy there")
                return StepOutcome(DeployEvent.SENT_BACK)
            case WatchRollback(deploy):
                return self._watch_back(deploy)

    def tidy(self, deploys: tuple[Deploy, ...]) -> None:
        """Throw away what nobody goes back to any more; that it cannot be is no reason to stop."""
        keep = frozenset(release for place in self.sites for release in _kept(place, deploys, self.keep))
        try:
            running = [found.commit for place in self.sites if (found := self.driver.running(place))]
            gone = self.driver.clean(keep)
        except TeamError as problem:
            self.print_progress(f"nothing was tidied up: {problem}")
            return
        saved = {deploy.backup for deploy in deploys if deploy.stage is DeployStage.STUCK and deploy.backup}
        self.forget({*running, *(release.commit for release in keep)}, saved)
        if gone.any:
            self.print_progress(f"thrown away, of old versions: {gone.containers} containers, {gone.builds} builds")

    def running(self, place: Place) -> Running | None:
        return self.driver.running(place)

    # -- forward ----------------------------------------------------------------------------------------------

    def _build(self, deploy: Deploy) -> StepOutcome:
        self.print_progress(f"{_name(deploy)}: building")
        try:
            self.driver.build(Release(deploy.place, deploy.commit))
        except (Stumble, Unavailable) as problem:
            return StepOutcome(DeployEvent.NOT_BUILT, str(problem))
        return StepOutcome(DeployEvent.BUILT)

    def _save(self, deploy: Deploy) -> StepOutcome:
        """Only what carries migrations changes data; the first version at a place has none yet."""
        if deploy.is_first or not self._migrates(deploy):
            return StepOutcome(DeployEvent.SAVED)
        if not self.saves.is_wanted(deploy.place):
            self.print_progress(
                f"{_name(deploy)}: it carries migrations, and no backup command is configured for {deploy.place}"
            )
            return StepOutcome(DeployEvent.SAVED)
        self.print_progress(f"{_name(deploy)}: it carries migrations; making a backup")
        try:
            return StepOutcome(DeployEvent.SAVED, backup=str(self.saves.save(deploy.place, deploy.commit)))
        except (Stumble, Unavailable) as problem:
            return StepOutcome(DeployEvent.NOT_SAVED, str(problem))

    def _migrates(self, deploy: Deploy) -> bool:
        """Say whether it may change the data: what nobody can compare with what ran before may."""
        try:
            changed = self.changed(deploy.back_to, deploy.commit) if deploy.back_to else None
        except TeamError:
            changed = None
        return changed is None or any(matches(path, self.migrations) for path in changed)

    def _start(self, deploy: Deploy) -> StepOutcome:
        """Start it.

        From here on the one before may be gone; unless it is found out before that it cannot be started.
        """
        self.print_progress(f"{_name(deploy)}: starting")
        try:
            self.driver.start(Release(deploy.place, deploy.commit))
        except (Stumble, Unavailable) as problem:
            untouched = isinstance(problem, ReleaseFailed) and problem.is_untouched and self._is_as_before(deploy)
            return StepOutcome(DeployEvent.NOT_TOUCHED if untouched else DeployEvent.SICKENED, str(problem))
        return StepOutcome(DeployEvent.STARTED)

    def _is_as_before(self, deploy: Deploy) -> bool:
        """An earlier try to start it may have been cut off half way."""
        found = self.driver.running(deploy.place)
        return not deploy.back_to or (found is not None and found.is_of(deploy.back_to) and not found.ended)

    # -- watching ---------------------------------------------------------------------------------------------

    def _watch(self, deploy: Deploy) -> StepOutcome:
        assert deploy.started_at
        self.print_progress(f"{_name(deploy)}: watched for {_minutes(self.rule.watch)}")
        overruled = partial(self.overruled, deploy)
        release = Release(deploy.place, deploy.commit)
        match self._vitals(release, deploy.started_at, self.rule, self.every, overruled):
            case Sick(why):
                return StepOutcome(DeployEvent.SICKENED, f"{why}{self._last_words(deploy.place, why)}")
            case Healthy():
                return StepOutcome(DeployEvent.PASSED)
            case None:
                return StepOutcome(DeployEvent.OVERRULED, "you asked for another version there")

    def _last_words(self, place: Place, why: str) -> str:
        """Read the last lines of its log for whoever has to mend it.

        That there are none must not hold up what follows.
        """
        try:
            said = self.sites[place].last_words(self.driver, place)
        except TeamError:
            return ""
        hint = NOT_PERMITTED if "operation not permitted" in said.lower() else ""
        return f"; its log ends: {said}{hint}" if said and said not in why else ""

    def _watch_back(self, deploy: Deploy) -> StepOutcome:
        """Started again if need be: after a kill nobody knows. Looked at from anew, until it is well."""
        release = Release(deploy.place, deploy.back_to)
        self.print_progress(f"{_name(deploy)}: sick: {deploy.why}; back to {deploy.back_to[:8]}")
        try:
            self.driver.build(release)  # somebody may have thrown away what was built
            self.driver.start(release, hurry=True)
        except (Stumble, Unavailable) as problem:
            return StepOutcome(DeployEvent.LOST, f"{deploy.why}; {deploy.back_to[:8]} does not start again: {problem}")
        rule = Rule(self.rule.grace, min(BACK_WATCH, self.rule.watch), 0, self.rule.restarts)
        match self._vitals(release, self.clock.now(), rule, min(self.every, BEAT)):
            case Sick(why):
                return StepOutcome(DeployEvent.LOST, f"{deploy.why}; {deploy.back_to[:8]} is not healthy again: {why}")
            case _:
                return StepOutcome(DeployEvent.RECOVERED)

    def _vitals(
        self, release: Release, since: datetime, rule: Rule, every: float, overruled: Callable[[], bool] = lambda: False
    ) -> Healthy | Sick | None:
        """None: the owner wants another version there, and nobody waits for the end of it."""
        looks: list[HealthLook] = []
        last = self.clock.now()
        up = min(_seconds(since, last), max(0.0, rule.watch - WATCHED_ANEW))
        found = self.driver.running(release.place)
        restarts = found.restarts if found else 0
        while not overruled():
            last, before = self.clock.now(), last
            up += min(_seconds(before, last), every + LONGEST_GAP)
            looks.append(self.sites[release.place].look(self.driver, release.place, release.commit, up, restarts))
            match judge(looks, rule):
                case Unsure(is_up):
                    self._sleep(every if is_up else min(every, BEAT))
                case vitals:
                    return vitals
        return None

    def _sleep(self, seconds: float) -> None:
        """Sleep, but hear within a second whoever asks us to end."""
        while seconds > 0:
            self._leave_if_asked()
            self.clock.sleep(min(seconds, BEAT))
            seconds -= BEAT
        self._leave_if_asked()

    def _leave_if_asked(self) -> None:
        if self.yields():
            raise Stopping("watching goes on with the next start")


def _kept(place: Place, deploys: Sequence[Deploy], keep: int) -> list[Release]:
    """The newest that were healthy there, and what is under way."""
    here = [deploy for deploy in deploys if deploy.place == place]
    healthy = list(dict.fromkeys(d.commit for d in reversed(here) if d.stage is DeployStage.HEALTHY))[:keep]
    under_way = [sha for deploy in here if not deploy.is_over for sha in (deploy.commit, deploy.back_to) if sha]
    return [Release(place, sha) for sha in dict.fromkeys((*healthy, *under_way))]


def _seconds(since: datetime, now: datetime) -> float:
    """A clock that was set back makes it none."""
    return max(0.0, (now - since).total_seconds())


def _name(deploy: Deploy) -> str:
    return f"{deploy.place} {deploy.commit[:8]}"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 60 else f"{seconds:g} s"
