"""The books -> how goals stand whose tasks are merged, and what is next for them. Looks and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sisimpur.shared.model.lifecycle import Worded, worded
from sisimpur.shared.model.text import counted, harmless
from sisimpur.shared.model.work import Goal, GoalWord, Measure, MeasureKind
from sisimpur.shared.store.goal_book import GoalLook, GoalRepository, GoalWords

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


UNITS = {MeasureKind.COVERAGE: " %", MeasureKind.TIMING: " ms"}


def figures(measure: Measure, looks: Sequence[GoalLook]) -> str:
    """`coverage of api: 61.2 % -> 74.0 %, wanted at least 80 %`: the first figure and the last."""
    seen = [look.figure for look in looks if look.figure is not None]
    both = " -> ".join(dict.fromkeys(_figure(measure, figure) for figure in (*seen[:1], *seen[-1:])))
    why = next((look.text for look in reversed(looks) if look.text), "not measured yet")
    return f"{subject(measure)}: {both or why}, wanted {_wanted(measure)}"


def bulleted(goal: Goal) -> Iterator[str]:
    title, *details = goal.said
    yield title
    yield from (f"- {detail}" for detail in details)


def wish(goal: Goal, measures: Iterable[Measure], looks: Sequence[GoalLook]) -> str:
    """The goal in its owner's words, and what is measured of it, with the first figure alone."""
    measured = (f"Measured: {figures(measure, looks[:1])}" for measure in measures)
    return "\n".join((*bulleted(goal), *measured))


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
        return f"held: {figure}" if figure else "read against your goal: it holds"
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


WORD = 400  # characters of one that is shown


@dataclass(frozen=True)
class GoalBooks:
    """`is_read`: a model is asked about the end of a goal that no figure settles."""

    looks: GoalRepository
    words: GoalWords
    is_read: bool = False


@dataclass(frozen=True)
class GoalStanding:
    """A goal by the books. `begun`: tasks that were ever made of it; `end` empty: it has tasks to do, or to come."""

    goal: Goal
    merged: int
    begun: int
    end: GoalEnd | None = None
    told: str = ""  # in words

    @property
    def is_open(self) -> bool:
        """Its tasks are merged, and nobody has seen that it holds."""
        return self.end not in (None, "done")


WHOSE = {"remark": "remark", "left": "left for later", "answer": "the coder says", "review": "the reviewer says"}


def beside(words: Iterable[GoalWord], task: str = "") -> tuple[str, ...]:
    """Lines for whoever looks at a goal, or at one of its tasks."""
    return tuple(f"{WHOSE[word.kind]}: {harmless(word.text, WORD)}" for word in words if word.task in ("", task))


class GoalEnds:
    """Measures, looks and words, as they are now."""

    def __init__(self, books: GoalBooks) -> None:
        self._books = books
        self._measures = books.looks.measures()
        self._looks = books.looks.looks()

    def measures(self, goal: Goal) -> tuple[Measure, ...]:
        """All of them have to hold."""
        return measures_of(goal, self._measures)

    def measure(self, goal: Goal) -> Measure | None:
        """The only one; of several each look tells all."""
        found = self.measures(goal)
        return found[0] if len(found) == 1 else None

    def looks(self, goal: Goal) -> Sequence[GoalLook]:
        return self._looks.get(worded(goal), ())

    def words(self, goal: Goal) -> Sequence[GoalWord]:
        return self._books.words.of([goal.id])

    def left(self, goal: Goal) -> str:
        """What the planner left for later, in its words; empty: nothing."""
        return "; ".join(word.text for word in self.words(goal) if word.kind == "left")

    def end(self, goal: Goal, merged: int, was_done: bool) -> GoalEnd:
        """What is next, when nothing is left of its tasks. `was_done`: it counted as done before anybody looked."""
        looks = self.looks(goal)
        if was_done and not any(look.at_end for look in looks):
            return "done"
        if not (self._books.is_read or self.measures(goal) or self.left(goal)) and not looks:
            return "done"
        return next_for(looks, merged, self.words(goal))

    def wish(self, goal: Goal) -> str:
        """The goal in its owner's words, and its measures with the first figures: the same until it is reworded."""
        return wish(goal, self.measures(goal), self.looks(goal))

    def seen(self, goal: Goal) -> str:
        """Its figure, or what was missing when it was looked at last; empty: nobody has looked yet."""
        looks, measure = self.looks(goal), self.measure(goal)
        if measure and looks:
            return figures(measure, looks)
        return looks[-1].text if looks else ""

    def told(self, goal: Goal, end: GoalEnd | None) -> str:
        """How it stands in words; empty: there is nothing to say but that its tasks are merged, or under way."""
        looks, measure = self.looks(goal), self.measure(goal)
        if end is None:
            return self.seen(goal) if self.measures(goal) else ""
        return told(end, looks, measure) if looks or end != "done" else ""


# --- the measure of a goal whose own words say it beyond doubt -----------------------------------------------


PATH = r"[A-Za-z0-9_][\w.-]*(?:/[\w.-]*)+|[A-Za-z_]\w*\.(?:py|md|toml|txt|ya?ml|cfg|html|js|css)"
PATHS = re.compile(rf"(?<![\w/.])(?:{PATH})", re.ASCII)
TEST = re.compile(r"[\w./-]+\.py(?:::[\w.-]+(?:\[[^\]\s]*\])?)+", re.ASCII)
PACKAGE = re.compile(
    r"(?:of|for|in|under) (?:the |our )?[`'\"]?([A-Za-z_][\w.]*)[`'\"]?(?: (?:package|module|app|folder)\b)"
)
PER_CENT = re.compile(r"(\d{1,3}(?:\.\d+)?) ?(?:%|per ?cent\b)", re.IGNORECASE)
WORDS = re.compile(r"[^\W\d_]+")
LINES = re.compile(r"(?<![\d.,'_])(\d{1,3}(?:[,'_]\d{3})+|\d{1,6}) lines\b", re.IGNORECASE)
AT_MOST = re.compile(r"\b(at most|under|below|shorter than|fewer than|less than|no more than|within)\b", re.IGNORECASE)
PASSES = re.compile(r"\b(pass|passes|succeeds|is green|goes green)\b", re.IGNORECASE)
DENIED = re.compile(
    r"\b(not|never|without|unless|if|or|drop|drops|fall|falls|lose|keep|stays?|remove)\b", re.IGNORECASE
)
NO_FINDINGS = re.compile(
    r"\bno (ruff (findings?|errors?|warnings?|issues?)|(findings?|errors?|warnings?|issues?) (of|from|by) ruff)\b"
    r"|\bruff (finds|reports|says) nothing\b|\bruff[- ]clean\b",
    re.IGNORECASE,
)


def measures_of(goal: Goal, named: Mapping[Worded, tuple[Measure, ...]]) -> tuple[Measure, ...]:
    """What its words say; else what the planner named for this wording."""
    own = said(goal)
    return (own,) if own else named.get(worded(goal), ())


def said(goal: Goal) -> Measure | None:
    """None: its words say none, or more than one."""
    found = list(dict.fromkeys(measure for text in (goal.title, *goal.details) for measure in _measures(text)))
    return found[0] if len(found) == 1 else None


def _measures(text: str) -> Iterator[Measure]:
    readers: tuple[Callable[[str], Measure | None], ...] = (_coverage, _findings, _test, _length)
    for read in readers:
        if measure := read(text):
            yield measure


def _coverage(text: str) -> Measure | None:
    """One figure, or "from one to another"; of one place, or of everything."""
    figures = [float(found) for found in PER_CENT.findall(text)]
    if "coverage" not in map(str.lower, WORDS.findall(text)) or DENIED.search(text) or not figures:
        return None
    rises = len(figures) == 2 and re.search(r"\bfrom\b.*\bto\b", text) is not None and figures[0] < figures[1]
    if (len(figures) > 1 and not rises) or figures[-1] > 100:
        return None
    place = _place(text)
    return None if place is None else Measure(MeasureKind.COVERAGE, place or ".", at_least=figures[-1])


def _findings(text: str) -> Measure | None:
    if not NO_FINDINGS.search(text):
        return None
    place = _place(text)
    return None if place is None else Measure(MeasureKind.FINDINGS, f"ruff {place or '.'}", at_most=0)


def _test(text: str) -> Measure | None:
    tests = set(TEST.findall(text))
    is_said = len(tests) == 1 and PASSES.search(text) and not DENIED.search(text)
    return Measure(MeasureKind.TEST, tests.pop(), at_least=1) if is_said else None


def _length(text: str) -> Measure | None:
    """A file that is to have at most so many lines."""
    lines, files = LINES.findall(text), set(PATHS.findall(text))
    if len(lines) != 1 or len(files) != 1 or not AT_MOST.search(text) or DENIED.search(text):
        return None
    path = files.pop().rstrip(".")
    strictly = re.search(r"\b(under|below|shorter than|fewer than|less than)\b", text, re.IGNORECASE)
    return Measure(MeasureKind.PROPERTY, f"lines {path}", at_most=int(re.sub(r"\D", "", lines[0])) - bool(strictly))


def _place(text: str) -> str | None:
    """The one path or package that is named; empty: none is; None: several are."""
    without_tests = TEST.sub(" ", text)
    found = {path.rstrip("./") for path in PATHS.findall(without_tests)}
    found |= {name.strip(".") for name in PACKAGE.findall(PATHS.sub(" ", without_tests))}
    return None if len(found) > 1 else next(iter(found), "")
