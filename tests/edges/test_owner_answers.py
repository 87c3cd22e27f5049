"""Each word of the owner on a task, wherever its file lies: it does something, or a sentence says why not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Literal

import pytest

from sisimpur.agents.orchestrator.inbox.answers import MEANINGS, Move, OwnerAnswers, Word, destination, taken_back
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.lifecycle import FOLDERS, Event, State, after, owner_moved
from sisimpur.shared.store.gate_book import GateRepository
from sisimpur.shared.store.journal import Journal, MoveReason
from sisimpur.shared.store.task_records import Happened
from sisimpur.shared.store.task_store import TaskStore, parse
from sisimpur.shared.system.clock import SystemClock
from sisimpur.shared.system.paths import Home
from tests.books import new_book

pytestmark = pytest.mark.disk

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
SPEC = parse("t", "---\ntitle: Fix it\nfiles: [a.py]\n---\n\nDo it.\n", "t.md")
MOVES: tuple[Move, ...] = ("retry", "reject", "cancel", "done")


class Owner:
    def __init__(self, root: Path) -> None:
        home = Home(root)
        home.make()
        self.db = new_book(home.database)
        self.gates, self.store, self.journal = GateRepository(self.db), TaskStore(home), Journal(self.db)
        self.answers = OwnerAnswers(self.store, self.gates, SystemClock(), self.journal)

    def says(self, word: Word, state: State, why: str = "") -> State | str:
        """Where the file lies now, or why nothing happened."""
        try:
            return self.answers.move("t", state, word, why)  # type: ignore[arg-type]
        except Misconfigured as reason:
            return str(reason)

    def has_task(self, state: State, known: bool = True) -> None:
        self.store.add(SPEC)
        if state is not State.BACKLOG:
            self.store.move("t", State.BACKLOG, state)
        if known:
            self.journal.born(SPEC, state, "", NOW)

    @property
    def words(self) -> list[str]:
        return [ruling.why for ruling in self.gates.rulings("t")]


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    owner = Owner(tmp_path)
    yield owner
    owner.db.close()


NOTHING = {(word, State.COMPLETED) for word in ("reject", "cancel", "done")} | {
    (word, State.FAILED) for word in ("reject", "cancel")
}


@pytest.mark.parametrize(("word", "state"), [*product(MOVES, FOLDERS)])
@pytest.mark.parametrize("known", [True, False], ids=["known", "just dropped"])
def test_every_word_moves_the_file_or_says_in_a_sentence_why_not(
    owner: Owner, word: Word, state: State, known: bool
) -> None:
    owner.has_task(state, known)
    said = owner.says(word, state)
    if (word, state) in NOTHING | {("retry", State.BACKLOG)}:
        assert isinstance(said, str) and f"t lies in {state}/; {word} does nothing there: " in said
        assert owner.store.find("t") == [state]
    else:
        assert said is MEANINGS[word].target
        assert owner.store.find("t") == [said]


@pytest.mark.parametrize("word", ["cancel", "reject"])
@pytest.mark.parametrize("state", [State.COMPLETED, State.FAILED, State.IN_REVIEW])
def test_a_retry_that_nobody_has_begun_is_taken_back(owner: Owner, word: Word, state: State) -> None:
    owner.has_task(state)
    assert owner.says("retry", state, "use a file") is State.BACKLOG
    assert owner.says(word, State.BACKLOG) is state
    assert owner.words == ["use a file"], "nothing was said against it"


@pytest.mark.parametrize(("state", "after"), [(State.COMPLETED, State.COMPLETED), (State.FAILED, State.FAILED)])
def test_also_when_the_team_has_heard_of_it(owner: Owner, state: State, after: State) -> None:
    owner.has_task(state)
    owner.says("retry", state)
    heard(owner, state, Event.RETRIED)
    assert owner.says("cancel", State.BACKLOG) is after


def test_what_was_begun_after_a_retry_is_cancelled(owner: Owner) -> None:
    owner.has_task(State.COMPLETED)
    owner.says("retry", State.COMPLETED)
    for at, event in (
        (State.COMPLETED, Event.RETRIED),
        (State.BACKLOG, Event.STARTED),
        (State.IN_PROGRESS, Event.STUMBLED),
    ):
        heard(owner, at, event)
    assert owner.says("cancel", State.BACKLOG) is State.FAILED


def heard(owner: Owner, at: State, event: Event) -> None:
    owner.journal.moved(owner.journal.plan_move("t", at, MoveReason(event), NOW))


@pytest.mark.parametrize("word", MOVES)
def test_of_what_is_gone_it_says_how_it_comes_back(owner: Owner, word: Word) -> None:
    assert owner.says(word, State.GONE) == "t is gone: to have it done, put its file back into tasks/backlog/"


def test_what_is_to_be_done_already_hears_why(owner: Owner) -> None:
    owner.has_task(State.BACKLOG)
    assert owner.says("retry", State.BACKLOG, "use a file") is State.BACKLOG
    assert owner.words == ["use a file"]


# --- the law: no four words of the owner let history and folders disagree ------------------------------------

LOOKS = "the team looks"


class Told:
    """A task by what the books and the folders say of it alone."""

    def __init__(self, at: State) -> None:
        self.born, self.at, self.done = at, at, at is State.COMPLETED
        self.history: list[Happened] = []

    def hears(self, word: str) -> None:
        if word == LOOKS:
            self.looks()
        elif word == "retry" and self.at is State.COMPLETED:
            pass  # it asks for --again
        else:
            self.moves("retry" if word == "retry --again" else word)  # type: ignore[arg-type]

    def moves(self, word: Literal["retry", "reject", "cancel"]) -> None:
        try:
            target = destination(word, "t", self.at)
        except Misconfigured:
            return
        self.at = (None if word == "retry" else taken_back(self.at, self.history, self.born)) or target

    @property
    def booked(self) -> State:
        return self.history[-1].target if self.history else self.born

    def looks(self) -> None:
        if self.booked is not self.at:
            event = owner_moved(self.booked, self.at)
            assert event, f"{self.booked} -> {self.at} says nothing to the team"
            self.history.append(Happened("", event, after(self.booked, event).to, ""))


def test_no_four_words_of_the_owner_let_history_and_folders_disagree() -> None:
    words = ("retry", "retry --again", "reject", "cancel", LOOKS)
    for begin, said in product(FOLDERS, product(words, repeat=4)):
        task = Told(begin)
        for word in said:
            task.hears(word)
        task.looks()
        assert task.booked is task.at, (begin, said)
        if task.done:
            assert task.at is not State.FAILED, (begin, said, "what is merged has not failed")
