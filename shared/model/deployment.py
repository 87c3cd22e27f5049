"""A deploy's life as one table, what is to be done next, and whether what was started is healthy. Pure.

What really runs is asked, not remembered. A deploy brings one commit to one place, once. What is sick goes back to the
last healthy commit, at most once; where there is none, or that is sick too, nobody guesses: the owner is called.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sisimpur.shared.model.naming import PLACES as PLACES
from sisimpur.shared.model.naming import Place as Place

FEWEST = 7  # digits of a commit that say which one it is


class DeployStage(StrEnum):
    """State of a deploy: how far it has come."""

    PLANNED = "planned"
    BUILT = "built"  # there is an image of the commit
    SAVED = "saved"  # there is a backup from before it
    STARTED = "started"  # it runs, and is watched
    HEALTHY = "healthy"  # it has passed its time of watching
    SICK = "sick"
    RETURNING = "returning"  # the last healthy commit is told to run again
    RETURNED = "rolled back"  # and it is healthy
    FAILED = "failed"  # it never ran: not built, or no backup; what ran before runs on
    STUCK = "stuck"  # nothing healthy runs, or nobody knows: the owner's turn
    OVERRULED = "overruled"  # the owner wants another version there: that one follows at once


class DeployEvent(StrEnum):
    BUILT = "built"
    NOT_BUILT = "it could not be built"
    NOT_TOUCHED = "it could not be started, and nothing was touched for it"
    SAVED = "a backup was made"
    NOT_SAVED = "no backup could be made"
    STARTED = "started"
    PASSED = "healthy all the time"
    SICKENED = "sick"
    SENT_BACK = "the last healthy version is started again"
    RECOVERED = "the last healthy version is healthy again"
    LOST = "nothing healthy runs"
    OVERRULED = "the owner wants another version there"


S, E = DeployStage, DeployEvent

TRANSITIONS: dict[tuple[DeployStage, DeployEvent], DeployStage] = {
    (S.PLANNED, E.BUILT): S.BUILT,
    (S.PLANNED, E.NOT_BUILT): S.FAILED,
    (S.BUILT, E.SAVED): S.SAVED,  # also if nothing had to be saved
    (S.BUILT, E.NOT_SAVED): S.FAILED,
    (S.SAVED, E.STARTED): S.STARTED,
    (S.SAVED, E.NOT_TOUCHED): S.FAILED,
    (S.SAVED, E.SICKENED): S.SICK,  # it could not even be started
    (S.STARTED, E.PASSED): S.HEALTHY,
    (S.STARTED, E.SICKENED): S.SICK,
    (S.SICK, E.SENT_BACK): S.RETURNING,
    (S.SICK, E.LOST): S.STUCK,
    (S.RETURNING, E.RECOVERED): S.RETURNED,
    (S.RETURNING, E.LOST): S.STUCK,
    (S.STARTED, E.OVERRULED): S.OVERRULED,
}

OVER = frozenset(DeployStage) - {stage for stage, _ in TRANSITIONS}  # nothing more is done at its place
BROKE = frozenset({S.RETURNED, S.STUCK})  # it ran, and was sick


def after(stage: DeployStage, event: DeployEvent) -> DeployStage:
    """The stage that follows, or ValueError."""
    try:
        return TRANSITIONS[stage, event]
    except KeyError:
        raise ValueError(f"a deploy that is {stage} cannot be {event}") from None


@dataclass(frozen=True)
class Deploy:
    """`commit` comes to `place`; `back_to` was healthy there before it (empty: nothing was).

    `asked`: the owner's own order. `is_first`: nothing was ever started there before. `reverts`: number of the pull
    request that takes the commit's change back, 0: none. `settled`: all that follows its end was done: the owner's
    message, after a sick one pull request and task too.
    """

    number: int
    place: Place
    commit: str
    stage: DeployStage
    back_to: str = ""
    why: str = ""  # what is wrong, or went wrong
    asked: bool = False
    is_first: bool = False
    begun_at: datetime | None = None
    started_at: datetime | None = None  # the time of watching counts from here
    ended_at: datetime | None = None
    backup: str = ""  # where what was saved lies
    reverts: int = 0
    settled: bool = False

    @property
    def is_over(self) -> bool:
        return self.stage in OVER

    @property
    def broke(self) -> bool:
        return self.stage in BROKE

    @property
    def runs(self) -> str:
        """The commit that was healthy at the place last, when this deploy is over; empty: nobody knows."""
        match self.stage:
            case DeployStage.HEALTHY:
                return self.commit
            case DeployStage.RETURNED | DeployStage.FAILED | DeployStage.OVERRULED:
                return self.back_to
            case _:
                return ""


# --- steps ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NewDeploy:
    """A new deploy."""

    place: Place
    commit: str
    back_to: str
    asked: bool = False


@dataclass(frozen=True)
class Build:
    deploy: Deploy


@dataclass(frozen=True)
class Save:
    deploy: Deploy


@dataclass(frozen=True)
class Start:
    deploy: Deploy


@dataclass(frozen=True)
class Watch:
    """Watch it until it has passed, or is sick."""

    deploy: Deploy


@dataclass(frozen=True)
class RollBack:
    """The last healthy one again; without one the owner is called."""

    deploy: Deploy


@dataclass(frozen=True)
class WatchRollback:
    """Is the last healthy one healthy again?"""

    deploy: Deploy


@dataclass(frozen=True)
class Settle:
    """Settle its end: a word to the owner; after a sick one a pull request that takes it back, its task again."""

    deploy: Deploy


@dataclass(frozen=True)
class NothingToDeploy:
    """Rest: nothing to do. `why`: what it waits for; empty: everything is live."""

    why: str = ""


ByHand = Build | Save | Start | Watch | RollBack | WatchRollback  # what DevOps carries out
Step = NewDeploy | ByHand | Settle | NothingToDeploy


@dataclass(frozen=True)
class StepOutcome:
    """Outcome of a step that was carried out. `backup`: where what was saved lies."""

    event: DeployEvent
    why: str = ""
    backup: str = ""


@dataclass(frozen=True)
class Order:
    """The owner's own: this commit, at this place, now."""

    number: int
    place: Place
    commit: str


@dataclass(frozen=True)
class DeployFacts:
    """Facts that the decision is made of.

    `deploys`: all of the places, the oldest first. `candidates`: what may go live after what is healthy at the first
    place, the oldest first: each merge of ours, and the newest commit. `held`: why none is begun unasked. `forgiven`:
    deploys up to this number may be tried again, by the owner's word.
    """

    places: tuple[Place, ...]
    deploys: tuple[Deploy, ...]
    candidates: tuple[str, ...] = ()
    orders: tuple[Order, ...] = ()
    held: str = ""
    forgiven: int = 0


def next_step(facts: DeployFacts) -> Step:
    """What was begun is brought to its end, and settled, before anything new; the owner's orders come first."""
    for deploy in facts.deploys:
        if step := following(deploy):
            return step
    if facts.orders:  # before what is settled: that may need the forge, and what is down waits for nobody
        order = facts.orders[0]
        return NewDeploy(order.place, order.commit, healthy_at(order.place, facts.deploys), asked=True)
    for deploy in facts.deploys:
        if not deploy.settled:
            return Settle(deploy)
    if facts.held:
        return NothingToDeploy(facts.held)
    for place in reversed(facts.places):  # what is farther on the way comes first
        if commit := _due_at(place, facts):
            return NewDeploy(place, commit, healthy_at(place, facts.deploys))
    return NothingToDeploy()


def following(deploy: Deploy) -> ByHand | None:
    """Return what is done for it now, by hand; None: it is over."""
    steps: Mapping[DeployStage, type[Build | Save | Start | Watch | RollBack | WatchRollback]] = {
        S.PLANNED: Build,
        S.BUILT: Save,
        S.SAVED: Start,
        S.STARTED: Watch,
        S.SICK: RollBack,
        S.RETURNING: WatchRollback,
    }
    return steps[deploy.stage](deploy) if deploy.stage in steps else None


def healthy_at(place: Place, deploys: Sequence[Deploy]) -> str:
    """The commit that was healthy there last; empty: none ever was, or nobody knows since."""
    last = [deploy for deploy in deploys if deploy.place == place and deploy.is_over]
    return last[-1].runs if last else ""


def _due_at(place: Place, facts: DeployFacts) -> str:
    """One merge after the other, so that what is sick has one cause; farther on, what was healthy before it."""
    tried = {d.commit for d in facts.deploys if d.place == place and d.number > facts.forgiven}
    at = facts.places.index(place)
    before = healthy_at(facts.places[at - 1], facts.deploys) if at else ""
    due = ([before] if before else []) if at else facts.candidates
    live = healthy_at(place, facts.deploys)
    behind = left_behind(place, facts.deploys) if at else ()  # no place goes back by itself since another one did
    return next((commit for commit in due if commit not in tried and commit != live and commit not in behind), "")


def left_behind(place: Place, deploys: Sequence[Deploy]) -> tuple[str, ...]:
    """Return what was healthy there before the one that runs was, the oldest first."""
    healthy = [deploy.commit for deploy in deploys if deploy.place == place and deploy.stage is DeployStage.HEALTHY]
    live = healthy_at(place, deploys)
    return tuple(healthy[: healthy.index(live)] if live in healthy else healthy)


def unwatched(deploy: Deploy, deploys: Sequence[Deploy]) -> str:
    """Return what an order of the owner's cut off, and did not replace: it runs still; empty: there is none."""
    before = [d for d in deploys if d.place == deploy.place and d.number < deploy.number and d.stage is not S.FAILED]
    cut = bool(before) and before[-1].stage is S.OVERRULED
    return before[-1].commit if deploy.stage is S.FAILED and cut else ""


def waiting_for_revert(deploys: Sequence[Deploy], forgiven: int) -> tuple[Deploy, ...]:
    """List the sick whose commit may be on the branch still, until the owner says that it does not matter."""
    return tuple(deploy for deploy in deploys if deploy.broke and deploy.reverts and deploy.number > forgiven)


def in_vain(place: Place, deploys: Sequence[Deploy], forgiven: int, reverts: Collection[str]) -> int:
    """Count those in a row that came to nothing. The owner's orders, and what only takes another back, do not count."""
    count = 0
    for deploy in deploys:
        if deploy.place == place and deploy.number > forgiven and not deploy.asked and deploy.commit not in reverts:
            count = 0 if deploy.stage is S.HEALTHY else count + deploy.is_over
    return count


@dataclass(frozen=True)
class Running:
    """Report of a place about itself. `ended`: how it ended, if it does not run; empty: it runs.

    `restarts`: how often it was started again by itself.
    """

    commit: str
    ended: str = ""
    restarts: int = 0

    def is_of(self, commit: str) -> bool:
        """Tell whether it is that commit, given in full. A place may know its first digits only, FEWEST or more."""
        return len(self.commit) >= FEWEST and commit.startswith(self.commit)


# --- health ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """Rule of the owner's configuration. Seconds count from the start."""

    grace: float = 30.0  # while it comes up, pages need not answer
    watch: float = 900.0  # healthy for so long, and it is left alone
    flaps: int = 5  # looks that needed a second try: so many, and it is sick
    restarts: int = 0  # that are forgiven


@dataclass(frozen=True)
class HealthLook:
    """One look at a place. `wrong`: the first page that did not answer as it should, after all its retries."""

    at: float  # seconds since the start
    wrong: str = ""
    tries: int = 1  # the most that a page needed
    dead: str = ""  # how it ended, if it does not run any more
    restarts: int = 0  # since the start
    logged: str = ""  # a line of its log that says that it is sick

    @property
    def is_well(self) -> bool:
        return not (self.wrong or self.dead or self.logged)


@dataclass(frozen=True)
class Healthy:
    """Vitals of a place that has been well for its whole time of watching."""


@dataclass(frozen=True)
class Sick:
    why: str


@dataclass(frozen=True)
class Unsure:
    """Vitals when it is too early to say. `is_up`: it was well at the last look."""

    is_up: bool


Vitals = Healthy | Sick | Unsure


def judge(looks: Sequence[HealthLook], rule: Rule) -> Vitals:
    """`looks`: all since the start that we know of, the newest last."""
    if not looks:
        return Unsure(is_up=False)
    last = looks[-1]
    if why := _sickness(looks, rule):
        return Sick(why)
    return Healthy() if last.is_well and last.at >= rule.watch else Unsure(last.is_well)


def _sickness(looks: Sequence[HealthLook], rule: Rule) -> str:
    last = looks[-1]
    if last.dead:
        return last.dead
    if last.restarts > rule.restarts:
        return f"it was started again {last.restarts} times by itself"
    if last.logged:
        return f"its log says: {last.logged}"
    came_up = [look for look in looks if look.is_well]
    if last.wrong and (came_up or last.at >= rule.grace):
        return last.wrong if came_up else f"not up after {rule.grace:g} s: {last.wrong}"
    flapped = [look for look in came_up[1:] if look.tries > 1]  # while it comes up, another try is no wonder
    if rule.flaps and len(flapped) >= rule.flaps:
        return f"it answers only now and then: {len(flapped)} of {len(looks)} looks needed another try"
    return ""
