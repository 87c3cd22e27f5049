"""Who comes after whom, told from few commits."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.repo.mirror_commits import MOST_WALKED, comes_after

Drawn = Mapping[str, tuple[str, ...]]


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    """A history: each commit is made on up to three of those before it."""
    found: dict[str, tuple[str, ...]] = {}
    for number in range(draw(st.integers(1, 14))):
        on = draw(st.sets(st.sampled_from(sorted(found)), max_size=3)) if found else set[str]()
        found[str(number)] = tuple(sorted(on))
    return found


class Reader:
    """Reads commits, and remembers how many."""

    def __init__(self, history: Drawn) -> None:
        self.history = history
        self.read: set[str] = set()

    def __call__(self, commits: Collection[str]) -> Drawn:
        self.read |= set(commits)
        return {sha: self.history[sha] for sha in commits if sha in self.history}


def line(prefix: str, length: int, *on: str) -> dict[str, tuple[str, ...]]:
    """So many commits, each on the one before; the first is made on `on`."""
    names = [f"{prefix}{number}" for number in range(length)]
    return {name: (names[at - 1],) if at else on for at, name in enumerate(names)}


def holds(history: Drawn, newer: str, older: str) -> bool:
    return newer == older or any(holds(history, parent, older) for parent in history[newer])


@given(drawn())
def test_it_is_what_the_whole_history_says(history: Drawn) -> None:
    for newer in history:
        for older in history:
            assert comes_after(newer, older, Reader(history)) is holds(history, newer, older)


@given(drawn(), st.data())
def test_what_cannot_be_read_is_never_taken_for_an_answer(history: Drawn, data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.sampled_from(sorted(history))))
    there = {sha: parents for sha, parents in history.items() if sha not in gone}
    for newer in history:
        for older in history:
            assert comes_after(newer, older, Reader(there)) in (None, holds(history, newer, older))


def test_two_branches_are_compared_as_far_as_where_they_parted() -> None:
    for ours, theirs in ((1, 1), (1, 9), (9, 1), (5, 5)):
        old = line("old", MOST_WALKED * 3)
        tip = f"old{MOST_WALKED * 3 - 1}"
        reader = Reader(old | line("ours", ours, tip) | line("theirs", theirs, tip))
        assert comes_after(f"ours{ours - 1}", f"theirs{theirs - 1}", reader) is False
        assert comes_after(tip, f"theirs{theirs - 1}", reader) is False
        assert comes_after(f"ours{ours - 1}", tip, reader) is True
        assert len(reader.read) <= 3 * (ours + theirs) + 3


def test_so_many_commits_are_read_and_no_more() -> None:
    reader = Reader(line("ours", MOST_WALKED * 2) | line("theirs", MOST_WALKED * 2))
    assert comes_after(f"ours{MOST_WALKED * 2 - 1}", f"theirs{MOST_WALKED * 2 - 1}", reader) is None
    assert len(reader.read) <= MOST_WALKED + 4
