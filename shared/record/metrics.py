"""Counts of days -> figures: how well it goes, each with its unit and a sentence that says what it is. Pure.

Every figure is a sum of counts over another, so that any days can be taken together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

Counts = Mapping[str, float]  # a count, or count/label -> how many

WINDOWS = {"7": 7, "30": 30, "all": 0}  # days that are taken together, today among them; 0: every one there was


@dataclass(frozen=True)
class Count:
    """What is counted of a day. `label`: what tells its parts apart; `size`: so many of what is kept are one."""

    says: str
    label: str = ""
    size: int = 1


COUNTS: Mapping[str, Count] = {
    "tasks_merged": Count("Times that the change of a task was merged.", "kind"),
    "tasks_rolled_back": Count("Times that a merged change was taken back after its deployment.", "kind"),
    "tasks_stayed": Count("The first less the second.", "kind"),
    "tasks_ended": Count("Times that a task was merged, given up, or cancelled by the owner.", "kind"),
    "rounds": Count("Attempts that tests, review or a deployment have sent back."),
    "attempts": Count("Attempts that the coder has begun anew."),
    "attempts_with_lessons": Count("Of these, those whose prompt held a lesson from earlier work."),
    "run_seconds": Count("Time that a role was at work.", "role", 1_000),
    "spent_dollars": Count("Money that was booked for a role's calls.", "role", 10**9),
    "forecast_dollars": Count("Money that the day's plan foresaw for its tasks.", "", 10**9),
    "planned_dollars": Count("Money that the tasks of a day's plan have cost since.", "", 10**9),
    "checks": Count("Runs of the tests of a change that came to an end.", "outcome"),
    "flaky_checks": Count("Of these, those in which a test failed and passed on the same commit."),
    "reviews": Count("Reviews of a change that came to an end.", "outcome"),
    "owner_acts": Count("Times that the owner said or did something about a task, a goal, a deploy or money.", "act"),
    "safety_findings": Count("Paths that an engine wanted to write and may not, and grave findings of reviews.", "of"),
}


@dataclass(frozen=True)
class Metric:
    """One count over another, by the label of `top`; over all of `bottom`, if that has another label."""

    name: str
    unit: str
    top: str
    bottom: str
    says: str
    size: int = 1  # how many of the counted are one of the unit

    @property
    def label(self) -> str:
        return COUNTS[self.top].label


METRICS = (
    Metric(
        "task_pass_rate", "share", "tasks_stayed", "tasks_ended",
        "Of the times that a task came to an end, the share in which its change was merged and stayed.",
    ),
    Metric(
        "rounds_per_merged_task", "rounds", "rounds", "tasks_stayed",
        "Attempts that were sent back, of all tasks, for each change that was merged and stayed.",
    ),
    Metric(
        "minutes_per_merged_task", "minutes", "run_seconds", "tasks_stayed",
        "Minutes that a role was at work, whatever came of it, for each change that was merged and stayed.", size=60,
    ),
    Metric(
        "dollars_per_merged_task", "dollars", "spent_dollars", "tasks_stayed",
        "Money for a role's calls, whatever came of them, for each change that was merged and stayed.",
    ),
    Metric(
        "test_flakiness_rate", "share", "flaky_checks", "checks",
        "Of the runs of a change's tests, the share in which a test failed and passed on the same commit.",
    ),
    Metric(
        "memory_hit_rate", "share", "attempts_with_lessons", "attempts",
        "Of the coder's new attempts, the share whose prompt held a lesson from earlier work.",
    ),
    Metric(
        "owner_interventions_per_task", "times", "owner_acts", "tasks_ended",
        "Times that the owner said or did something, for each end of a task.",
    ),
    Metric(
        "safety_findings_per_task", "findings", "safety_findings", "tasks_ended",
        "Refused writes of engines and grave findings of reviews, for each end of a task.",
    ),
    Metric("check_outcomes", "share", "checks", "checks", "Of the runs of a change's tests, the share that ended so."),
    Metric("review_outcomes", "share", "reviews", "reviews", "Of the reviews of a change, the share that ended so."),
    Metric(
        "cost_over_forecast", "ratio", "planned_dollars", "forecast_dollars",
        "What the tasks of the days' plans have cost, over what the plans foresaw: 1 is as foreseen.",
    ),
)  # fmt: skip


FIRST: Mapping[str, str] = {  # what a figure is divided by -> what gives the first one
    "tasks_stayed": "change that is merged and stays",
    "tasks_ended": "task that comes to an end: merged, given up, or cancelled",
    "attempts": "attempt of the coder",
    "checks": "run of a change's tests",
    "reviews": "review of a change",
    "forecast_dollars": "day that is planned",
}


@dataclass(frozen=True)
class MetricFigure:
    """A metric, or its part with this label; None: there was nothing to divide by. `values` by the name of a window."""

    metric: Metric
    label: str
    values: Mapping[str, float | None]


def figures(days: Mapping[str, Counts], today: str) -> tuple[MetricFigure, ...]:
    windows = {name: total(days, _first(today, length)) for name, length in WINDOWS.items()}
    return tuple(
        MetricFigure(metric, label, {name: _value(metric, label, counts) for name, counts in windows.items()})
        for metric in METRICS
        for label in _labels(metric, windows["all"])
    )


def total(days: Mapping[str, Counts], first: str = "") -> Counts:
    """The sum of all days from that one on, in what is counted, not in what is kept."""
    found: defaultdict[str, float] = defaultdict(float)
    for day, counts in days.items():
        for key, number in counts.items() if day >= first else ():
            found[key] += number
    for key in [key for key in found if _family(key) == "tasks_merged"]:
        kind = key.partition("/")[2]
        found[f"tasks_stayed/{kind}"] = max(0, found[key] - found.get(f"tasks_rolled_back/{kind}", 0))
    return {key: number / COUNTS[name].size for key, number in found.items() if (name := _family(key)) in COUNTS}


def _labels(metric: Metric, counts: Counts) -> list[str]:
    """First without one: all of it; but the share of the whole in itself says nothing."""
    theirs = sorted({key.partition("/")[2] for key in counts if _family(key) in (metric.top, *_also(metric))} - {""})
    return theirs if metric.top == metric.bottom else ["", *theirs]


def _value(metric: Metric, label: str, counts: Counts) -> float | None:
    bottom = _sum(counts, metric.bottom, label if _also(metric) else "")
    return _sum(counts, metric.top, label) / bottom / metric.size if bottom else None


def _also(metric: Metric) -> tuple[str, ...]:
    """Its other count, if that has the same labels: a kind of which nothing was merged is a kind, too."""
    is_by_the_same = metric.top != metric.bottom and COUNTS[metric.bottom].label == metric.label != ""
    return (metric.bottom,) if is_by_the_same else ()


def _sum(counts: Counts, family: str, label: str) -> float:
    if label:
        return counts.get(f"{family}/{label}", 0)
    return sum(number for key, number in counts.items() if _family(key) == family)


def _first(today: str, days: int) -> str:
    return (date.fromisoformat(today) - timedelta(days=days - 1)).isoformat() if days else ""


def _family(key: str) -> str:
    return key.partition("/")[0]


# --- for Prometheus --------------------------------------------------------------------------------------------


def prometheus(found: Iterable[MetricFigure], counts: Counts) -> Iterator[str]:
    """The text format 0.0.4: figures by window as gauges; what they are made of as counters, which only grow."""
    for metric, parts in groupby(found, lambda figure: figure.metric):
        yield from _head(f"sisimpur_{metric.name}", metric.says, "gauge")
        told = [*parts]
        for part in [part for part in told if part.label] or told:
            for window, value in part.values.items():
                if value is not None:
                    yield _sample(f"sisimpur_{metric.name}", {metric.label: part.label, "days": window}, value)
    for family, count in COUNTS.items():
        if family != "tasks_stayed":
            yield from _head(f"sisimpur_{family}_total", count.says, "counter")
            for key in sorted(key for key in counts if _family(key) == family):
                yield _sample(f"sisimpur_{family}_total", {count.label: key.partition("/")[2]}, counts[key])


def _head(name: str, says: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} {says}"
    yield f"# TYPE {name} {kind}"


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items() if label and text)
    return f"{name}{f'{{{told}}}' if told else ''} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
