"""What was said in the calls of models: a pack of each in the file of its day, and a table of where it lies.

Written when the caller has his answer. Keys are taken out first; what does not fit is left out, and that is said. A
record that is missing or spoilt costs a look back: no call stops for it.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from errno import ENOSPC
from pathlib import Path
from typing import Any

from sisimpur.shared.model.errors import Refused, TeamError
from sisimpur.shared.model.text import counted
from sisimpur.shared.store.database import Database
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.keeping import old_talk

LONGEST = 1_000_000  # characters of a request, and of an answer
LARGEST = 40_000_000  # bytes of a record as JSON: each character may need several
ITEM = 8  # characters that a value takes besides its text
VERSION = 1
HEAD = struct.Struct(">4sBQI")  # a mark, the version, the number of the call, the size of what follows
MARK = b"TALK"
SPOILT = "its record cannot be read"
OF_TASK = """
    select c.id as number, c.at, c.day, c.agent, c.attempt, c.model, c.retry, c.state, c.code, c.note, c.stop_reason,
        c.input + c.write_5m + c.write_1h + c.read as tokens_in, c.output as tokens_out, c.amount, c.ms,
        k.day as file, k.begin, k.size
    from calls c left join conversations k on k.call = c.id
    where c.id > ?2 and c.id in (select id from calls where task = ?1 and state <> 'refused'
        union all select id from calls where task = ?1 and state = 'refused')
    order by c.id"""


@dataclass(frozen=True)
class Conversation:
    """What was said in one call. `request`: as it was sent, or in one text if it was no call; `left_out`: characters.

    `answer`: its blocks; of one that came to no end, the text so far.
    """

    request: Any
    answer: Any = ()
    left_out: int = 0


@dataclass(frozen=True)
class RecordedCall:
    """A call as the money book has it, and what was said in it; None: `trouble` says why it is not known."""

    row: Mapping[str, Any]
    said: Conversation | None
    trouble: str = ""


# --- one pack ------------------------------------------------------------------------------------------------


def fitted(request: Any, answer: Any, clean: Callable[[str], str]) -> Conversation:
    """Take out what may not be kept, and what is too much."""
    asked, answered = _Fitting(clean), _Fitting(clean)
    request = request.decode("utf-8", "replace") if isinstance(request, bytes) else request
    return Conversation(asked.of(request), answered.of(answer), asked.left_out + answered.left_out)


class _Fitting:
    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._left = LONGEST
        self.left_out = 0

    def of(self, value: Any) -> Any:
        self._left -= ITEM
        if isinstance(value, str):
            kept = value[: max(self._left, 0)]
            self._left -= len(kept)
            self.left_out += len(value) - len(kept)
            return self._clean(kept)
        if isinstance(value, Mapping):
            return {self.of(name): self.of(one) for name, one in self._while_it_fits(value.items())}
        if isinstance(value, Sequence):
            return [self.of(one) for one in self._while_it_fits(value)]
        self._left -= len(text := str(value))
        return value if len(text) < ITEM or self._clean(text) == text else self._clean(text)

    def _while_it_fits(self, values: Iterable[Any]) -> Iterator[Any]:
        for one in values:
            if self._left > 0:
                yield one
            else:
                self.left_out += len(json.dumps(one))


def pack(call: int, said: Conversation) -> bytes:
    data = zlib.compress(json.dumps([said.request, said.answer, said.left_out]).encode(), 1)
    return HEAD.pack(MARK, VERSION, call, len(data)) + data


def unpack(call: int, data: bytes) -> Conversation:
    """Refused, in one line, if it is not the whole pack of this call."""
    try:
        mark, version, number, size = HEAD.unpack_from(data)
        if (mark, number) != (MARK, call):
            raise Refused(SPOILT)
        if version != VERSION:
            raise Refused(f"its record was written by a program with records of version {version}; this one reads 1")
        if len(data) != HEAD.size + size:
            raise Refused(SPOILT)
        packed = zlib.decompressobj()
        text = packed.decompress(data[HEAD.size :], LARGEST)
        if not packed.eof:
            raise Refused(SPOILT)
        return Conversation(*json.loads(text))
    except (struct.error, zlib.error, ValueError, TypeError, RecursionError):
        raise Refused(SPOILT) from None


# --- all of them ---------------------------------------------------------------------------------------------


class Conversations:
    """`clean` removes secrets from a text. `tell` gets a line when a record cannot be written, once."""

    def __init__(
        self, folder: Path, db: Database, clean: Callable[[str], str] = str, tell: Callable[[str], object] = str
    ) -> None:
        self._folder = folder
        self._db = db
        self._clean = clean
        self._tell = tell
        self._is_told = False

    def keep(self, call: int, request: Any, answer: Any) -> None:
        """Record a call that has its row. What cannot be written is left out."""
        try:
            self._keep(call, request, answer)
            self._is_told = False
        except (OSError, TeamError, RecursionError) as problem:
            if not self._is_told:
                why = getattr(problem, "strerror", "") or problem
                self._tell(f"what is said to models is not recorded, and the work goes on: {why}")
            self._is_told = True

    def of(self, task: str, after: int = 0) -> Iterator[RecordedCall]:
        """The calls for a task in their order, also those that came to nothing. `after`: only later ones."""
        for row in map(dict, self._db.rows(OF_TASK, (task, after))):
            file, begin, size = (row.pop(name) for name in ("file", "begin", "size"))
            try:
                yield RecordedCall(row, self._read(row["number"], file, begin, size))
            except Refused as problem:
                yield RecordedCall(row, None, str(problem))

    def unrecorded(self) -> tuple[int, str]:
        """How many of the newest calls have no record, and since when; of a home that never had one: none."""
        row = self._db.row(
            "select count(*) number, min(at) since from calls where id > (select max(call) from conversations)"
            " and state in ('settled', 'lost') and model not like 'search/%'"
        )
        return (row["number"], row["since"] or "") if row else (0, "")

    def drop_old(self, today: date, days: int, megabytes: int) -> Iterator[str]:
        """Throw away the oldest days; their rows first, so that none is left without a file for ever."""
        sizes = {path.stem: path.stat().st_size for path in self._folder.glob("*.talk")}
        gone = old_talk(sizes, today, days, megabytes * 1_000_000)
        for day in gone:
            self._db.write("delete from conversations where day = ?", (day,))
            fault_point("tidy.talk-rows")
            self._file(day).unlink(missing_ok=True)
            fault_point("tidy.talk-removed")
        if gone:
            yield f".state/talk: what was said on {counted(len(gone), 'day')} thrown away, up to {gone[-1]}"

    def _keep(self, call: int, request: Any, answer: Any) -> None:
        row = self._db.row("select day from calls where id = ?", (call,))
        if row is None:  # one refusal too many of a ticket has no row
            return
        data = pack(call, fitted(request, answer, self._clean))
        self._folder.mkdir(mode=0o700, exist_ok=True)
        begin = _append(self._file(row["day"]), data)
        fault_point("talk.written")
        self._db.write("insert into conversations values (?, ?, ?, ?)", (call, row["day"], begin, len(data)))
        fault_point("talk.indexed")

    def _read(self, call: int, day: str | None, begin: int, size: int) -> Conversation:
        if day is None:
            raise Refused("there is no record of it, or none any more")
        try:
            with self._file(day).open("rb") as file:
                file.seek(begin)
                return unpack(call, file.read(size))
        except OSError as error:
            raise Refused(f"{SPOILT} ({error.strerror})") from None

    def _file(self, day: str) -> Path:
        return self._folder / f"{day}.talk"


def _append(path: Path, data: bytes) -> int:
    """Append -> where it begins. OSError if the disk takes only a part of it; none is left then."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        begin = os.fstat(descriptor).st_size
        if os.write(descriptor, data) < len(data):
            os.ftruncate(descriptor, begin)
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        return begin
    finally:
        os.close(descriptor)
