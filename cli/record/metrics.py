"""`metrics`: how well it goes, in figures that anybody can compute again: on screens, for scripts, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import plain, print_json
from sisimpur.cli.wiring.records import open_records
from sisimpur.shared.model.text import counted
from sisimpur.shared.record.metrics import FIRST, METRICS, WINDOWS, MetricFigure, figures, prometheus, total
from sisimpur.shared.record.metrics_reader import MetricDays
from sisimpur.shared.system.clock import Clock

LINE = "{:<32}{:>9}{:>9}{:>9}"


def metrics(arguments: Arguments, clock: Clock | None = None) -> int:
    with open_records(arguments.home, clock=clock, looking=True) as records:
        days = MetricDays(records.db).days()
        found = figures(days, records.day())
    if arguments.prometheus:
        print(*prometheus(found, total(days)), sep="\n")
        return 0
    if arguments.json:
        return print_json([metric_facts(figure) for figure in found])
    print(*_table(found, len(days)), sep="\n")
    return 0


def metric_facts(figure: MetricFigure) -> Mapping[str, object]:
    """Return a figure in the form of `--json`."""
    of = {figure.metric.label: figure.label} if figure.label else {}
    return {
        "name": figure.metric.name,
        "unit": figure.metric.unit,
        "labels": of,
        "days": figure.values,
        "says": figure.metric.says,
    }


def _table(found: Iterable[MetricFigure], days: int) -> Iterator[str]:
    yield LINE.format(counted(days, "day"), *(f"{window} days" if WINDOWS[window] else window for window in WINDOWS))
    parts = {metric: [*theirs] for metric, theirs in groupby(found, lambda figure: figure.metric)}
    for metric in METRICS:
        yield f"\n{metric.name}, {metric.unit}: {metric.says}"
        told = parts.get(metric, [])
        if all(value is None for part in told for value in part.values.values()):
            yield f"  comes with the first {FIRST[metric.bottom]}"
            continue
        for part in told:
            values = (_shown(value, metric.unit) for value in part.values.values())
            yield plain(LINE.format(f"  {part.label or 'all'}", *values))


def _shown(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.0f} %" if unit == "share" else f"{value:.4f}" if unit == "dollars" else f"{value:.2f}"
