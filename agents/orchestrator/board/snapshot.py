"""Folders, history -> Board. Looks and changes nothing; whoever wants to know where things stand begins here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sisimpur.agents.orchestrator.integration.feature_branches import has_landed, too_early
from sisimpur.agents.orchestrator.vision.goal_ids import unwanted
from sisimpur.shared.model.lifecycle import (
    FOLDERS,
    Board,
    Card,
    State,
    TaskLimits,
    Tried,
    is_lost_for_us,
    pause_after,
    waits_for,
)
from sisimpur.shared.model.naming import attempt_ref, is_upkeep
from sisimpur.shared.model.work import Policy, TaskSpec, Vision
from sisimpur.shared.money.ticket import Used
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.task_records import TaskRecord
from sisimpur.shared.store.task_store import Filed, Survey, TaskStore, UnreadableFile

if TYPE_CHECKING:  # who looks at the board loads no evidence
    from sisimpur.shared.model.gate import ReviewState

AtTheGates = Callable[[TaskRecord, TaskSpec | None], "ReviewState | None"]
POLICY = Policy()
CLOSED = (State.COMPLETED, State.FAILED)
MOST_KEPT = 3  # what is open, what is done, what failed: more is not asked for at once
MORE_TO_DO = "there is more to do for its goal: it lands when that is done"


@dataclass(frozen=True)
class Snapshot:
    board: Board
    unreadable: tuple[str, ...]  # one line per file that the owner must mend
    known: Mapping[str, TaskRecord]  # of each card; and of what it depends on

    @cached_property
    def lying(self) -> Mapping[State, Sequence[Card]]:
        """Cards of each state, in their order."""
        found: dict[State, list[Card]] = {state: [] for state in State}
        for card in self.board.cards:
            found[card.state].append(card)
        return found

    @cached_property
    def queue(self) -> tuple[Card, ...]:
        """Cards of the backlog that can be read, in the order in which they could begin."""
        readable = (card for card in self.lying[State.BACKLOG] if card.spec is not None)
        return tuple(sorted(readable, key=urgency))

    @cached_property
    def waits(self) -> Mapping[str, str]:
        """Each task of the backlog -> what it waits for, as `waits_for` says it."""
        return {card.id: waits_for(card, self.board) for card in self.lying[State.BACKLOG]}


@dataclass(frozen=True)
class BoardFacts:
    """What counts besides the folders and their history. `vision`: what is wanted, proposals of ours among it.

    `commit_at` asks our mirror for a reference; `at_the_gates`: what the merge policy decides on; `used`: by these
    tasks; `writing`: turns in which QA wrote a task's tests; `unapproved`: as in PlanApprovals. `no_share`: why no
    model is asked for upkeep now. `shown`: of what is over and lies where history put it, these have a card too, for
    whoever shows them; None: all. The rest as in Board and Card.
    """

    vision: Vision | None
    limits: TaskLimits
    policy: Policy = POLICY
    open_pulls: int = 5
    commit_at: Callable[[str], str | None] = lambda _: None
    at_the_gates: AtTheGates = lambda *_: None
    used: Callable[[Collection[str]], Mapping[str, Used]] = lambda _: {}
    writing: Callable[[TaskRecord], int] = lambda _: 0
    backed_off: Mapping[str, str] = field(default_factory=dict)
    waits: Mapping[str, str] = field(default_factory=dict)
    unapproved: Callable[[Iterable[TaskRecord]], Mapping[str, str]] = lambda _: {}
    busy: frozenset[str] = frozenset()
    free_workers: int = 1
    held: str = ""
    no_model: str = ""
    no_share: str = ""
    shown: AbstractSet[str] | None = frozenset()


def load_snapshot(store: TaskStore, journal: Journal, facts: BoardFacts) -> Snapshot:
    """Read where each task's file lies, and what history knows of it."""
    places = journal.places()
    return _of(_survey(store, places, facts.shown), places, journal, facts)


@dataclass
class SnapshotMemory:
    """The last snapshots, for as long as they are true: ten thousand cards are not put together for each reader.

    For facts that ask nobody: neither a mirror nor the gates.
    """

    store: TaskStore
    journal: Journal
    _kept: list[tuple[object, Snapshot]] = field(default_factory=list)  # the newest first

    def load(self, facts: BoardFacts, mark: object) -> Snapshot:
        """As `load_snapshot`. `mark`: read before, and another one when the database or what the clock means is."""
        places = self.journal.places()
        survey = _survey(self.store, places, facts.shown)
        key = (mark, facts.vision, facts.limits, survey)
        found = next((made for known, made in self._kept if known == key), None)
        found = found or _of(survey, places, self.journal, facts)
        self._kept = [(key, found), *(one for one in self._kept if one[1] is not found)][:MOST_KEPT]
        return found


def _survey(store: TaskStore, places: Mapping[State, AbstractSet[str]], shown: AbstractSet[str] | None) -> Survey:
    return store.survey({} if shown is None else {state: places[state] - shown for state in CLOSED})


def _of(survey: Survey, places: Mapping[State, AbstractSet[str]], journal: Journal, facts: BoardFacts) -> Snapshot:
    known = _records(survey, places, journal, facts.used)
    filed, doubles = _one_per_id(survey.files, known)
    cards = [*_cards(filed, known, facts, doubles)]
    cards = [_waiting(card, facts.waits.get(card.id, "") or _not_landed(card, known, journal)) for card in cards]
    cards = [_with_submission(card, known, facts.at_the_gates) for card in cards]
    gone = (known[id_] for id_ in _missing(survey, places))
    cards += [Card(one.id, State.GONE, None, one.seen_in, one.tried) for one in gone]
    unreadable = [file.spec.reason for file in filed.values() if isinstance(file.spec, UnreadableFile)]
    unreadable += [_meaningless(card) for card in cards if is_lost_for_us(card)]
    board = Board(
        cards=tuple(sorted(cards, key=lambda card: card.id)),
        limits=facts.limits,
        no_model=facts.no_model,
        policy=facts.policy,
        open_pulls=facts.open_pulls,
        busy=facts.busy,
        free_workers=facts.free_workers,
        held=facts.held,
        closed=survey.resting,
    )
    return Snapshot(board, (*unreadable, *doubles.values()), known)


def _cards(
    filed: Mapping[str, Filed], known: Mapping[str, TaskRecord], facts: BoardFacts, doubles: Collection[str]
) -> Iterator[Card]:
    """One for each file. A file that the owner has moved is not left alone: his move comes first."""
    moved = {id_ for id_, file in filed.items() if id_ in known and known[id_].seen_in is not file.state}
    reasons = {id_: why for id_, why in facts.backed_off.items() if id_ not in moved}
    reasons |= dict.fromkeys(doubles, "it has two files")
    unapproved = facts.unapproved(known.values())
    for id_, file in filed.items():
        card = _card(file, known.get(id_), facts, reasons.get(id_, ""))
        if card.id in known and too_early(known[card.id], known):
            card = replace(card, unwanted=MORE_TO_DO)
        if id_ in unapproved:
            card = replace(card, unapproved=True, unwanted=card.unwanted or unapproved[id_])
        yield replace(card, no_model=facts.no_share) if is_upkeep(id_) else card


def _records(
    survey: Survey,
    places: Mapping[State, AbstractSet[str]],
    journal: Journal,
    used: Callable[[Collection[str]], Mapping[str, Used]],
) -> dict[str, TaskRecord]:
    """Of what has a file that was read, or has none any more, and of what these depend on."""
    specs = (file.spec for file in survey.files if isinstance(file.spec, TaskSpec))
    needed = (id_ for spec in specs for id_ in (*spec.depends_on, *spec.after))
    ids = {*(file.id for file in survey.files), *_missing(survey, places), *needed}
    spent = used(ids)
    return {id_: _with_tokens(one, spent.get(id_, Used())) for id_, one in journal.tasks(ids).items()}


def _missing(survey: Survey, places: Mapping[State, AbstractSet[str]]) -> set[str]:
    """Whose file is nowhere, and history does not know it yet."""
    ids = set().union(*(places[state] for state in FOLDERS))
    return ids.difference((file.id for file in survey.files), *survey.resting.values())


def _waiting(card: Card, why: str) -> Card:
    return replace(card, waits=why) if why else card


def _not_landed(card: Card, known: Mapping[str, TaskRecord], journal: Journal) -> str:
    """What it needs is done on the branch of another goal: it is not where this one begins."""
    own = known[card.id].branch if card.id in known else ""
    for needed in [id_ for id_ in (card.spec.depends_on if card.spec else ()) if id_ not in card.waived]:
        branch = known[needed].branch if needed in known else ""
        if branch not in ("", own) and not has_landed(journal, branch):
            return f"waits for {branch}, which has not landed"
    return ""


def _with_tokens(known: TaskRecord, used: Used) -> TaskRecord:
    return replace(known, tried=replace(known.tried, tokens=used.tokens)) if used.tokens else known


def _one_per_id(found: Iterable[Filed], known: Mapping[str, TaskRecord]) -> tuple[dict[str, Filed], dict[str, str]]:
    """A copy by the owner gives a task two files: the one where history put it counts, the other is named."""
    filed: dict[str, Filed] = {}
    doubles: dict[str, str] = {}
    for file in found:
        other = filed.setdefault(file.id, file)
        if other is file:
            continue
        kept, copy = (file, other) if file.id in known and known[file.id].seen_in is file.state else (other, file)
        filed[file.id] = kept
        where = f"{copy.state}/{copy.id}.md"
        doubles[copy.id] = f"{where}: a task of this name lies in {kept.state} too; rename or remove one"
    return filed, doubles


def _meaningless(card: Card) -> str:
    moved = f"was moved from {card.seen_in}/ to {card.state}/, which means nothing"
    return f"{card.state}/{card.id}.md: {moved}; move it back, or to backlog/ to have it done again"


def _card(file: Filed, known: TaskRecord | None, facts: BoardFacts, backed_off: str) -> Card:
    vision = facts.vision
    spec = file.spec if isinstance(file.spec, TaskSpec) else None
    if known is None:
        return Card(file.id, file.state, spec, None, backed_off=backed_off)
    attempt = known.last.number if known.last and known.last.outcome is None else None
    at_work = file.state is State.IN_PROGRESS and attempt is not None
    ended = known.last.ended_at if known.last else None
    return Card(
        id=file.id,
        state=file.state,
        spec=spec,
        seen_in=known.seen_in,
        tried=_corrected(known, facts),
        open_attempt=attempt,
        commit=(facts.commit_at(attempt_ref(file.id, attempt)) or "") if at_work and attempt else "",
        refreshes=known.last.refreshes if known.last and at_work else "",
        rests_until=ended + pause_after(known.tried) if ended else None,
        unwanted=unwanted(known.goal_id, known.wording, vision) if vision else "",
        proposed=_is_proposed(known.goal_id, vision),
        backed_off=backed_off,
        waived=known.waived,
    )


def _corrected(known: TaskRecord, facts: BoardFacts) -> Tried:
    """Only the coder's turns are rounds of correction; asked where they may be used up."""
    tried = known.tried
    is_over = tried.sent_back > facts.limits.rounds
    return replace(tried, sent_back=tried.sent_back - facts.writing(known)) if is_over else tried


def _is_proposed(goal_id: str, vision: Vision | None) -> bool:
    return any(goal.id == goal_id and goal.proposed_by for goal in (vision.goals if vision else ()))


def _with_submission(card: Card, known: Mapping[str, TaskRecord], at_the_gates: AtTheGates) -> Card:
    """A file that history expects elsewhere is the owner's move: that is applied first."""
    if card.state is not State.IN_REVIEW or card.seen_in is not State.IN_REVIEW or card.backed_off:
        return card
    record = known[card.id]
    found = at_the_gates(record, card.spec)
    if found is None or card.spec is None:
        return replace(card, submission=found)
    asked = card.spec.asked
    return replace(card, submission=replace(found, asked=asked, is_as_asked=record.is_for(asked)))


def urgency(card: Card) -> tuple[bool, int, str]:
    """Order what could begin: whatever the owner wants comes before what nobody asked for."""
    return (is_upkeep(card.id), card.spec.priority.rank if card.spec else 99, card.id)
