"""Move -> what is done about it: at the folders, the books and the forge. One act, one record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from sisimpur.agents.orchestrator.board.events import GivenUp, TaskRejected
from sisimpur.agents.orchestrator.board.roles import ChecksChange
from sisimpur.agents.orchestrator.board.snapshot import Snapshot
from sisimpur.agents.orchestrator.board.transitions import Bookkeeping
from sisimpur.agents.orchestrator.coding import Coding
from sisimpur.agents.orchestrator.decide import (
    AbandonAttempt,
    AdoptTask,
    ApplyOwnerMove,
    CancelTask,
    CodeTask,
    Deliver,
    Gate,
    GiveUp,
    Move,
    Rebase,
    Rest,
    StackRun,
)
from sisimpur.agents.orchestrator.gate_books import GateBooks
from sisimpur.agents.orchestrator.gates import Gatekeeper
from sisimpur.agents.orchestrator.goals.standing import beside
from sisimpur.agents.orchestrator.integration.feature_branches import lands
from sisimpur.agents.orchestrator.integration.partial_goals import may_be_given_back
from sisimpur.agents.orchestrator.publishing import gate_text
from sisimpur.agents.orchestrator.publishing.delivery import Delivery, PullFacts
from sisimpur.shared.forge.forge import Pull, RateLimited
from sisimpur.shared.model.errors import (
    BrokenSetup,
    ForgeUnavailable,
    Misconfigured,
    Refused,
    Replaced,
    Stopping,
    Stumble,
    TeamError,
    Unavailable,
)
from sisimpur.shared.model.evidence import Evidence, SuiteRun
from sisimpur.shared.model.lifecycle import Card, Event, State
from sisimpur.shared.model.naming import attempt_ref
from sisimpur.shared.model.work import GoalWord, Run, TaskSpec, Vision
from sisimpur.shared.money.ledger_reader import LedgerReader
from sisimpur.shared.repo.mirror_commits import AlreadyThere, Conflict, Rebased
from sisimpur.shared.store.gate_book import GateRepository
from sisimpur.shared.store.goal_book import GoalWords
from sisimpur.shared.store.journal import MoveReason
from sisimpur.shared.store.queue_book import QueuePlace
from sisimpur.shared.store.task_records import TaskRecord

ENDS_A_PULL = (Event.CANCELLED, Event.DELETED, Event.DONE_BY_OWNER)


@dataclass(frozen=True)
class Deliveries:
    """What a delivery says of a task: the title of its goal, and what it has cost."""

    delivery: Delivery
    ledger: LedgerReader
    wanted: Callable[[], Vision | None]  # the vision, and what the team proposed besides
    words: GoalWords

    def facts(self, spec: TaskSpec, into: str, tasks: Collection[str]) -> PullFacts:
        """`tasks`: whose work it brings."""
        vision = self.wanted()
        goals = vision.goals if vision else ()
        goal = next((goal.title for goal in goals if goal.id == spec.goal_id), "")
        cost = sum(used.amount for used in self.ledger.used_by(tasks).values())
        return PullFacts(into, goal, cost, beside(self.words.of([spec.goal_id]), spec.id))


@dataclass(frozen=True)
class Acts:
    """What goes wrong with an act is its caller's."""

    gates: Gatekeeper
    review: GateBooks
    coding: Coding
    deliveries: Deliveries
    guards: Callable[[], Sequence[str]]  # patterns of what the owner says now not to touch
    books: Bookkeeping

    @property
    def problems(self) -> list[str]:
        """What the owner has to mend, although the others go on."""
        return self.gates.problems

    def do(self, move: Move, snapshot: Snapshot) -> None:
        match move:
            case AdoptTask():
                self._adopt(snapshot)
            case ApplyOwnerMove(task, event):
                self._apply_owner_move(task, event, snapshot)
            case Deliver(task):
                self._deliver(task, snapshot)
            case Rebase(task):
                self._rebase(task, snapshot)
            case AbandonAttempt(task):
                self.books.transitions.move(
                    task, State.IN_PROGRESS, Event.STUMBLED, "cut off before it led to a commit", outcome="lost"
                )
            case Gate(task, step):
                self.gates.act(_card(task, snapshot), snapshot.known[task], step)
            case StackRun(tasks):
                MergeQueue(self.review, self.gates, self.books).test([snapshot.known[task] for task in tasks])
            case CancelTask(task, why):
                self.books.tell(f"{task}: out of the queue, {why}")
                self.gates.ends.give_up(snapshot.known[task], why)
                self.books.transitions.move(task, _card(task, snapshot).state, Event.GOAL_REMOVED, why, outcome="void")
            case GiveUp(task):
                self._give_up(task, snapshot)
            case CodeTask(task):
                self._code(task, snapshot)
            case Rest():
                raise AssertionError("resting is no act")
            case _:
                assert_never(move)

    def _adopt(self, snapshot: Snapshot) -> None:
        """All that have come. What may still be in the writing is waited for once, and looked at anew."""
        session, store = self.books.session, self.books.transitions.store
        new = [card for card in snapshot.board.cards if card.seen_in is None and card.spec and not card.backed_off]
        young = {card.id: card for card in new if store.is_young(card.state, card.id)}
        whole = [card for card in new if card.id not in young]
        if whole:
            born = [(_spec(card), card.state) for card in whole]
            self.books.journal.all_born(born, "dropped by the owner", self.books.now())
        for card in whole:
            session.tell(f"{card.id}: a new task of yours")
        if young:
            with session.lock.released():
                store.wait()
        for card in young.values():
            if store.is_young(card.state, card.id):
                self.books.transitions.back_off(card.id, "its file is still being written")

    def _apply_owner_move(self, task: str, event: Event, snapshot: Snapshot) -> None:
        """The file lies there already; only history has to learn it, and the forge."""
        gates, known = self.review.gates, snapshot.known[task]
        if event in ENDS_A_PULL:
            words = _because(gates, task) if event is Event.CANCELLED else ""
            self.gates.ends.give_up(known, f"{event}{f': {words}' if words else ''}")
        gates.withdraw(task)
        self.books.transitions.begins_anew(task)
        words = _because(gates, task)
        if event is Event.CANCELLED:
            self.books.events.happened(TaskRejected(known))
        why = MoveReason(event, words, "void")
        planned = self.books.journal.plan_move(task, known.seen_in, why, self.books.now())
        self.books.journal.moved(planned)
        self.books.tell(f"{task}: {event}{f': {words}' if words else ''}")

    def _give_up(self, task: str, snapshot: Snapshot) -> None:
        ended = ("failed", "lost", "sent back")
        tries = [a.note for a in self.books.journal.attempts(task) if a.outcome in ended]
        known = snapshot.known[task]
        futile = known.tried.futile
        why = futile or f"given up after {len(tries)} attempts: {known.tried.exhausted(snapshot.board.limits)}"
        self.gates.ends.give_up(known, why)
        if self._is_given_back(known):
            self.books.transitions.move(task, State.BACKLOG, Event.GIVEN_BACK, why)
            self.books.tell(f"{task}: given back to the planner: {why}")
            return
        spec = _spec(_card(task, snapshot))
        self.books.events.happened(GivenUp(known, spec, futile or "; ".join(tries[-2:]) or why))
        told = (why,) if futile else (why, *gate_text.in_turn(tries))
        if self.books.transitions.move(task, State.BACKLOG, Event.EXHAUSTED, "; ".join(told)):
            self.books.tell(f"{task}: {why}; it lies in failed/ and needs you")

    def _is_given_back(self, known: TaskRecord) -> bool:
        """The coder's words about a task of a goal are kept with the goal; the planner hears of the first."""
        words = self.review.gates.coder_said(known.id)
        if known.tried.futile != gate_text.cannot_be_done(words):
            return False
        self.review.words.keep(GoalWord(known.goal_id, "answer", words, known.id), self.books.now())
        return may_be_given_back(self.books.journal, known)

    def _deliver(self, task: str, snapshot: Snapshot) -> None:
        card, known = _card(task, snapshot), snapshot.known[task]
        assert card.open_attempt
        try:
            spec, branch = _spec(card), self.review.commits.seen(known, card.commit).branch
            brings = self.books.journal.tasks_on(known.branch) if lands(known) else [known.id]
            said = self.deliveries.facts(spec, self.review.branches.target(known), brings)
            pull = self.deliveries.delivery.deliver(spec, card.open_attempt, branch, said, self.books.now())
        except Refused as problem:
            self.books.tell(f"{task}: {problem}")
            self.books.transitions.move(task, State.IN_PROGRESS, Event.EXHAUSTED, str(problem), outcome="failed")
        except (RateLimited, ForgeUnavailable, Stopping, Replaced):
            raise
        except TeamError as problem:  # the commit stands: it is not paid for again
            raise Stumble(f"not delivered: {problem}") from None
        else:
            self.review.pulls.known[task] = pull
            self.books.tell(f"{task}: pull request #{pull.number} {pull.url}")
            note = f"pull request #{pull.number}"
            self.books.transitions.move(task, State.IN_PROGRESS, Event.SUBMITTED, note, outcome="ok")

    def _rebase(self, task: str, snapshot: Snapshot) -> None:
        """The same change on top of what the branch is now; where that is not possible it is the coder's turn."""
        card, branches = _card(task, snapshot), self.review.branches
        assert card.open_attempt
        into = branches.target(snapshot.known[task])
        onto, ref = branches.ensured(into), attempt_ref(task, card.open_attempt)
        answer = branches.mirror.rebased(card.refreshes, onto, ref, self.books.now())
        match answer:
            case Rebased():
                return  # the next look finds it and delivers it
            case Conflict(paths):
                text = f"conflicts with what is on {into} now: {', '.join(paths[:5]) or 'its history'}"
                self.books.tell(f"{task}: {text}; sent back to the coder")
                self.books.transitions.move(task, State.IN_PROGRESS, Event.STUMBLED, text, outcome="sent back")
            case AlreadyThere():
                self.gates.ends.give_up(snapshot.known[task], f"the same change is on {into} already")
                self.books.transitions.move(
                    task, State.IN_PROGRESS, Event.DONE_BY_OWNER, "its change is there already", "void"
                )
            case _:
                assert_never(answer)

    def _code(self, task: str, snapshot: Snapshot) -> None:
        spec, known = _spec(_card(task, snapshot)), snapshot.known[task]
        pull = self.review.pulls.known.get(task)
        if pull and self._ended_unnoted(task, pull):
            self.gates.ends.owner_ended(known, pull, State.BACKLOG)
            return
        if self.gates.takes_up_again(known, spec.asked):
            return
        guarded = replace(spec, guards=tuple(dict.fromkeys((*spec.guards, *self.guards()))))  # also of a later "don't"
        self.coding.code(guarded, known, spec.asked)

    def _ended_unnoted(self, task: str, pull: Pull) -> bool:
        journal = self.books.journal
        known = journal.has_closed(task, pull.number) or journal.has_merged(task, pull.head_sha)
        return pull.state != "open" and not known


def _card(task: str, snapshot: Snapshot) -> Card:
    card = snapshot.board.card(task)
    assert card
    return card


def _spec(card: Card) -> TaskSpec:
    assert card.spec
    return card.spec


def _because(gates: GateRepository, task: str) -> str:
    """What the owner wrote when he answered last."""
    said = gates.rulings(task)
    return said[-1].why if said and said[-1].kind != "approve" else ""


# --- the merge queue -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stacked:
    """A task's change on top of those before it. `old`: the commit that was approved; `new`: one of no reference."""

    task: str
    old: str
    new: str
    evidence: Evidence  # of the old one


@dataclass(frozen=True)
class MergeQueue:
    """A stack of approved changes, tested once; up to the first that makes it red they are merged without more runs."""

    review: GateBooks
    gates: Gatekeeper
    books: Bookkeeping

    def test(self, tasks: Sequence[TaskRecord]) -> None:
        """Test them together. What a kill cuts off, or what does not go together, is tested by itself."""
        tip = self.review.branches.look(self.review.branches.target(tasks[0]))
        if tip is None:
            return  # the next look finds it
        stack, places = self._stacked(tasks, tip), self.review.gates.places
        places.keep([QueuePlace(known.id, self.review.commits.newest(known)) for known in tasks])
        if len(stack) < 2:
            return
        names = tuple(one.task for one in stack)
        self.books.tell(f"testing {', '.join(names)} on top of each other")
        try:
            with self.books.runs.unlocked("qa", names[0]) as run:
                green = _green(self.gates.qa(), run, tip, stack)
        except (Misconfigured, Unavailable, Stopping):
            places.forget(names)
            raise
        except (BrokenSetup, Stumble) as problem:
            self.books.tell(f"{', '.join(names)}: not tested together: {problem}")
            return
        trees = tuple(map(self.review.branches.mirror.tree_id, (tip, *(one.new for one in stack))))
        together = names[:green]
        places.forget(names[green + 1 if green else 2 :])
        places.keep(QueuePlace(one.task, one.old, trees[: at + 2], together) for at, one in enumerate(stack[:green]))
        self.books.tell(_told(names, green))

    def _stacked(self, tasks: Sequence[TaskRecord], tip: str) -> list[Stacked]:
        """Those that are the very change that was approved, also on top of the others."""
        found: list[Stacked] = []
        for known in tasks:
            commit = self.review.commits.newest(known)
            made = self.review.branches.mirror.start_for(commit, found[-1].new if found else tip)
            evidence = self.review.gates.evidence(known.id, commit)
            seen = self.review.commits.seen
            if made and evidence and seen(known, made).subject == seen(known, commit).subject:
                found.append(Stacked(known.id, commit, made, evidence))
        return found


def _green(qa: ChecksChange, run: Run, tip: str, stack: Sequence[Stacked]) -> int:
    """How many from the first on are green together; 0: not even two are."""
    base, good, bad = qa.base(run, tip), 1, len(stack) + 1
    here = len(stack)
    while good < here < bad:
        if _is_green(qa.together(run, stack[here - 1].new), base, stack[:here]):
            good = here
        else:
            bad = here
        here = (good + bad) // 2
    return good if good > 1 else 0


def _is_green(found: SuiteRun, base: SuiteRun, stack: Sequence[Stacked]) -> bool:
    """Nothing fails or is skipped that was not before, and what has shown each of the changes still passes."""
    shown = {test for one in stack for test in one.evidence.proving}
    worse = (found.of("failed") - base.of("failed")) | (found.of("skipped") & base.of("passed"))
    return found.is_whole and not worse and shown <= found.of("passed")


def _told(names: Sequence[str], green: int) -> str:
    if green == len(names):
        return f"{', '.join(names)}: green together; they are merged in this order"
    alone = " and ".join(names[green : green + 1] if green else names[:2])
    first = f"{', '.join(names[:green])} are merged first; " if green else ""
    return f"red together: {first}{alone} {'is' if green else 'are'} tested alone"
