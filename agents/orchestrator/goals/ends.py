"""(measure, what was seen, what is left) -> what is next for a goal whose tasks are over. Code decides. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from sisimpur.shared.model.text import counted
from sisimpur.shared.model.work import Goal, GoalWord, Measure, MeasureKind
from sisimpur.shared.store.goal_book import GoalLook

GoalEnd = Literal["look", "done", "plan again", "ask"]

MOST_BY_FIGURE, MOST_BY_WORDS = 2, 1  # plannings more, of a goal that does not hold yet
MOST_TRIES = 3  # to look: somebody or something has ended each


def next_for(looks: Sequence[GoalLook], merged: int, words: Sequence[GoalWord] = ()) -> GoalEnd:
    """What is next when `merged` tasks are all there is. `words`: kept of the goal; what was left keeps it open."""
    last = last_look(looks, merged)
    if last is None:
        return "look"
    if last.verdict == "holds":
        return "done"
    if last.verdict != "not yet":
        return "ask"
    again = len({look.merged for look in looks if look.at_end and look.verdict == "not yet"})
    is_counted = last.figure is not None or any(word.kind == "left" for word in words)
    return "plan again" if again <= (MOST_BY_FIGURE if is_counted else MOST_BY_WORDS) else "ask"


def last_look(looks: Sequence[GoalLook], merged: int) -> GoalLook | None:
    """The last one at the goal's end that was answered, or tried too often, when so many tasks were merged."""
    here = [look for look in looks if look.merged == merged and look.at_end]
    seen = [look for look in here if look.verdict]
    is_tried = sum(look.begun for look in here) >= MOST_TRIES
    return seen[-1] if seen else here[-1] if is_tried else None


def is_measured(looks: Iterable[GoalLook], merged: int) -> bool:
    """Whether its figure was taken, or tried for, since the last of its tasks was merged."""
    return any(look.merged == merged and (look.verdict or look.begun >= MOST_TRIES) for look in looks)


# --- words ---------------------------------------------------------------------------------------------------

UNITS = {MeasureKind.COVERAGE: " %", MeasureKind.TIMING: " ms"}


def figures(measure: Measure, looks: Sequence[GoalLook]) -> str:
    """`coverage of api: 61.2 % -> 74.0 %, wanted at least 80 %`: the first figure and the last."""
    seen = [look.figure for look in looks if look.figure is not None]
    both = " -> ".join(dict.fromkeys(_figure(measure, figure) for figure in (*seen[:1], *seen[-1:])))
    why = next((look.text for look in reversed(looks) if look.text), "not measured yet")
    return f"{subject(measure)}: {both or why}, wanted {_wanted(measure)}"


def wish(goal: Goal, measures: Iterable[Measure], looks: Sequence[GoalLook]) -> str:
    """The goal in its owner's words, and what is measured of it, with the first figure alone."""
    measured = (f"Measured: {figures(measure, looks[:1])}" for measure in measures)
    return "\n".join((goal.title, *(f"- {detail}" for detail in goal.details), *measured))


def all_of(taken: Sequence[tuple[Measure, float]]) -> str:
    """The figures of one look, if they are several."""
    lines = (f"{subject(measure)}: {_figure(measure, value)}, wanted {_wanted(measure)}" for measure, value in taken)
    return "; ".join(lines) if len(taken) > 1 else ""


def subject(measure: Measure) -> str:
    match measure.kind:
        case MeasureKind.COVERAGE:
            return f"coverage of {'all code' if measure.of == '.' else measure.of}"
        case MeasureKind.FINDINGS:
            tool, _, place = measure.of.partition(" ")
            return f"findings of {tool} in {place or '.'}"
        case MeasureKind.TIMING:
            return f"time of {measure.of}"
    return measure.of


def _wanted(measure: Measure) -> str:
    if measure.kind is MeasureKind.TEST:
        return "that it passes"
    bounds = {"at least": measure.at_least, "at most": measure.at_most}
    unit = UNITS.get(measure.kind, "")
    return " and ".join(f"{word} {bound:g}{unit}" for word, bound in bounds.items() if bound is not None)


def _figure(measure: Measure, figure: float) -> str:
    if measure.kind is MeasureKind.TEST:
        return "passes" if measure.holds(figure) else "does not pass"
    return f"{figure:.1f}{UNITS[measure.kind]}" if measure.kind in UNITS else f"{figure:g}"


def told(end: GoalEnd, looks: Sequence[GoalLook], measure: Measure | None) -> str:
    """How a goal stands whose tasks are merged, for the plan, the report and the roadmap."""
    last = next((look for look in reversed(looks) if look.at_end and look.verdict), None)
    figure = last.text if last and last.figure is not None else ""
    if measure and any(look.figure is not None for look in looks):
        figure = figures(measure, looks)
    if end == "look":
        return "not yet looked at" + (f" ({figure})" if figure else "")
    if end == "done":
        return f"held: {figure}" if figure else "read once: holds"
    what = figure or (last.text if last else "")
    return f"does not hold yet: {what}" if last and last.verdict == "not yet" else f"nobody can tell: {what}"


def question(looks: Sequence[GoalLook], measure: Measure | None, merged: int) -> str:
    """For the owner, when nothing more is planned for a goal that is not seen to hold."""
    last = last_look(looks, merged)
    why = last.text if last and last.text else "it was looked at three times, and each time something ended us"
    if measure and any(look.figure is not None for look in looks):
        why = figures(measure, looks)
    done = f"{counted(merged, 'task')} merged for it"
    holds = "it does not hold yet" if last and last.verdict == "not yet" else "nobody can tell whether it holds"
    return (
        f"{done}, and {holds}: {why}. Tick it in ROADMAP.md if it is good enough, or reword it to say what is missing."
    )
