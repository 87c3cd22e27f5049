"""What people read on a terminal: lines broken between words, weeks added up."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.cli.terminal.printing import columns, short, wrapped
from sisimpur.cli.views.budget import by_week
from sisimpur.shared.money.token_budget import Totals

WORDS = st.lists(st.text("abc-/ক", min_size=1, max_size=30), min_size=1, max_size=30)


@given(WORDS, st.integers(40, 120))
def test_a_line_is_broken_between_words_and_none_is_lost(words: list[str], width: int) -> None:
    lines = wrapped(" ".join(words), width).splitlines()
    assert " ".join(lines).split() == words
    assert all(columns(line) <= width for line in lines)
    assert lines[0].startswith("  ") and all(line.startswith("    ") for line in lines[1:])


def test_bengali_fills_its_lines_since_marks_take_no_column() -> None:
    word = "পরীক্ষার"  # the virama stands in the letter before it
    assert (len(word), columns(word), columns("漢字")) == (8, 7, 4)
    lines = wrapped(f"01             backlog      high      {' '.join([word] * 12)}", 80, 0, 38).splitlines()
    assert [columns(line) for line in lines] == [77, 77, 53]
    assert lines[1].startswith(" " * 38 + word)


def test_what_is_no_terminal_gets_the_line_whole() -> None:
    assert wrapped("word " * 100, 0) == "  " + "word " * 100


@given(st.dictionaries(st.dates(date(2025, 12, 1), date(2026, 2, 28)), st.integers(0, 10**10), max_size=40))
def test_weeks_begin_on_mondays_and_add_up_to_the_days(spent: dict[date, int]) -> None:
    rows = by_week({day.isoformat(): Totals(cap=1, spent=10**5 * nano) for day, nano in spent.items()})
    mondays = [date.fromisoformat(row[0]) for row in rows]
    assert mondays == sorted({day - timedelta(days=day.weekday()) for day in spent})
    for monday, row in zip(mondays, rows, strict=True):
        of_week = sum(nano for day, nano in spent.items() if timedelta() <= day - monday < timedelta(7))
        assert abs(float(row[1]) - of_week * 10**5 / 10**9) <= 0.0001


@pytest.mark.parametrize(
    ("nano", "said"),
    [(14_880_000, "0.0149"), (14_849_999, "0.0148"), (-14_850_000, "-0.0149"), (0, "0.0000"), (999_950_000, "1.0000")],
)
def test_dollars_on_the_terminal_are_rounded_as_in_the_report(nano: int, said: str) -> None:
    assert short(nano) == said


@pytest.mark.parametrize(("more", "said"), [({}, "\x1b[1mx\x1b[0m"), ({"NO_COLOR": "1"}, "x"), ({"TERM": "dumb"}, "x")])
def test_colour_is_for_a_terminal_that_has_it_and_an_owner_who_wants_it(more: dict[str, str], said: str) -> None:
    ours, its = os.openpty()
    shows = "from sisimpur.cli.terminal.printing import BOLD, coloured; print(coloured('x', BOLD))"
    env = {"PYTHONPATH": str(Path(__file__).parents[2]), "TERM": "xterm", **more}
    subprocess.run((sys.executable, "-c", shows), env=env, stdout=its, check=True)
    os.close(its)
    assert os.read(ours, 100).decode().strip() == said
    os.close(ours)
