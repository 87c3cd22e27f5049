"""What changed, told while it happens: rows of the audit by their number, and files that somebody moved.

News say what to read again, never what it says. A line asks for what it has not told yet, so that nothing queues up for
a page that reads slowly; one that does not read at all is cut. A socket and server-sent events carry the same: a page
takes the first, since a browser has hundreds of them; a script the other, since it is a GET.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
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
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import BoardKeys, Listed, nobody
from sisimpur.web.api.base.socket_guard import GONE, LATER, NO_SENSE, SIGN_IN_AGAIN

LOOKS_EACH, BEATS_EACH = 0.5, 9.0  # seconds; with a beat a key is looked at, and one that ended ends its line within 10
SLOWEST = 10.0
COMES_AGAIN = 2_000  # milliseconds after which a reader of events does
MOST_LINES, MOST_OF_ONE = 32, 8  # at once, and of one who is signed in
MOST_OF_GUESTS = MOST_LINES // 2  # of all who are no owners: with passkeys one viewer may have many sessions
MOST_MISSED = 500  # rows; whoever missed more reads all again
OPEN = (
    State.BACKLOG,
    State.IN_PROGRESS,
    State.IN_REVIEW,
)  # their files are looked at too: an editor that writes in place leaves the folder's time alone
Marks = Mapping[str, tuple[int, ...]]
News = dict[str, object]  # seq; event, if it is a beat or a resync; else topic and ids
Carry = Callable[[list[News]], Awaitable[None]]


def told(seq: int, event: str = "", **more: object) -> News:
    """Put it together. `seq`: whoever heard this has heard all up to that row."""
    return {"event": event, "seq": seq, **more} if event else {"seq": seq, **more}


def as_event(news: News) -> str:
    """Return it as a server-sent event."""
    data = {name: value for name, value in news.items() if name != "event"}
    kind = f"event: {news['event']}\nretry: {COMES_AGAIN}\n" if "event" in news else ""
    return f"id: {news['seq']}\n{kind}data: {json.dumps(data, ensure_ascii=False)}\n\n"


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
    most: int = MOST_LINES
    most_of_one: int = MOST_OF_ONE
    _lines: Counter[str] = field(default_factory=Counter)  # by the digest of the key
    _guests: int = 0  # of them
    _open: ExitStack = field(default_factory=ExitStack)
    _records: Records | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def join(self, key: str, heard: int | None) -> NewsTeller:
        """`heard`: the number of the last news, if any. What is told begins there, or now."""
        with self._lock:
            if self._lines.total() >= self.most or self._lines[sha256_of(key)] >= self.most_of_one:
                raise HTTPException(429, "too many pages listen; close one")
            records = self._records or self._open.enter_context(self.home.open())
            self._records = records
            role = BoardKeys(records.db, self.home.listed).role(key, records.clock.now())
            if (is_guest := role is not Role.OWNER) and self._guests >= MOST_OF_GUESTS:
                raise HTTPException(429, "too many pages of reviewers and viewers listen; close one")
            newest = records.audit.newest()
            self._lines[sha256_of(key)] += 1
            self._guests += is_guest
            return NewsTeller(records, key, newest if heard is None else heard, self.home.listed, is_guest)

    def leave(self, teller: NewsTeller) -> None:
        with self._lock:
            self._lines[sha256_of(teller.key)] -= 1
            self._guests -= teller.is_guest
            self._lines += Counter()  # forgets whom it counts no more
            if not self._lines:
                self._open.close()
                self._records = None

    @asynccontextmanager
    async def joined(self, key: str, heard: int | None) -> AsyncIterator[NewsTeller]:
        teller = await asyncio.to_thread(self.join, key, heard)
        try:
            yield teller
        finally:
            self.leave(teller)

    async def tell(self, teller: NewsTeller, carry: Carry, gone: Awaitable[int]) -> int:
        """Tell one line its news until it is gone, or not signed in any more, or does not take them: return which."""
        ways = [asyncio.ensure_future(way) for way in (self._tell(teller, carry), gone)]
        try:
            done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            return next(iter(done)).result()
        finally:
            for way in ways:
                way.cancel()
            await asyncio.wait(ways)

    async def _tell(self, teller: NewsTeller, carry: Carry) -> int:
        news: list[News] | None = await asyncio.to_thread(teller.begin)
        while news is not None:
            try:
                if news:
                    async with asyncio.timeout(self.slowest):  # `wait_for` of 3.11 may swallow that its line is gone
                        await carry(news)
            except TimeoutError:
                return LATER
            await asyncio.sleep(LOOKS_EACH)
            try:
                news = await asyncio.to_thread(teller.look)
            except TeamError:  # the books are busy, or cannot be read now
                news = []
        return SIGN_IN_AGAIN


@dataclass
class NewsTeller:
    """What one line has told, and what it has to tell now."""

    records: Records
    key: str
    seq: int  # of the last row that was told
    listed: Listed = nobody
    is_guest: bool = False
    _folders: Marks = field(default_factory=dict)
    _files: Marks = field(default_factory=dict)
    _runs: Sequence[tuple[int, bool]] = ()
    _beat: float = 0.0

    def begin(self) -> list[News]:
        self._folders, self._files = folder_marks(self.records.home), file_marks(self.records.home)
        self._runs = self.records.activity.newest_runs()
        return self._beats()

    def look(self) -> list[News] | None:
        """None: they are not signed in any more."""
        is_due = monotonic() - self._beat >= BEATS_EACH
        keys = BoardKeys(self.records.db, self.listed)
        if is_due and keys.role(self.key, self.records.clock.now()) is None:
            return None
        news, beats = self._rows(), []
        folders = folder_marks(self.records.home)
        changed, self._folders = moved(self._folders, folders), folders
        if is_due:
            files = file_marks(self.records.home)
            changed, self._files = changed or moved(self._files, files), files
            beats = self._beats()
        before, self._runs = self._runs, self.records.activity.newest_runs()
        news += [told(self.seq, topic="files", ids=changed)] if changed else []
        news += [told(self.seq, topic="work", ids=[])] if before != self._runs else []
        return [*news, *beats]

    def _beats(self) -> list[News]:
        self._beat = monotonic()
        return [told(self.seq, "beat", at=self.records.clock.now().isoformat(timespec="seconds"))]

    def _rows(self) -> list[News]:
        newest = self.records.audit.newest()
        if newest == self.seq:
            return []
        if not 0 < newest - self.seq <= MOST_MISSED:  # too many, or these books are not those that it knew
            self.seq = newest
            return [told(newest, "resync")]
        rows = self.records.audit.subjects(after=self.seq)
        self.seq = rows[-1][0]
        return [told(seq, topic=kind, ids=[subject]) for seq, kind, subject in rows]


class NewsLine(Response):
    """The answer that does not end before the page goes, is not signed in any more, or does not read."""

    media_type = "text/event-stream"

    def __init__(self, desk: NewsDesk, key: str, heard: int | None) -> None:
        super().__init__(headers={"x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._desk, self._key, self._heard = desk, key, heard

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        async def write(text: str, more: bool = True) -> None:
            body = text.encode("utf-8", "replace")
            await send({"type": "http.response.body", "body": body, "more_body": more})

        async with self._desk.joined(self._key, self._heard) as teller:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            code = await self._desk.tell(teller, lambda news: write("".join(map(as_event, news))), _gone(receive))
        if code != LATER:
            await write("", more=False)


async def _gone(receive: Receive) -> int:
    while (await receive())["type"] != "http.disconnect":
        pass
    return GONE


async def news_socket(desk: NewsDesk, key: str, heard: int | None, receive: Receive, send: Send) -> int:
    """The same by a socket that is open already: each news a message. Return the code that ends it; 0: it is gone."""

    async def write(news: list[News]) -> None:
        for one in news:
            await send({"type": "websocket.send", "text": json.dumps(one)})

    async def gone() -> int:
        return GONE if (await receive())["type"] == "websocket.disconnect" else NO_SENSE

    try:
        async with desk.joined(key, heard) as teller:
            return await desk.tell(teller, write, gone())
    except (HTTPException, TeamError):  # too many listen, or the books cannot be read now
        return LATER
