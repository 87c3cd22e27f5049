"""Door to memory. The only module that remembers lessons: learned, found again, used, and whether they helped.

How often a lesson's failure was expected, and how often it did not come, is counted from its uses. Words are looked up
in an index of SQLite's (FTS5), which triggers keep in step; a SQLite without it finds lessons by signature and files
alone.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice

from sisimpur.agents.orchestrator.memory.lesson import (
    LEARNERS,
    MOST_IN_A_PROMPT,
    Learner,
    Lesson,
    Situation,
    bounded,
    expiry,
    fading,
    heading,
    is_kept,
)
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.text import defuse
from sisimpur.shared.store.database import Database, row_to
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.words.synonyms import kindred, telling

LESSONS = (
    "select l.*, count(u.passed) used, coalesce(sum(u.passed), 0) went_well"
    " from lessons l left join lesson_uses u on u.lesson = l.number"
)
WEIGHTS = "2.0, 1.0, 1.0"  # of keywords, signature, text
INDEX = (
    "create virtual table if not exists lesson_words using fts5(keywords, signature, text, content = 'lessons',"
    " content_rowid = 'number', tokenize = 'porter unicode61 remove_diacritics 2')",
    "create trigger lesson_words_in after insert on lessons begin"
    " insert into lesson_words (rowid, keywords, signature, text)"
    " values (new.number, new.keywords, new.signature, new.text); end",
    "create trigger lesson_words_out after delete on lessons begin"
    " insert into lesson_words (lesson_words, rowid, keywords, signature, text)"
    " values ('delete', old.number, old.keywords, old.signature, old.text); end",
    "insert into lesson_words (lesson_words) values ('rebuild')",
)
NO_INDEX = ("drop trigger if exists lesson_words_in", "drop trigger if exists lesson_words_out")

MOST_WORDS = 60  # that are looked up
LESS = 0.6  # a word that only stands for another counts so much


class LessonRepository:
    """`indexed`: whether words are looked up; None: if this SQLite can."""

    def __init__(self, db: Database, indexed: bool | None = None) -> None:
        self._db = db
        self._indexed = bool(indexed)
        if indexed is None:
            self._indexed = db.row("select 1 from pragma_module_list where name = 'fts5'") is not None
        self._keep_index()

    # -- learning ---------------------------------------------------------------------------------------------

    def learn(self, lesson: Lesson, now: datetime) -> Lesson | None:
        """The same again renews the old one. None: the owner has deleted it. Refused: it says nothing.

        What it says is cut to size and must be clean of secrets. Its number, its days and its uses are ours to set.
        """
        new, day = bounded(lesson), now.date().isoformat()
        if not new.text:
            raise Refused("a lesson without words")
        same = (new.agent, new.signature, new.text)
        values = (*same, "\n".join(new.keywords), "\n".join(new.files), new.origin, day, expiry(day), new.theirs)
        with self._db.transaction() as db:
            db.execute(
                "insert into lessons (agent, signature, text, keywords, files, origin, learned, expires, theirs)"
                " select ?, ?, ?, ?, ?, ?, ?, ?, ? where not exists (select 1 from lessons_forgotten where digest = ?)"
                " on conflict do update set expires = max(expires, excluded.expires),"
                " theirs = min(theirs, excluded.theirs)",
                (*values, _digest(*same)),
            )
            sql = f"{LESSONS} where agent = ? and signature = ? and text = ? group by number"
            row = db.execute(sql, same).fetchone()
        fault_point("lesson.learned")
        return _lesson(row) if row else None

    def use(self, lessons: Sequence[Lesson], task: str, attempt: int) -> None:
        """They stand in the prompt of this try, however often it is asked. One that is gone meanwhile is left out."""
        with self._db.transaction() as db:
            for lesson in lessons:
                db.execute(
                    "insert or ignore into lesson_uses (lesson, task, attempt) select number, ?, ? from lessons"
                    " where number = ?",
                    (task, attempt, lesson.number),
                )
        fault_point("lesson.used")

    def ended(self, task: str, attempt: int, passed: bool, kinds: Iterable[str], day: str = "") -> None:
        """How the try ended for the lessons about failures of these signatures; the first word counts.

        `passed`: the failure was expected and did not come; else it came once more. Of a lesson about anything else
        nobody knows whether it helped. `day`: one that helped lives on from then.
        """
        about = "select number from lessons where signature != '' and signature in (select value from json_each(?))"
        uses = f"from lesson_uses where task = ? and attempt = ? and passed is null and lesson in ({about})"
        told = (task, attempt, json.dumps([*kinds]))
        with self._db.transaction() as db:
            if passed and day:
                sql = f"update lessons set expires = max(expires, ?) where number in (select lesson {uses})"  # noqa: S608
                db.execute(sql, (expiry(day), *told))
            sql = f"update lesson_uses set passed = ? where rowid in (select rowid {uses})"  # noqa: S608
            db.execute(sql, (passed, *told))
        fault_point("lesson.ended")

    # -- finding ----------------------------------------------------------------------------------------------

    def find(self, situation: Situation, day: str, most: int = MOST_IN_A_PROMPT) -> tuple[Lesson, ...]:
        """Lessons that are kept: of the same signature, then by words, then of the same files; the best first."""
        scores = self._scores(situation)
        rows = self._db.rows(
            "select number, signature, files from lessons where agent = ? and expires >= ? and theirs <= ?",
            (situation.agent, day, situation.theirs),
        )
        ranked = sorted((rank, -row["number"]) for row in rows if (rank := _rank(row, situation, scores)))
        found = (self._lesson(-number) for _, number in ranked)
        return tuple(islice((one for one in found if one and is_kept(one, day)), max(0, most)))

    def all(self, agent: Learner | None = None) -> tuple[Lesson, ...]:
        """The oldest first, those that are no longer kept among them."""
        rows = self._db.rows(f"{LESSONS} where ? in (agent, '') group by number order by number", (agent or "",))
        return tuple(_lesson(row) for row in rows if row["agent"] in LEARNERS)

    def _lesson(self, number: int) -> Lesson | None:
        row = self._db.row(f"{LESSONS} where number = ? group by number", (number,))
        return _lesson(row) if row else None

    def _scores(self, situation: Situation) -> dict[int, float]:
        """Number -> how well it fits by words, the smaller the better."""
        said = telling(f"{situation.signature}\n{situation.text}", MOST_WORDS)
        scores = self._search(said)
        for number, score in self._search(kindred(said)[:MOST_WORDS]).items():
            scores[number] = scores.get(number, 0.0) + LESS * score
        return scores

    def _search(self, words: Sequence[str]) -> dict[int, float]:
        if not (words and self._indexed):
            return {}
        match = " OR ".join(f'"{word}"' for word in words)  # letters and digits only: none is an operator
        sql = f"select rowid, bm25(lesson_words, {WEIGHTS}) score from lesson_words where lesson_words match ?"  # noqa: S608
        return {row["rowid"]: row["score"] for row in self._db.rows(sql, (match,))}

    # -- forgetting -------------------------------------------------------------------------------------------

    def forget(self, number: int) -> bool:
        """The owner's word: it is not learned again. False: there is none of this number."""
        with self._db.transaction() as db:
            row = db.execute("select agent, signature, text from lessons where number = ?", (number,)).fetchone()
            if row:
                db.execute("insert or ignore into lessons_forgotten values (?)", (_digest(*row),))
                db.execute("delete from lessons where number = ?", (number,))
        fault_point("lesson.forgotten")
        return row is not None

    def prune(self, day: str) -> int:
        """Deletes what is expired, what does not help, and what is too much -> how many."""
        with self._db.transaction() as db:
            rows = db.execute(f"{LESSONS} group by number").fetchall()
            theirs = ([_lesson(row) for row in rows if row["agent"] == agent] for agent in LEARNERS)
            gone = [lesson.number for lessons in theirs for lesson in fading(lessons, day)]
            db.executemany("delete from lessons where number = ?", [(number,) for number in gone])
        fault_point("lesson.pruned")
        return len(gone)

    # -- the index --------------------------------------------------------------------------------------------

    def _keep_index(self) -> None:
        """Its triggers are there exactly if this SQLite can run them: without them nothing else could be written."""
        row = self._db.row("select 1 from sqlite_master where type = 'trigger' and name = 'lesson_words_in'")
        if (row is not None) == self._indexed:
            return
        with self._db.transaction() as db:
            for statement in (*NO_INDEX, *(INDEX if self._indexed else ())):
                db.execute(statement)
        fault_point("lesson.indexed")


def as_markdown(agent: Learner, lessons: Iterable[Lesson]) -> str:
    """memory/<agent>.md: for reading. Pure; the words of a lesson are quoted and harmless."""
    parts = [f"# {heading(agent).capitalize()}", "Generated. To delete one: `python main.py memory --forget NUMBER`."]
    parts += [_section(lesson) for lesson in lessons if lesson.agent == agent]
    return "\n\n".join(parts if len(parts) > 2 else [*parts, "Nothing yet."]) + "\n"


def _section(lesson: Lesson) -> str:
    facts = [("after", lesson.signature), ("words", ", ".join(lesson.keywords)), ("files", ", ".join(lesson.files))]
    told = [f"- {name}: {_harmless(value)}" for name, value in facts if value]
    origin = f" in {_harmless(lesson.origin)}" if lesson.origin else ""
    return "\n".join(
        (
            f"## {lesson.number}",
            "",
            f"> {_harmless(lesson.text)}",
            "",
            *told,
            f"- learned {lesson.learned}{origin}, kept until {lesson.expires}",
            f"- used {lesson.used} -> passed {lesson.passed}",
        )
    )


def _harmless(text: str) -> str:
    return defuse(" ".join(text.split()))


def _rank(row: sqlite3.Row, situation: Situation, scores: Mapping[int, float]) -> tuple[int, float] | None:
    """(what they have in common, how much), the smaller the better; None: nothing."""
    score = scores.get(row["number"], 0.0)
    if situation.signature and row["signature"] == situation.signature:
        return 0, score
    if score:
        return 1, score
    shared = len({*row["files"].splitlines()} & {*situation.files})
    return (2, -float(shared)) if shared else None


def _digest(agent: str, signature: str, text: str) -> str:
    return hashlib.sha256("\0".join((agent, signature, text)).encode()).hexdigest()


def _lesson(row: sqlite3.Row) -> Lesson:
    words, files = row["keywords"].splitlines(), row["files"].splitlines()
    return row_to(Lesson, row, keywords=words, files=files, passed=row["went_well"], theirs=bool(row["theirs"]))
