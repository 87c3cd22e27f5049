"""How the cost grows with old tasks and with tasks in review: draws docs/pictures. `python -m bench.growth`."""

from __future__ import annotations

from collections.abc import Sequence

from bench import looks
from bench.chart import Chart, svg
from bench.rows import SHOWN, old
from bench.trace import ROOT

PICTURES = ROOT / "docs" / "pictures"
OLD_TASKS = (100, 1_000, 10_000)
IN_REVIEW = (2, 4, 8, 16)


def main() -> int:
    for name, draw in (("in-review", in_review), ("old-tasks", old_tasks)):
        chart = draw()
        (PICTURES / f"{name}.svg").write_text(svg(chart), "utf-8")
        for line, figures in chart.lines.items():
            print(f"{name:10} {line:12}{_told(figures)}")
    return 0


def old_tasks() -> Chart:
    found = [old(tasks) for tasks in OLD_TASKS]
    lines = {name: [one[name] for one in found] for name in ("idle", *SHOWN)}
    return Chart("CPU seconds of an idle day and of what is shown", OLD_TASKS, "old tasks", lines, goal=1.2)


def in_review() -> Chart:
    every = {
        name: [looks.day_of(count, together).git / count for count in IN_REVIEW]
        for name, together in (("one by one", False), ("together", True))
    }
    return Chart("Git processes of each task", IN_REVIEW, "tasks in review", every, goal=looks.GOAL)


def _told(figures: Sequence[float]) -> str:
    return "".join(f"{figure:10.3g}" for figure in figures)


if __name__ == "__main__":
    raise SystemExit(main())
