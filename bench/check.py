"""Whether a row has become worse by more than a fifth. `make bench-check` (ARGS="--only old", ARGS=--accept).

bench/accepted.json has the row that was accepted last, with its day and machine. A row that is over is measured once
more, and the better figure counts. `--accept` writes what was measured, and the table of docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.rows import MEASURES, ROWS, Measured, SpeedRow
from bench.trace import ROOT

ACCEPTED = Path(__file__).parent / "accepted.json"
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- begin: bench/accepted.json -->\n", "<!-- end -->\n"
TOLERANCE = 1.2


@dataclass(frozen=True)
class AcceptedRow:
    """A row as it was accepted. `value`: in `unit`, the less the better."""

    what: str
    unit: str
    value: float
    on: str
    machine: str
    before: str = ""
    target: float | None = None

    @property
    def verdict(self) -> str:
        return "" if self.target is None else "met" if self.value <= self.target else "**missed**"


Book = Mapping[str, AcceptedRow]  # name of a row -> the row


def is_worse(accepted: float, found: float) -> bool:
    return found > accepted * TOLERANCE


def complaints(book: Book, found: Measured) -> list[str]:
    """A sentence for each row that is worse, or that nobody has accepted."""
    return [
        f"{name}: nobody has accepted {value:,.5g} yet; type: make bench-check ARGS=--accept"
        if name not in book
        else f"{name}: {book[name].what}: {value:,.5g} {book[name].unit}, more than a fifth over the "
        f"{book[name].value:,.5g} accepted on {book[name].on}"
        for name, value in found.items()
        if name not in book or is_worse(book[name].value, value)
    ]


def measured(measure: Callable[[], Measured], book: Book) -> Measured:
    """Twice, if a row is worse at first: the better figure of each."""
    found = measure()
    if any(name in book and is_worse(book[name].value, value) for name, value in found.items()):
        again = measure()
        return {name: min(value, again[name]) for name, value in found.items()}
    return found


def accepted(rows: Mapping[str, SpeedRow], found: Measured, on: str, machine: str) -> Book:
    return {
        name: AcceptedRow(row.what, row.unit, round(found[name], 3), on, machine, row.before, row.target)
        for name, row in rows.items()
        if name in found
    }


def table(book: Book) -> str:
    """Markdown. Missed targets are said so."""
    rows = (
        f"| {row.what} | {row.unit} | {row.before} | {row.value:,.5g} | {_target(row)} | {row.verdict} |"
        for row in book.values()
    )
    return "\n".join(["| what | unit | before | now | target | |", "|---|---|---|---|---|---|", *rows, ""])


def _target(row: AcceptedRow) -> str:
    return "" if row.target is None else f"{row.target:,.5g}"


# --- files ---------------------------------------------------------------------------------------------------


def read_book(path: Path = ACCEPTED) -> Book:
    return (
        {name: AcceptedRow(**row) for name, row in json.loads(path.read_text("utf-8")).items()} if path.exists() else {}
    )


def write_book(book: Book) -> None:
    """The rows in the order of ROWS, and the page's table."""
    ordered = {name: asdict(book[name]) for name in ROWS if name in book}
    ACCEPTED.write_text(json.dumps(ordered, indent=2, ensure_ascii=False) + "\n", "utf-8")
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{table(read_book())}{END}{rest.partition(END)[2]}", "utf-8")


def machine() -> str:
    return f"{os.cpu_count()} processors {platform.machine()}, Python {platform.python_version()}"


def main(argv: Sequence[str] | None = None) -> int:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an owner's program is compiled once, not in every command
    parser = argparse.ArgumentParser(prog="python -m bench.check", description=(__doc__ or "").partition("`")[0])
    names = [measure.__name__ for measure in MEASURES]
    parser.add_argument("--only", choices=names, action="append", help="measure these rows only")
    parser.add_argument("--accept", action="store_true", help="write what was measured as what is accepted")
    words = parser.parse_args(argv)
    book, found = read_book(), dict[str, float]()
    for measure in MEASURES:
        if measure.__name__ in (words.only or names):
            rows = measured(measure, {} if words.accept else book)
            print(
                "".join(f"{value:10,.5g} {ROWS[name].unit:<11}{ROWS[name].what}\n" for name, value in rows.items()),
                end="",
                flush=True,
            )
            found |= rows
    if words.accept:
        write_book({**read_book(), **accepted(ROWS, found, f"{datetime.now(UTC):%Y-%m-%d}", machine())})
        return 0
    worse = complaints(book, found)
    print("\n".join(worse) if worse else f"no row is more than {TOLERANCE - 1:.0%} over what was accepted")
    return int(bool(worse))


if __name__ == "__main__":
    raise SystemExit(main())
