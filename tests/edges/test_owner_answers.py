"""Each word of the owner on a task, wherever its file lies: it does something, or a sentence says why not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest

from sisimpur.agents.orchestrator.inbox.answers import MEANINGS, OwnerAnswers, Word
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.lifecycle import FOLDERS, State
from sisimpur.shared.store.database import Database
from sisimpur.shared.store.gate_book import GateRepository
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.task_store import TaskStore, parse
from sisimpur.shared.system.clock import SystemClock
from sisimpur.shared.system.paths import Home

pytestmark = pytest.mark.disk

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
SPEC = parse("t", "---\ntitle: Fix it\nfiles: [a.py]\n---\n\nDo it.\n", "t.md")
MOVES: tuple[Word, ...] = ("retry", "reject", "cancel")


class Owner:
    def __init__(self, root: Path) -> None:
        home = Home(root)
        home.make()
        self.db = Database(home.database)
        self.gates, self.store, self.journal = GateRepository(self.db), TaskStore(home), Journal(self.db)
        self.answers = OwnerAnswers(self.store, self.gates, SystemClock())

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


NOTHING = {(word, State.COMPLETED) for word in ("reject", "cancel")} | {
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


@pytest.mark.parametrize("word", MOVES)
def test_of_what_is_gone_it_says_how_it_comes_back(owner: Owner, word: Word) -> None:
    assert owner.says(word, State.GONE) == "t is gone: to have it done, put its file back into tasks/backlog/"


def test_what_is_to_be_done_already_hears_why(owner: Owner) -> None:
    owner.has_task(State.BACKLOG)
    assert owner.says("retry", State.BACKLOG, "use a file") is State.BACKLOG
    assert owner.words == ["use a file"]
