"""Door to what is known of goals. The only module that remembers words about them, their measures, and their looks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sisimpur.shared.model.lifecycle import Worded
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import GoalWord, Measure
from sisimpur.shared.store.database import Form, OfDatabase, row_to
from sisimpur.shared.system.fault import fault_point

LONGEST_WORD = 1_000  # characters
MOST_WORDS = 50  # of one goal, the newest

MEASURES = Form(tuple[Measure, ...])

Seen = Literal["", "holds", "not yet", "cannot tell"]


class GoalWords(OfDatabase):
    """Words about goals. A goal keeps them while it is reworded: they belong to its id."""

    def keep(self, word: GoalWord, now: datetime) -> None:
        """Kept once, however often it is said; what was left, taken up, and is left again is open again."""
        text = one_line(word.text, LONGEST_WORD)
        if not (word.goal_id and text):
            return
        self._db.write(
            "insert into goal_words (goal_id, kind, text, task, at) values (?, ?, ?, ?, ?)"
            " on conflict do update set is_over = 0",
            (word.goal_id, word.kind, text, word.task, now.isoformat()),
        )
        fault_point("goal-word.kept")

    def planned(self, goal_ids: Iterable[str], words: Iterable[GoalWord], now: datetime) -> None:
        """Keep the words of a planning of these goals. What was left before is in it, or is left in these words."""
        with self._db.transaction() as db:
            for goal_id in goal_ids:
                db.execute("update goal_words set is_over = 1 where goal_id = ? and kind = 'left'", (goal_id,))
        fault_point("goal-words.planned")
        for word in words:
            self.keep(word, now)

    def of(self, goal_ids: Collection[str]) -> tuple[GoalWord, ...]:
        """The words that count, of each goal the oldest first."""
        found: list[GoalWord] = []
        for goal_id in dict.fromkeys(goal_ids):
            sql = "select * from goal_words where goal_id = ? and is_over = 0 order by id desc limit ?"
            found.extend(row_to(GoalWord, row) for row in reversed(self._db.rows(sql, (goal_id, MOST_WORDS))))
        return tuple(found)


@dataclass(frozen=True)
class GoalLook:
    """What was seen of a goal at a commit. `figure` None: it was not measured; `verdict` empty: nobody came to an end.

    `merged`: how many of its tasks were. `begun`: how often it was begun.
    """

    commit: str
    merged: int
    at_end: bool
    begun: int = 1
    figure: float | None = None
    verdict: Seen = ""
    text: str = ""  # what is missing, or why nobody can tell


class GoalRepository(OfDatabase):
    """Measures of goals, and what was seen of them; both belong to a goal as it is worded."""

    def keep_measures(self, goal: Worded, measures: Sequence[Measure]) -> None:
        """All of them have to hold."""
        values = (*goal, MEASURES.dump_json(tuple(measures)).decode())
        self._db.write("insert or replace into goal_measures values (?, ?, ?)", values)
        fault_point("goal-measure.kept")

    def measures(self) -> Mapping[Worded, tuple[Measure, ...]]:
        rows = self._db.rows("select * from goal_measures")
        return {(row["goal_id"], row["wording"]): MEASURES.validate_json(row["measure_json"]) for row in rows}

    def begin(self, goal: Worded, look: GoalLook, now: datetime) -> None:
        """Counted before it begins: a look that kills us is not begun for ever."""
        self._db.write(
            "insert into goal_looks (goal_id, wording, commit_id, merged, at_end, at) values (?, ?, ?, ?, ?, ?)"
            " on conflict do update set begun = begun + 1",
            (*_key(goal, look), now.isoformat()),
        )
        fault_point("goal-look.begun")

    def put_off(self, goal: Worded, look: GoalLook) -> None:
        """Note that nobody could look now: no money, no model, no box."""
        self._db.write(
            "update goal_looks set begun = begun - 1"
            " where goal_id = ? and wording = ? and commit_id = ? and merged = ? and at_end = ?",
            _key(goal, look),
        )
        fault_point("goal-look.put-off")

    def keep(self, goal: Worded, look: GoalLook) -> None:
        self._db.write(
            "update goal_looks set figure = ?, verdict = ?, text = ?"
            " where goal_id = ? and wording = ? and commit_id = ? and merged = ? and at_end = ?",
            (look.figure, look.verdict, one_line(look.text, LONGEST_WORD), *_key(goal, look)),
        )
        fault_point("goal-look.kept")

    def looks(self) -> Mapping[Worded, tuple[GoalLook, ...]]:
        """Of each goal the oldest first."""
        found: dict[Worded, tuple[GoalLook, ...]] = {}
        for row in self._db.rows("select * from goal_looks order by id"):
            goal = (row["goal_id"], row["wording"])
            found[goal] = (*found.get(goal, ()), row_to(GoalLook, row, commit=row["commit_id"]))
        return found


def _key(goal: Worded, look: GoalLook) -> tuple[str, str, str, int, int]:
    return (*goal, look.commit, look.merged, int(look.at_end))
