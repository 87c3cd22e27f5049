"""The owner's answer about a task, wherever he gives it: what it does to the task's file and to the gates' book."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sisimpur.agents.orchestrator.board.plan_approval import PLAN, mark_of, waits
from sisimpur.agents.orchestrator.vision.goal_ids import is_note
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.evidence import Finding
from sisimpur.shared.model.lifecycle import Board, Card, Event, State, awaited, owner_moved, waits_for
from sisimpur.shared.model.text import counted, one_line
from sisimpur.shared.model.work import Question
from sisimpur.shared.store.gate_book import AwaitingOwner, GateRepository, RuledOver, Ruling, Said
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.store.task_records import Happened, Waivers
from sisimpur.shared.store.task_store import TaskStore
from sisimpur.shared.system.clock import Clock

SHORTEST = 4  # letters of a signature
Move = Literal["reject", "retry", "cancel", "done"]
Word = Literal["approve", "reject", "retry", "cancel", "retest", "unblock"]


LONGEST_ANSWER = 1_000  # characters


@dataclass(frozen=True)
class Meaning:
    """Where the file goes, as which events, and what the gates' book keeps."""

    target: State
    events: tuple[Event, ...]
    said: Said


MEANINGS: Mapping[Word | Move, Meaning] = {
    "retry": Meaning(State.BACKLOG, (Event.RETRIED, Event.WITHDRAWN), "correct"),
    "reject": Meaning(State.FAILED, (Event.CANCELLED,), "reject"),
    "cancel": Meaning(State.FAILED, (Event.CANCELLED,), "reject"),
    "done": Meaning(State.COMPLETED, (Event.DONE_BY_OWNER,), "reject"),  # of the team's change: the owner's is there
}


_INSTEAD: Mapping[State, str] = {
    State.BACKLOG: "it is to be done already; what it waits for, if for anything, says: python main.py tasks",
    State.FAILED: "nobody works on it any more",
    State.COMPLETED: "it is done; a deploy is taken back with: python main.py rollback",
}


RESTORED = (State.COMPLETED, State.FAILED, State.IN_REVIEW)  # where a retry can be taken back to


def taken_back(source: State, history: Sequence[Happened], born: State) -> State | None:
    """Where a task was that the owner retries, of which nobody has begun anything; None: it is no such task.

    `history`: what the team has booked; what the owner has moved since lies elsewhere. `born`: where it was first seen.
    """
    booked = [born, *(one.target for one in history)]
    if source is not State.BACKLOG:
        return None
    if booked[-1] in RESTORED:
        return booked[-1]
    is_new = bool(history) and history[-1].event is Event.RETRIED
    return State.COMPLETED if is_new and booked[-2] is State.COMPLETED else None


def destination(word: Move, task: str, source: State) -> State:
    """Where the file goes. Misconfigured: the word means nothing there."""
    meaning = MEANINGS[word]
    if source is State.GONE:
        raise Misconfigured(f"{task} is gone: to have it done, put its file back into tasks/backlog/")
    if owner_moved(source, meaning.target) not in meaning.events:
        raise Misconfigured(f"{task} lies in {source}/; {word} does nothing there: {_INSTEAD[source]}")
    return meaning.target


def begins_without(card: Card, board: Board) -> tuple[str, ...]:
    """What it would not wait for any more. Misconfigured: it waits for nothing, or for what ends by itself."""
    if card.state is not State.BACKLOG or card.spec is None:
        raise Misconfigured(f"{card.id} lies in {card.state}/ and waits for no other task")
    needed = card.spec.depends_on if card.waits else ()  # all of it is done, but on a branch that has not landed
    found = tuple(id_ for id_ in (awaited(card, board) or needed) if id_ not in card.waived)
    if card.unapproved or found:
        return (*found, *((PLAN,) if card.unapproved else ()))
    if why := waits_for(card, board):
        raise Misconfigured(f"{card.id} {why}: that ends without you")
    raise Misconfigured(f"{card.id} waits for no other task: it begins when its turn comes")


@dataclass(frozen=True)
class GoalAnswers:
    """`asked`: what is asked now; `wordings`: how goals and notes are worded, by id."""

    plans: PlanRepository
    asked: Callable[[], Sequence[Question]]
    wordings: Callable[[], Mapping[str, str]]
    now: Callable[[], datetime]

    def answer(self, goal: str, text: str) -> str:
        """Answer all that is asked about a goal. Misconfigured: it is a note, or nothing is said."""
        said = one_line(text, LONGEST_ANSWER)
        if not said:
            raise Misconfigured("say what you answer: answer ID TEXT")
        if is_note(goal):
            raise Misconfigured(f"{goal} is a note: answer it by changing it in VISION.md")
        worded = self.wordings().get(goal, "")
        for question in (one for one in self.asked() if one.goal_id == goal):
            self.plans.answer(question, worded, said, self.now())
        return f"{goal}: answered; it is planned with the next planning"


@dataclass(frozen=True)
class OwnerAnswers:
    """An answer's effect, given at the forge or at the terminal."""

    store: TaskStore
    gates: GateRepository
    clock: Clock
    journal: Journal

    def state(self, task: str) -> State:
        """Where its file lies."""
        return next(iter(self.store.find(task)), State.GONE)

    def approve(self, task: str, state: State, why: str, commit: str = "") -> AwaitingOwner:
        """Exactly the change that waits. Misconfigured: none does, or not this `commit`, if the owner names one."""
        parked = self.gates.parked(task)
        if state is not State.IN_REVIEW or parked is None:
            raise Misconfigured(f"{task} lies in {state}/ and does not wait for you; see: python main.py status")
        evidence = self.gates.newest(task)[0] if commit else None  # read after: what is newer than both is refused
        if commit and (evidence is None or evidence.commit != commit):
            raise Misconfigured(f"{task} has changed since {commit[:8]}; look again: python main.py show {task}")
        self.gates.rule(task, Ruling("approve", parked.subject, why, self.clock.now(), parked.terms))
        return parked

    def approve_over(self, task: str, state: State, named: str, why: str) -> Finding:
        """Settle one finding of the newest review for its line; a task that has failed is tried again.

        `named`: its number or how its signature begins. Misconfigured: there is no such finding, or it is about a
        guard or a key.
        """
        _, reviewed = self.gates.newest(task)
        finding = _named(reviewed.verdict.findings if reviewed else (), named)
        if finding is None:
            raise Misconfigured(f"{task} has no finding {named}; see them with: python main.py show {task}")
        if finding.is_guarded:
            raise Misconfigured(f"nobody's word is over a {finding.rule}: {finding.text}")
        told = f"{finding.rule} at {finding.path}:{finding.line}"
        self.gates.rule_over(task, RuledOver(finding.signature, told, why, self.clock.now()))
        if state is State.FAILED:
            self.move(task, state, "retry", "")
        return finding

    def move(self, task: str, source: State, word: Move, why: str) -> State:
        """Where the file lies now; `why` reaches the coder. Misconfigured: the word means nothing there.

        What is to be done already needs no retry, but hears why. A retry of which nothing is begun is only taken back.
        """
        meaning = MEANINGS[word]
        if source is meaning.target is State.BACKLOG and why:
            self.note(task, meaning.said, why)
            return source
        target = destination(word, task, source)
        before = None
        if word in ("reject", "cancel"):
            before = taken_back(source, self.journal.history(task), self.journal.born_in(task))
        if before is None:
            parked = self.gates.parked(task)
            self.gates.rule(task, Ruling(meaning.said, parked.subject if parked else "", why, self.clock.now()))
        if not self.store.move(task, source, before or target):
            raise Misconfigured(f"{task} has just been moved; look again with: python main.py tasks")
        return before or target

    def require_again(self, task: str, state: State) -> None:
        """Misconfigured: it is done, and nobody has said that it is to be done once more."""
        if state is State.COMPLETED:
            raise Misconfigured(
                f"{task} is done; to have it done once more, on top of that: python main.py retry {task} --again"
            )

    def retest(self, task: str, state: State) -> None:
        """Run its tests once more, on the same change: no model is asked. Misconfigured: it is not at the gates."""
        if state is not State.IN_REVIEW:
            raise Misconfigured(f"{task} lies in {state}/ and has no tests to run again; see: python main.py tasks")
        self.gates.test_again(task)

    def note(self, task: str, said: Said, why: str) -> None:
        """Keep a reason that was not given before."""
        if why not in {ruling.why for ruling in self.gates.rulings(task)}:
            self.gates.rule(task, Ruling(said, "", why, self.clock.now()))


@dataclass(frozen=True)
class PlanAnswers:
    """The owner's word on the tasks of a plan that waits for it, wherever he gives it. `board`: as it is now."""

    board: Callable[[], Board]
    waivers: Waivers
    tasks: OwnerAnswers

    def waiting(self) -> tuple[Card, ...]:
        """The tasks that wait."""
        return waits(self.board())

    def mark(self) -> str:
        """What stands for exactly these tasks in these words. Empty: none waits."""
        return mark_of(self.board())

    def approve(self, why: str, seen: str = "") -> str:
        """Let all of them begin; what is planned later asks anew. `seen`: the mark of what the owner saw.

        Misconfigured: none waits, or another plan than he saw.
        """
        waiting = self._of(seen)
        for card in waiting:
            self.waivers.keep(card.id, (PLAN,), why, self.tasks.clock.now())
        return _told(waiting, "approved")

    def drop(self, why: str, seen: str = "") -> str:
        """Cancel all of them. As `approve`."""
        waiting = self._of(seen)
        for card in waiting:
            self.tasks.move(card.id, State.BACKLOG, "cancel", why)
        return f"{_told(waiting, 'dropped')}; the goals are planned anew"

    def unblock(self, task: str, why: str) -> str:
        """Let one begin without those that it waits for. Misconfigured: it waits for none."""
        board = self.board()
        if task not in board.by_id:
            raise Misconfigured(f"{task} is gone: to have it done, put its file back into tasks/backlog/")
        without = begins_without(board.by_id[task], board)
        self.waivers.keep(task, without, why, self.tasks.clock.now())
        return f"begins without {', '.join(without)}"

    def _of(self, seen: str) -> tuple[Card, ...]:
        board = self.board()
        if not waits(board):
            raise Misconfigured("no plan waits for you; whether one does says `approve` in config/policy.yaml")
        if seen and seen != mark_of(board):
            raise Misconfigured("the plan has changed since you looked at it")
        return waits(board)


def _told(waiting: Sequence[Card], what: str) -> str:
    titles = "; ".join(f"{card.id} {card.spec.title}" if card.spec else card.id for card in waiting)
    return f"{counted(len(waiting), 'task')} of the plan {what} ({titles})"


def _named(findings: Sequence[Finding], named: str) -> Finding | None:
    if named.isdecimal() and 0 < int(named) <= len(findings):
        return findings[int(named) - 1]
    meant = {one.signature: one for one in findings if len(named) >= SHORTEST and one.signature.startswith(named)}
    return next(iter(meant.values())) if len(meant) == 1 else None
