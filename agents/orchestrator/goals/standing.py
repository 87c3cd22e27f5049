"""The books -> how goals stand whose tasks are merged. Looks and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sisimpur.agents.orchestrator.goals import ends
from sisimpur.agents.orchestrator.goals.ends import GoalEnd
from sisimpur.shared.model.lifecycle import Worded, worded
from sisimpur.shared.model.text import harmless
from sisimpur.shared.model.work import Goal, GoalWord, Measure, MeasureKind
from sisimpur.shared.store.goal_book import GoalLook, GoalRepository, GoalWords

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
        return ends.next_for(looks, merged, self.words(goal))

    def wish(self, goal: Goal) -> str:
        """The goal in its owner's words, and its measures with the first figures: the same until it is reworded."""
        return ends.wish(goal, self.measures(goal), self.looks(goal))

    def seen(self, goal: Goal) -> str:
        """Its figure, or what was missing when it was looked at last; empty: nobody has looked yet."""
        looks, measure = self.looks(goal), self.measure(goal)
        if measure and looks:
            return ends.figures(measure, looks)
        return looks[-1].text if looks else ""

    def told(self, goal: Goal, end: GoalEnd | None) -> str:
        """How it stands in words; empty: there is nothing to say but that its tasks are merged, or under way."""
        looks, measure = self.looks(goal), self.measure(goal)
        if end is None:
            return self.seen(goal) if self.measures(goal) else ""
        return ends.told(end, looks, measure) if looks or end != "done" else ""


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
