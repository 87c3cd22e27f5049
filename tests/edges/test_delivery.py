"""A task's branch at the forge: moved on from wherever we left it, never from where somebody else did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sisimpur.agents.orchestrator.publishing.delivery import Delivery, PullFacts
from sisimpur.shared.forge.local_forge import LocalForge
from sisimpur.shared.forge.local_forge_git import create
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.model.naming import attempt_ref
from sisimpur.shared.model.work import Branch, TaskSpec
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.journal import Journal, MoveReason
from sisimpur.shared.system.clock import ManualClock
from tests.books import new_book
from tests.repositories import repository, shell

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
SPEC = TaskSpec("t", "Fix it", "do it", goal_id="g-1", files=("a.py",))
NAME = "agent/t-fix-it"


@dataclass(frozen=True)
class Deliverer:
    place: Path
    mirror: Mirror
    delivery: Delivery

    def attempt(self, number: int) -> str:
        """An attempt that led to a commit."""
        journal = self.delivery.journal
        journal.moved(journal.plan_move("t", State.BACKLOG, MoveReason(Event.STARTED), NOW))
        sha = self.foreign(f"attempt {number}")
        self.mirror.restore(attempt_ref("t", number), sha)
        journal.moved(journal.plan_move("t", State.IN_PROGRESS, MoveReason(Event.STUMBLED, "", "failed"), NOW))
        return sha

    def deliver(self, number: int, sha: str) -> str:
        """Where the branch is then."""
        said = PullFacts("main", "", 0)
        pull = self.delivery.deliver(SPEC, number, Branch(NAME, self.mirror.parent(sha), sha), said, NOW)
        return pull.head_sha

    def foreign(self, text: str) -> str:
        base = self.mirror.fetch("main")
        return shell(f"git commit-tree {base}^{{tree}} -p {base} -m '{text}'", self.mirror.path)

    def moves(self, sha: str) -> None:
        """Somebody sets the branch; "": removes it."""
        if sha:
            shell(f"git push -q -f '{self.place}' {sha}:refs/heads/{NAME}", self.mirror.path)
        else:
            shell(f"git update-ref -d refs/heads/{NAME}", self.place)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Deliverer]:
    repository(tmp_path / "his own", {"a.py": "x = 1\n"})
    place, db = tmp_path / "forge.git", new_book(tmp_path / "agents.db")
    create(place, tmp_path / "his own", "main")
    journal, mirror = Journal(db), Mirror(tmp_path / "mirror.git", Remote(str(place)))
    mirror.create()
    journal.born(SPEC, State.BACKLOG, "planned", NOW, "wording")
    yield Deliverer(place, mirror, Delivery(journal, mirror, LocalForge(place, ManualClock(NOW)), str))
    db.close()


def test_each_attempt_moves_the_branch_on(scene: Deliverer) -> None:
    for number in (1, 2, 3):
        sha = scene.attempt(number)
        assert scene.deliver(number, sha) == scene.deliver(number, sha) == sha


@pytest.mark.parametrize("there", ["first", "none"])
def test_a_branch_that_is_not_where_the_books_say_is_moved_on_if_it_is_ours_or_gone(
    scene: Deliverer, there: str
) -> None:
    first, second, third = (scene.attempt(number) for number in (1, 2, 3))
    scene.deliver(1, first)
    scene.deliver(2, second)
    scene.moves(first if there == "first" else "")
    assert scene.deliver(3, third) == third


@pytest.mark.parametrize("number", [1, 2])
def test_what_somebody_else_pushed_stays(scene: Deliverer, number: int) -> None:
    shas = [scene.attempt(one) for one in (1, 2)]
    theirs = scene.foreign("theirs")
    if number == 2:
        scene.deliver(1, shas[0])
    scene.moves(theirs)
    with pytest.raises(Refused, match=theirs):
        scene.deliver(number, shas[number - 1])
    assert scene.mirror.remote_head(NAME) == theirs


HOME = "https://github.com/you/project"


class AtAnAddress(LocalForge):
    """A forge that a browser finds."""

    address = HOME


@pytest.mark.parametrize("forge", [LocalForge, AtAnAddress])
def test_a_link_into_the_own_repository_works_where_it_can_be_opened(scene: Deliverer, forge: type[LocalForge]) -> None:
    at, sha = forge(scene.place, ManualClock(NOW)), scene.attempt(1)
    words = "See [the page](docs/a.md), [issue](https://github.com/you/project/issues/3), [x](https://evil.example/a)."
    spec = replace(SPEC, description=words)
    branch = Branch(NAME, scene.mirror.parent(sha), sha)
    pull = replace(scene.delivery, forge=at).deliver(spec, 1, branch, PullFacts("main", "", 0), NOW)
    works = f"See [the page]({HOME}/blob/{sha}/docs/a.md), [issue]({HOME}/issues/3), [x] (https[:]//evil.example/a)."
    body = at.get_pull(pull.number).body
    assert (works in body) == (forge is AtAnAddress) and "[x] (https[:]//evil.example/a)" in body
