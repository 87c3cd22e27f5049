"""Prints the table of the house: before, target, now. `python -m bench.house [--json] [--walk] [--tests]`.

Most figures are read from the source (`bench/house_static.py`), in seconds. The others need work to be done:
`--walk` takes ten minutes (`bench/walks.py`, `bench/old_tasks.py`), `--tests` as long as `make test`. Both keep what
they measured in `bench/data/house.json`, with the date, and the table shows it. Nothing fails here: the architecture
test holds the limits.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import house_static as static
from bench.house_static import Module, Size

ROOT = Path(__file__).parents[1]
KEPT = Path(__file__).parent / "data" / "house.json"
LONGEST = 90  # characters of a place
HEAD = ("figure", "before (so measured)", "target", "now", "", "where")


@dataclass(frozen=True)
class Row:
    """`before`: what the issue says of 22 November 2026 (cc6c200), in brackets what this command says of it.

    `most`: the target is at most that; None: there is none. `now`: None if nobody has measured it yet.
    """

    figure: str
    before: str
    most: float | None
    now: float | None
    where: str = ""

    @property
    def met(self) -> bool | None:
        return None if self.now is None or self.most is None else self.now <= self.most


def table(root: Path, kept: Mapping[str, Any]) -> list[Row]:
    modules = static.read_modules(root)
    return [*_sizes(root, modules), *_shape(modules), *_of_walks(kept), _dependencies(root), _of_tests(kept)]


def _sizes(root: Path, modules: Sequence[Module]) -> list[Row]:
    apart = f"simulators/ apart: {static.lines(static.read_modules(root, static.SIMULATORS))}"
    return [
        Row("product, lines", "55400", 42_000, static.lines(modules), apart),
        Row("product, code lines", "38900", 29_500, static.code_lines(modules)),
        Row("product, files", "433", 230, len(modules)),
        _first("modules in a package", "63 (62)", 12, static.packages_by_modules(modules)),
        _first("lines in a file", "517", 400, static.files_by_length(modules)),
        _first("lines in a function", "71", 40, static.functions_by_length(modules)),
        _first("parameters of a function", "16", 6, static.functions_by_parameters(modules)),
    ]


def _shape(modules: Sequence[Module]) -> list[Row]:
    knots = static.cycles(static.package_graph(modules))
    named, fragments = static.shared_class_names(modules), static.fragments(modules)
    all_texts = sum(1 for module in modules for _ in static.docstrings(module))
    return [
        Row("packages in cycles", "18 (4)", 0, sum(map(len, knots)), "; ".join(" ".join(knot) for knot in knots)),
        Row("class names used twice", "88", 0, len(named), f"by {sum(map(len, named.values()))} classes"),
        Row("exceptions", "59 (63)", 20, len(static.exceptions(modules))),
        _first("names that a package exports", "(0)", static.FACE, static.faces_by_exports(modules)),
        Row("docstrings, begun obliquely", "31 % (1132)", None, len(fragments), f"of {all_texts}"),
    ]


def _of_walks(kept: Mapping[str, Any]) -> list[Row]:
    walk = kept.get("walk", {})
    on = f"measured on {walk['day']}" if walk else "--walk measures it"
    none, many = walk.get("cpu_none"), walk.get("cpu_many")
    ratio = round(many / none, 1) if none and many else None
    seconds = f"{none:.2f} s and {many:.2f} s; {on}" if none and many else on
    return [
        Row("modules, bullet to merge", "207 (200)", 110, walk.get("modules"), on),
        Row("git processes, same way", "205 (204)", 60, walk.get("git"), on),
        Row("SQL reads, same way", "1195 (1337)", 250, walk.get("reads"), on),
        Row("CPU, 2000 old tasks / none", "26 (29.9)", 1.2, ratio, seconds),
    ]


def _dependencies(root: Path) -> Row:
    told = root / "requirements.in"
    found = static.dependencies(told.read_text("utf-8")) if told.exists() else []
    return Row("direct dependencies", "22", 20, len(found), "requirements.in")


def _of_tests(kept: Mapping[str, Any]) -> Row:
    tests = kept.get("tests", {})
    where = f"measured on {tests['day']}" if tests else "--tests measures it"
    return Row("make test, minutes", "9-13", 4, tests.get("minutes"), where)


def _first(figure: str, before: str, most: float, sizes: Sequence[Size]) -> Row:
    """The biggest of them."""
    biggest = sizes[0] if sizes else Size(0, "")
    return Row(figure, before, most, biggest.value, biggest.where)


# --- what is kept --------------------------------------------------------------------------------------------


def _kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    return found


def _keep(name: str, **figures: float) -> None:
    figures_of = {**_kept(), name: {"day": f"{datetime.now(UTC):%Y-%m-%d}", **figures}}
    KEPT.write_text(json.dumps(figures_of, indent=2) + "\n", "utf-8")


def walk() -> None:
    """Walks all ways, writes the page about them, and measures what old tasks cost."""
    from bench import old_tasks, walks

    found = {name: walks.walked(name) for name in walks.TITLES}
    walks.write(found)
    bullet = found["bullet"]
    none, many = (round(old_tasks.cpu(old), 2) for old in (0, old_tasks.OLD))
    _keep("walk", modules=len(bullet.modules), git=bullet.git, reads=bullet.reads, cpu_none=none, cpu_many=many)


def tests() -> None:
    """Runs `make test`, to be measured on a machine with two processors and nothing else to do."""
    began = time.monotonic()
    subprocess.run(("make", "test"), cwd=ROOT, check=True)
    _keep("tests", minutes=round((time.monotonic() - began) / 60, 1))


# --- printing ------------------------------------------------------------------------------------------------


def lines(rows: Sequence[Row]) -> list[str]:
    cells = [HEAD, *(_cells(row) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEAD))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _cells(row: Row) -> tuple[str, ...]:
    most, now = "" if row.most is None else f"<= {row.most:g}", "-" if row.now is None else f"{row.now:g}"
    mark = {None: "", True: "ok", False: "over"}[row.met]
    return row.figure, row.before, most, now, mark, row.where[:LONGEST]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.house", description=(__doc__ or "").partition("`")[0])
    parser.add_argument("--json", action="store_true", help="the same as a list")
    parser.add_argument("--walk", action="store_true", help="measure what needs a day's work (ten minutes)")
    parser.add_argument("--tests", action="store_true", help="measure `make test`")
    words = parser.parse_args()
    if words.walk:
        walk()
    if words.tests:
        tests()
    gc.disable()  # syntax trees are many small things that all stay
    rows = table(ROOT, _kept())
    print(
        json.dumps([{**asdict(row), "met": row.met} for row in rows], indent=2)
        if words.json
        else "\n".join(lines(rows))
    )


if __name__ == "__main__":
    main()
