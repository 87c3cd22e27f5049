"""What changed, told while it happens: rows of the audit by their number, and files that somebody moved.

News say what to read again, never what it says. A line asks for what it has not told yet, so that nothing queues up for
a page that reads slowly; one that does not read at all is cut.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.lifecycle import FOLDERS, State
from sisimpur.shared.model.text import sha256_of
from sisimpur.shared.system.paths import Home
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.sign_in import BoardKeys, Listed, nobody

LOOKS_EACH, BEATS_EACH = 0.5, 10.0  # seconds
SLOWEST = 10.0
MOST_LINES, MOST_OF_ONE = 32, 8  # at once, and of one who is signed in
MOST_MISSED = 500  # rows; whoever missed more reads all again
OPEN = (
    State.BACKLOG,
    State.IN_PROGRESS,
    State.IN_REVIEW,
)  # their files are looked at too: an editor that writes in place leaves the folder's time alone
Marks = Mapping[str, tuple[int, ...]]


def told(event: str, seq: int, number: bool = True, **more: object) -> str:
    """Return it as a server-sent event. `number`: whoever heard it need not hear it again."""
    head = f"id: {seq}\n" if number else ""
    kind = f"event: {event}\n" if event else ""
    return f"{head}{kind}data: {json.dumps({'seq': seq, **more}, ensure_ascii=False)}\n\n"


def moved(before: Marks, now: Marks) -> list[str]:
    """Name the folders and files that are not as they were."""
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def folder_marks(home: Home) -> Marks:
    """When something came to, or went from, a folder of tasks, and when the vision was written."""
    places = {state.value: home.tasks(state) for state in FOLDERS} | {"vision": home.vision, "roadmap": home.roadmap}
    return {name: _mark(path) for name, path in places.items()}


def file_marks(home: Home) -> Marks:
    """How the files of open tasks lie there."""
    return {state.value: tuple(_in_folder(home.tasks(state))) for state in OPEN}


def _mark(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat(follow_symlinks=False)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_ino


def _in_folder(folder: Path) -> Iterator[int]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        yield from _mark(folder / name)


@dataclass
class NewsDesk:
    """Who listens. The books are open as long as somebody does. `slowest`: seconds in which a page takes its news."""

    home: BoardHome
    slowest: float = SLOWEST
    _lines: Counter[str] = field(default_factory=Counter)  # by the digest of the key
    _open: ExitStack = field(default_factory=ExitStack)
    _records: Records | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def join(self, key: str, heard: int | None) -> NewsTeller:
        """`heard`: the number of the last news, if any. What is told begins there, or now."""
        with self._lock:
            if self._lines.total() >= MOST_LINES or self._lines[sha256_of(key)] >= MOST_OF_ONE:
                raise HTTPException(429, "too many pages listen; close one")
            if self._records is None:
                self._records = self._open.enter_context(self.home.open())
            newest = self._records.audit.newest()
            self._lines[sha256_of(key)] += 1
            return NewsTeller(self._records, key, newest if heard is None else heard, self.home.listed)

    def leave(self, key: str) -> None:
        with self._lock:
            self._lines[sha256_of(key)] -= 1
            self._lines += Counter()  # forgets whom it counts no more
            if not self._lines:
                self._open.close()
                self._records = None


@dataclass
class NewsTeller:
    """What one line has told, and what it has to tell now."""

    records: Records
    key: str
    seq: int  # of the last row that was told
    listed: Listed = nobody
    _folders: Marks = field(default_factory=dict)
    _files: Marks = field(default_factory=dict)
    _beat: float = 0.0

    def begin(self) -> str:
        self._folders, self._files = folder_marks(self.records.home), file_marks(self.records.home)
        return "retry: 2000\n\n" + self._beats()

    def look(self) -> str | None:
        """None: they are not signed in any more."""
        is_due = monotonic() - self._beat >= BEATS_EACH
        keys = BoardKeys(self.records.db, self.listed)
        if is_due and not keys.is_signed_in(self.key, self.records.clock.now()):
            return None
        text = self._rows()
        folders = folder_marks(self.records.home)
        changed, self._folders = moved(self._folders, folders), folders
        if is_due:
            files = file_marks(self.records.home)
            changed, self._files = changed or moved(self._files, files), files
            text += self._beats()
        if changed:
            text = told("", self.seq, number=False, topic="files", ids=changed) + text
        return text

    def _beats(self) -> str:
        self._beat = monotonic()
        return told("beat", self.seq, at=self.records.clock.now().isoformat(timespec="seconds"))

    def _rows(self) -> str:
        newest = self.records.audit.newest()
        if newest == self.seq:
            return ""
        if not 0 < newest - self.seq <= MOST_MISSED:  # too many, or these books are not those that it knew
            self.seq = newest
            return told("resync", newest)
        rows = list(self.records.audit.rows(after=self.seq))
        self.seq = rows[-1].seq
        return "".join(told("", row.seq, topic=row.kind, ids=[row.subject]) for row in rows)


class NewsLine(Response):
    """The answer that does not end before the page goes, is not signed in any more, or does not read."""

    media_type = "text/event-stream"

    def __init__(self, desk: NewsDesk, key: str, heard: int | None) -> None:
        super().__init__(headers={"x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._desk, self._key, self._heard = desk, key, heard

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        teller = await asyncio.to_thread(self._desk.join, self._key, self._heard)
        try:
            ways = [asyncio.ensure_future(way) for way in (self._tell(teller, send), _gone(receive))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        finally:
            self._desk.leave(self._key)

    async def _tell(self, teller: NewsTeller, send: Send) -> None:
        text: str | None = await asyncio.to_thread(teller.begin)
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        while text is not None:
            if text:
                body = {"type": "http.response.body", "body": text.encode("utf-8", "replace"), "more_body": True}
                await asyncio.wait_for(send(body), self._desk.slowest)
            await asyncio.sleep(LOOKS_EACH)
            try:
                text = await asyncio.to_thread(teller.look)
            except TeamError:  # the books are busy, or cannot be read now
                text = ""
        await send({"type": "http.response.body", "body": b""})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
