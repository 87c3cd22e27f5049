"""Counts of days become figures: by plain division, of the days that are asked for; and text that Prometheus reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.record.metrics import COUNTS, FIRST, METRICS, Counts, figures, prometheus, total

TODAY = "2026-11-30"
DAYS: Mapping[str, Counts] = {
    "2026-10-01": {"tasks_merged/fix": 4, "tasks_ended/fix": 4, "run_seconds/qa": 480_000},
    "2026-11-10": {"tasks_merged/fix": 1, "tasks_ended/fix": 2, "rounds": 3, "spent_dollars/coder": 2 * 10**9},
    "2026-11-24": {"tasks_merged/tests": 1, "tasks_ended/tests": 1, "checks/green": 3, "checks/red": 1},
    "2026-11-30": {"tasks_rolled_back/tests": 1, "tasks_ended/docs": 1, "flaky_checks": 1, "owner_acts/approve": 3},
}


def value(name: str, label: str = "", window: str = "all") -> float | None:
    return next(
        one.values[window] for one in figures(DAYS, TODAY) if (one.metric.name, one.label) == (name, label)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "label", "window", "expected"),
    [
        ("task_pass_rate", "fix", "all", 5 / 6),
        ("task_pass_rate", "tests", "all", 0),  # merged, and taken back
        ("task_pass_rate", "docs", "all", 0),  # nothing of that kind was ever merged
        ("task_pass_rate", "", "all", 5 / 8),
        ("task_pass_rate", "fix", "30", 1 / 2),
        ("task_pass_rate", "fix", "7", None),  # none came to an end
        ("rounds_per_merged_task", "", "all", 3 / 5),
        ("rounds_per_merged_task", "", "7", None),
        ("minutes_per_merged_task", "qa", "all", 8 / 5),
        ("dollars_per_merged_task", "coder", "30", 2.0),
        ("test_flakiness_rate", "", "7", 1 / 4),
        ("check_outcomes", "red", "all", 1 / 4),
        ("owner_interventions_per_task", "approve", "7", 3 / 2),  # of all tasks: an act has no kind
        ("cost_over_forecast", "", "all", None),
    ],
)
def test_a_figure_is_a_sum_over_a_sum(name: str, label: str, window: str, expected: float | None) -> None:
    assert value(name, label, window) == expected


def test_today_is_among_the_last_days_and_the_day_before_them_is_not() -> None:
    days = {"2026-11-23": {"rounds": 1}, "2026-11-24": {"rounds": 10}, TODAY: {"rounds": 100}}
    assert total(days, "2026-11-24") == {"rounds": 110}
    stayed = {day: {**counts, "tasks_merged/fix": 1, "tasks_ended/fix": 1} for day, counts in days.items()}
    (rounds,) = (one for one in figures(stayed, TODAY) if one.metric.name == "rounds_per_merged_task")
    assert rounds.values == {"7": 55, "30": 37, "all": 37}


def test_what_a_later_version_counts_is_no_figure_of_this_one() -> None:
    assert total({TODAY: {"rounds": 1, "smiles/coder": 7}}) == {"rounds": 1}


def test_each_metric_and_each_count_says_what_it_is_in_one_sentence() -> None:
    for says in (*(metric.says for metric in METRICS), *(count.says for count in COUNTS.values())):
        assert says[0].isupper() and says.endswith(".") and "\n" not in says and ". " not in says
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    assert {count for metric in METRICS for count in (metric.top, metric.bottom)} <= {*COUNTS}


# --- Prometheus ------------------------------------------------------------------------------------------------


def test_each_figure_can_say_what_gives_the_first_one() -> None:
    assert {metric.bottom for metric in METRICS} == FIRST.keys()


NAME, LABEL = r"[a-zA-Z_:][a-zA-Z0-9_:]*", r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{((?:{LABEL})(?:,{LABEL})*)\}})? (\S+)")


def read(lines: list[str]) -> dict[str, list[tuple[str, float]]]:
    """As the format says (0.0.4): each metric has one HELP, one TYPE and then its samples, each once."""
    found: dict[str, list[tuple[str, float]]] = {}
    name = ""
    for number, line in enumerate(lines):
        if line.startswith("# HELP "):
            name = line.split()[2]
            assert name not in found and re.fullmatch(NAME, name)
            assert lines[number + 1] in (f"# TYPE {name} gauge", f"# TYPE {name} counter")
            found[name] = []
        elif not line.startswith("# TYPE "):
            sample = SAMPLE.fullmatch(line)
            assert sample and sample[1] == name, line
            found[name].append((sample[2] or "", float(sample[3])))
    for samples in found.values():
        assert len({labels for labels, _ in samples}) == len(samples)
    return found


def test_prometheus_reads_each_figure_once_and_what_it_is_made_of() -> None:
    found = read([*prometheus(figures(DAYS, TODAY), total(DAYS))])
    assert all(name.startswith("sisimpur_") for name in found)
    assert dict(found["sisimpur_task_pass_rate"])['kind="fix",days="30"'] == 0.5
    assert dict(found["sisimpur_check_outcomes"])['outcome="green",days="all"'] == 0.75
    assert dict(found["sisimpur_tasks_merged_total"]) == {'kind="fix"': 5, 'kind="tests"': 1}
    assert dict(found["sisimpur_spent_dollars_total"]) == {'role="coder"': 2}
    assert found["sisimpur_rounds_total"] == [("", 3)]
    assert not any("nan" in str(samples).lower() for samples in found.values())


@given(st.text(min_size=1))
def test_no_label_breaks_the_format(label: str) -> None:
    days = {TODAY: {f"checks/{label}": 1, f"run_seconds/{label}": 1_000, "tasks_merged/fix": 1}}
    lines = "\n".join(prometheus(figures(days, TODAY), total(days))).split("\n")
    assert dict(read(lines)).keys() >= {"sisimpur_checks_total"}


def test_the_docs_define_each_figure_and_each_count_as_the_program_does() -> None:
    page = (Path(__file__).parents[2] / "docs" / "record.md").read_text("utf-8")
    for metric in METRICS:
        unit = f"{metric.unit}, by {metric.label}" if metric.label else metric.unit
        assert f"| `{metric.name}` | {unit} | {metric.says} | `{metric.top}` / `{metric.bottom}` |\n" in page
    assert [name for name, count in COUNTS.items() if f"| `{name}` | {count.says} |\n" not in page] == []
