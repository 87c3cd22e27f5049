"""Door to what the gates found. The only module that remembers evidence, reviews, and what the owner said of them.

Everything is kept by commit or by the digest of a change: nothing that was found about one is believed of another.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import ValidationError

from sisimpur.shared.model.text import shortened
from sisimpur.shared.store.database import Database, Form, row_to
from sisimpur.shared.store.queue_book import QueueRepository
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point

if TYPE_CHECKING:  # who asks only what waits for the owner loads no evidence
    from sisimpur.shared.model.evidence import Evidence, Reviewed, SuiteRun

T = TypeVar("T")

MOST_KEPT = 100  # runs of bases, changes and tools, the ones that were used last
MOST_SHOWN = 300  # characters of a wording

Kind = Literal["check", "review"]
Said = Literal["approve", "reject", "correct"]
Terms = tuple[tuple[str, str], ...]  # what the owner reads beside a change: (of what, its words)


@dataclass(frozen=True)
class Ruling:
    """Ruling: what the owner said about a change, and when. `terms`: as in AwaitingOwner."""

    kind: Said
    subject: str
    why: str
    at: datetime
    terms: Terms = ()


@dataclass(frozen=True)
class RuledOver:
    """A finding that the owner has settled by a word: for its line, under its rule, in later commits, too."""

    signature: str
    finding: str  # its rule and place
    why: str
    at: datetime


@dataclass(frozen=True)
class AwaitingOwner:
    """A change that waits for the owner; the reasons are his to judge."""

    task: str
    subject: str
    reasons: tuple[str, ...]
    at: datetime | None = None  # since when
    terms: Terms = ()  # goal, task and guards as they were worded when the owner was asked; empty: nobody kept them


def reworded(before: Terms, now: Terms) -> tuple[str, ...]:
    """What is worded otherwise than it was, a line for each with both wordings; what one of both lacks is not."""
    old, new = dict(before), dict(now)
    return tuple(
        f"when you approved it, {of} said {_quoted(old[of])}; now {_quoted(new[of])}: approve it again, or reject it"
        for of in old
        if of in new and old[of] != new[of]
    )


def _quoted(words: str) -> str:
    return f'"{shortened(words, MOST_SHOWN)}"' if words else "nothing"


class GateRepository:
    """`places`: of approved changes that wait to be merged."""

    def __init__(self, db: Database) -> None:
        self.places = QueueRepository(db)
        self._db = db

    # -- tests and reviews ------------------------------------------------------------------------------------

    def begin(self, kind: Kind, task: str, commit: str, now: datetime) -> None:
        """A review is counted before it begins, since it is paid for; tests when they come to no end (`no_end`).

        What is tested anew waits for nobody.
        """
        with self._db.transaction() as db:
            if kind == "check":
                db.execute("delete from parked where task = ?", (task,))
            db.execute(
                "insert into gate_runs (task, commit_id, kind, begun, at) values (?, ?, ?, ?, ?)"
                " on conflict do update set begun = begun + excluded.begun, at = iif(kind = 'check', excluded.at, at)",
                (task, commit, kind, int(kind == "review"), now.isoformat()),
            )
        fault_point(f"{kind}.booked")

    def not_begun(self, kind: Kind, task: str, commit: str) -> None:
        """Note that it could not begin for a reason that is not its own: no money, no sandbox, no answer."""
        self._db.write(
            "update gate_runs set begun = begun - 1 where task = ? and commit_id = ? and kind = ?", (task, commit, kind)
        )
        fault_point(f"{kind}.not-begun")

    def no_end(self, task: str, commit: str) -> None:
        """Note that the tests themselves came to no end. A kill of ours is none of theirs, and counts for nobody."""
        self._db.write(
            "update gate_runs set begun = begun + 1 where task = ? and commit_id = ? and kind = 'check'", (task, commit)
        )
        fault_point("check.no-end")

    def test_again(self, task: str) -> None:
        """Forget what the tests of the task's newest change said; the review of it stays."""
        with self._db.transaction() as db:
            db.execute("delete from parked where task = ?", (task,))
            db.execute(
                "update gate_runs set begun = 0, answer_json = null where rowid = (select rowid from gate_runs"
                " where task = ? and kind = 'check' order by at desc, rowid desc limit 1)",
                (task,),
            )
        fault_point("check.again")

    def begun(self, kind: Kind, task: str, commit: str) -> int:
        row = self._run(kind, task, commit)
        return row["begun"] if row else 0

    def begun_at(self, kind: Kind, task: str, commit: str) -> datetime | None:
        row = self._run(kind, task, commit)
        return datetime.fromisoformat(row["at"]) if row else None

    def keep_evidence(self, task: str, evidence: Evidence) -> None:
        self._keep("check", task, evidence.commit, _evidence_form().dump_json(evidence))

    def evidence(self, task: str, commit: str) -> Evidence | None:
        return self._find(_evidence_form(), "check", task, commit)

    def keep_review(self, task: str, reviewed: Reviewed) -> None:
        self._keep("review", task, reviewed.commit, reviewed_form().dump_json(reviewed))

    def reviewed(self, task: str, commit: str) -> Reviewed | None:
        return self._find(reviewed_form(), "review", task, commit)

    def said_of(self, task: str, commit: str) -> tuple[Evidence | None, Reviewed | None]:
        """Return what the tests and the review said of this commit, by one look."""
        rows = self._db.rows("select * from gate_runs where task = ? and commit_id = ?", (task, commit))
        told = {row["kind"]: row["answer_json"] for row in rows}
        check, review = told.get("check"), told.get("review")
        return _read(_evidence_form(), check) if check else None, _read(reviewed_form(), review) if review else None

    def reviews(self, task: str) -> tuple[Reviewed, ...]:
        """The oldest first."""
        rows = self._db.rows(
            "select answer_json from gate_runs where task = ? and kind = 'review' and answer_json is not null"
            " order by rowid",
            (task,),
        )
        return tuple(found for row in rows if (found := _read(reviewed_form(), row["answer_json"])))

    def newest(self, task: str) -> tuple[Evidence | None, Reviewed | None]:
        """Return what was said last about the task, whichever commit that was."""
        sql = (
            "select answer_json from gate_runs where task = ? and kind = ? and answer_json is not null"
            " order by rowid desc limit 1"
        )
        check, review = self._db.row(sql, (task, "check")), self._db.row(sql, (task, "review"))
        return (
            _read(_evidence_form(), check["answer_json"]) if check else None,
            _read(reviewed_form(), review["answer_json"]) if review else None,
        )

    def _keep(self, kind: Kind, task: str, commit: str, answer: bytes) -> None:
        self._db.write(
            "update gate_runs set answer_json = ? where task = ? and commit_id = ? and kind = ?",
            (answer.decode(), task, commit, kind),
        )
        fault_point(f"{kind}.kept")

    def _find(self, form: Form[T], kind: Kind, task: str, commit: str) -> T | None:
        row = self._run(kind, task, commit)
        return _read(form, row["answer_json"]) if row and row["answer_json"] else None

    def _run(self, kind: Kind, task: str, commit: str) -> sqlite3.Row | None:
        """Both kinds are read at once: who asks for one asks for the other next."""
        rows = self._db.rows("select * from gate_runs where task = ? and commit_id = ?", (task, commit))
        return next((row for row in rows if row["kind"] == kind), None)

    # -- runs of a base ---------------------------------------------------------------------------------------

    def base_run(self, key: str) -> SuiteRun | None:
        row = self._db.row("select run_json from suite_runs where key = ?", (key,))
        return _read(_run_form(), row["run_json"]) if row else None

    def keep_base_run(self, key: str, run: SuiteRun, now: datetime | None) -> None:
        """`now` None: of a change, or of a tool; nobody is told that the target's own tests said so.

        Older ones are made again when they are needed: the table does not grow with the years.
        """
        with self._db.transaction() as db:
            db.execute(
                "insert or replace into suite_runs values (?, ?, ?)",
                (key, _run_form().dump_json(run).decode(), now.isoformat() if now else ""),
            )
            db.execute("delete from suite_runs where rowid <= (select max(rowid) from suite_runs) - ?", (MOST_KEPT,))
        fault_point("base-run.kept")

    def newest_base(self) -> SuiteRun | None:
        """Return the newest run of any base."""
        row = self._db.row("select run_json from suite_runs where at <> '' order by at desc limit 1")
        return _read(_run_form(), row["run_json"]) if row else None

    # -- what the coder answers instead of a change -----------------------------------------------------------

    def keep_coder_words(self, task: str, commit: str, words: str, now: datetime) -> None:
        """`commit`: whose findings it contradicts; empty: the task cannot be done as it is described."""
        self._db.write(
            "insert or replace into coder_words (task, commit_id, words, at) values (?, ?, ?, ?)",
            (task, commit, words, now.isoformat()),
        )
        fault_point("coder-words.kept")

    def coder_said(self, task: str, commit: str = "") -> str:
        """Return its words about the findings of exactly this commit, or about the task itself; empty: none."""
        sql = "select words from coder_words where task = ? and commit_id = ?"
        row = self._db.row(sql, (task, commit))
        return row["words"] if row else ""

    # -- the owner's queue ------------------------------------------------------------------------------------

    def park(self, parked: AwaitingOwner, now: datetime) -> None:
        """Waits from now on; said again with other reasons, these count."""
        self._db.write(
            "insert into parked values (?, ?, ?, ?, ?)"
            " on conflict do update set reasons = excluded.reasons, terms = excluded.terms",
            (parked.task, parked.subject, "\n".join(parked.reasons), now.isoformat(), json.dumps(parked.terms)),
        )
        fault_point("parked.kept")

    def parked(self, task: str) -> AwaitingOwner | None:
        """Return what was parked last of a task."""
        row = self._db.row("select * from parked where task = ? order by at desc, rowid desc limit 1", (task,))
        return _parked(row) if row else None

    def parked_since(self, day: str) -> dict[str, AwaitingOwner]:
        """Return what was parked last of each task of which anything was, from that day on."""
        rows = self._db.rows("select * from parked where at >= ? order by at, rowid", (day,))
        return {row["task"]: _parked(row) for row in rows}

    def read_since(self, day: str) -> frozenset[str]:
        """Return the reasons that the owner was asked for since that day, in all that he has approved since."""
        asked = self.parked_since(day).values()
        return frozenset(reason for parked in asked if self.is_approved(parked) for reason in parked.reasons)

    def rule(self, task: str, ruling: Ruling) -> None:
        """Nothing is kept of a task that history has not seen yet: nobody has worked on it."""
        self._db.write(
            "insert into rulings (task, subject, kind, why, at, terms)"
            " select id, ?, ?, ?, ?, ? from tasks where id = ?",
            (ruling.subject, ruling.kind, ruling.why, ruling.at.isoformat(), json.dumps(ruling.terms), task),
        )
        fault_point("ruling.kept")

    def withdraw(self, task: str) -> None:
        """The owner has moved the task since he approved something of it: that is over."""
        self._db.write("update rulings set subject = '' where task = ? and kind = 'approve'", (task,))
        fault_point("ruling.withdrawn")

    def rulings(self, task: str) -> Sequence[Ruling]:
        """The oldest first."""
        rows = self._db.rows("select * from rulings where task = ? order by id", (task,))
        return [row_to(Ruling, row, terms=_terms(row)) for row in rows]

    def rule_over(self, task: str, ruled: RuledOver) -> None:
        self._db.write(
            "insert or replace into findings_over values (?, ?, ?, ?, ?)",
            (task, ruled.signature, ruled.finding, ruled.why, ruled.at.isoformat()),
        )
        fault_point("ruling.over")

    def ruled_over(self, task: str) -> Sequence[RuledOver]:
        """The oldest first."""
        rows = self._db.rows("select * from findings_over where task = ? order by at, signature", (task,))
        return [row_to(RuledOver, row) for row in rows]

    def approval(self, task: str, subject: str) -> Ruling | None:
        """The owner's last word on exactly this change, if it allows it."""
        said = [ruling for ruling in self.rulings(task) if ruling.subject == subject]
        return said[-1] if said and said[-1].kind == "approve" else None

    def is_approved(self, parked: AwaitingOwner) -> bool:
        """Tell whether what waits is approved, in the words in which the owner was asked."""
        said = self.approval(parked.task, parked.subject)
        return said is not None and not reworded(said.terms, parked.terms)


def _evidence_form() -> Form[Evidence]:
    from sisimpur.shared.model.evidence import Evidence

    return Form(Evidence)


def reviewed_form() -> Form[Reviewed]:
    from sisimpur.shared.model.evidence import Reviewed

    return Form(Reviewed)


def _run_form() -> Form[SuiteRun]:
    from sisimpur.shared.model.evidence import SuiteRun

    return Form(SuiteRun)


def _parked(row: sqlite3.Row) -> AwaitingOwner:
    return row_to(AwaitingOwner, row, reasons=row["reasons"].split("\n"), terms=_terms(row))


def _terms(row: sqlite3.Row) -> list[list[str]]:
    found: list[list[str]] = json.loads(row["terms"] or "[]")
    return found


def _read(form: Form[T], text: str) -> T | None:
    """None: another version of this program wrote it, or somebody else did; it is found out anew."""
    try:
        return form.validate_json(text)
    except ValidationError:
        return None


class BaseRuns:
    """The runs of base commits, and what may become one, for whoever knows no clock."""

    def __init__(self, book: GateRepository, clock: Clock) -> None:
        self._book = book
        self._clock = clock

    def base_run(self, key: str) -> SuiteRun | None:
        return self._book.base_run(key)

    def keep_base_run(self, key: str, run: SuiteRun) -> None:
        self._book.keep_base_run(key, run, self._clock.now())

    def keep_run(self, key: str, run: SuiteRun) -> None:
        self._book.keep_base_run(key, run, None)


class OwnerIds:
    """Numbers of the owners' accounts, as they were first seen. `tell`: that somebody else has a login by now, once."""

    def __init__(self, db: Database, now: Callable[[], datetime], tell: Callable[[str], None]) -> None:
        self._db = db
        self._now = now
        self._tell = tell
        self._told: set[tuple[str, int]] = set()

    def first(self, login: str, number: int) -> int:
        """The number that a login was first seen with, perhaps now; 0: with none yet."""
        row = self._db.row("select number from owner_ids where login = ?", (login,))
        if row is None and number:
            values = (login, number, self._now().isoformat())
            self._db.write("insert or ignore into owner_ids values (?, ?, ?)", values)
            fault_point("owner.known")
            return number
        first = row["number"] if row else 0
        if number and first != number and (login, number) not in self._told:
            self._told.add((login, number))
            again = f"if it is yours, write `{login}#{number}` below `inbox.owners`"
            self._tell(f"{login} at the forge is another account than before: its words count for nothing; {again}")
        return first
