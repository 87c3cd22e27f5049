"""Tasks that only the owner can free: on what, since when, and what is typed. Looks and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sisimpur.agents.orchestrator.board.plan_approval import unapproved
from sisimpur.agents.orchestrator.board.snapshot import Snapshot
from sisimpur.shared.model.lifecycle import Obstacle, State
from sisimpur.shared.model.text import few

MOST_NAMED = 5  # tasks of a line


@dataclass(frozen=True)
class StuckTask:
    """A task that waits for what will not come. `ways`: what the owner may type, after the program's name."""

    task: str
    title: str
    why: str
    since: str  # YYYY-MM-DD HH:MM
    on: str = ""  # the task that it is stuck on; empty: it is none
    ways: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()  # tasks that wait for it in turn
    together: tuple[str, ...] = ()  # all that wait for each other, or for one word; this one among them

    @property
    def words(self) -> str:
        """What it is stuck on, since when, and who waits behind it."""
        verb = "wait" if self.behind[1:] else "waits"
        behind = f"; {few(self.behind, MOST_NAMED)} {verb} behind it" if self.behind else ""
        since = f", since {self.since}" if self.since else ""  # who looks may be the first to see it
        return f"{self.why}{since}{behind}"


def stuck_tasks(seen: Snapshot) -> tuple[StuckTask, ...]:
    """All of them, by id."""
    return tuple(_stuck(task, found, seen) for task, found in seen.board.stuck.items())


def _stuck(task: str, found: Obstacle, seen: Snapshot) -> StuckTask:
    card = seen.board.card(task)
    title = card.spec.title if card and card.spec else task
    together = () if found.on else seen.board.circle_of.get(task) or unapproved(seen.board)
    return StuckTask(
        task,
        title,
        f"{found.why} ({few(together, MOST_NAMED)})" if together else found.why,
        _since(task, found.on, seen),
        found.on,
        tuple(_ways(task, found.on, seen)),
        _behind(task, seen) if not together or together[0] == task else (),
        together,
    )


def told_once(stuck: Iterable[StuckTask]) -> tuple[StuckTask, ...]:
    """Of those that are stuck together one, which names the others."""
    return tuple(one for one in stuck if not one.together or one.together[0] == one.task)


def _behind(task: str, seen: Snapshot) -> tuple[str, ...]:
    """Without those that are stuck themselves: they ask on their own."""
    return tuple(one for one in seen.board.behind(task) if one not in seen.board.stuck)


def _ways(task: str, on: str, seen: Snapshot) -> Iterator[str]:
    card = seen.board.card(task)
    if card and card.unapproved and task not in seen.board.circle_of:
        yield "approve plan"
    yield f"unblock {task}"
    yield f"cancel {task}"
    other = seen.board.card(on)
    if other and other.state is State.FAILED:
        yield f"retry {on}"


def _since(task: str, on: str, seen: Snapshot) -> str:
    """When the other one ended; or, without one, when anything last happened to this one."""
    known = seen.known.get(on) or seen.known.get(task)
    return known.since[:16].replace("T", " ") if known else ""
