"""The books -> how goals stand whose tasks are merged. Looks and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sisimpur.agents.orchestrator.goals import ends
from sisimpur.agents.orchestrator.goals.ends import GoalEnd
from sisimpur.agents.orchestrator.goals.measure_words import measures_of
from sisimpur.shared.model.lifecycle import wording
from sisimpur.shared.model.text import harmless
from sisimpur.shared.model.work import Goal, GoalWord, Measure
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
        return measures_of(goal, self._measures, wording(goal))

    def measure(self, goal: Goal) -> Measure | None:
        """The only one; of several each look tells all."""
        found = self.measures(goal)
        return found[0] if len(found) == 1 else None

    def looks(self, goal: Goal) -> Sequence[GoalLook]:
        return self._looks.get((goal.id, wording(goal)), ())

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
