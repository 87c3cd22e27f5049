"""The board's line for news: what changed, by number, to all who listen; never what it says. By both carriers."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sisimpur.cli.commands.owner_commands import cancel
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.shared.config.settings_sign_in import ListedPerson
from sisimpur.shared.system.clock import SystemClock
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import BoardKeys
from sisimpur.web.api.reading.board_news import (
    MOST_MISSED,
    MOST_OF_ONE,
    NewsDesk,
    NewsLine,
    NewsTeller,
    file_marks,
    moved,
    told,
)
from sisimpur.web.api.server import board
from tests.journey.board_process import CARRIERS, BoardProcess, Listener, key_of, listening, served
from tests.journey.gated import FILES, VISION
from tests.journey.stage import Stage


@dataclass(frozen=True)
class Home:
    stage: Stage
    board: BoardProcess
    key: dict[str, str]

    @property
    def backlog(self) -> Path:
        return self.stage.home.root / "tasks" / "backlog"

    def newest(self) -> int:
        with self.stage.records() as records:
            return records.audit.newest()

    def happens(self, times: int = 1) -> int:
        """Let something be done that the audit keeps. Return the number of its last row."""
        with self.stage.records() as records:
            for number in range(times):
                with records.db.transaction() as db:
                    values = ("task-0", f"{records.audit.newest()}-{number}", "words", "2026-11-20T10:00:00+00:00")
                    db.execute("insert into waivers values (?, ?, ?, ?)", values)
            return records.audit.newest()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    stage = Stage(tmp_path_factory.mktemp("news"), "http://127.0.0.1:1").set_up(VISION, FILES)
    with served(stage.home.root) as board:
        yield Home(stage, board, key_of(board))


def test_another_link_leads_to_the_board_that_runs_unless_a_port_is_typed(home: Home) -> None:
    root = home.stage.home.root
    with redirect_stdout(StringIO()) as out:
        assert board(Arguments("board", root, link=True)) == 0
    said, link = out.getvalue().splitlines()
    assert "at the board that runs" in said and link.startswith(f"{home.board.here}/#code=")
    assert key_of(replace(home.board, link=link))["authorization"] != home.key["authorization"]
    with redirect_stdout(StringIO()) as out:
        assert board(Arguments("board", root, link=True, port=8799)) == 0
    assert out.getvalue().splitlines()[1].startswith("http://127.0.0.1:8799/#code="), "what is typed counts"


def test_what_is_done_is_told_to_all_who_listen_with_its_number_and_ids_and_not_with_its_words(home: Home) -> None:
    one, two = (listening(home.board, home.key, by=by) for by in CARRIERS)
    seq = home.happens()
    for line in (one, two):
        assert line.until(lambda heard: any(news["seq"] == seq for news in heard)) < 2
        (news,) = line.news()
        assert news == {"event": "news", "seq": seq, "topic": "waiver", "ids": ["task-0"]}


@pytest.mark.parametrize("by", CARRIERS)
def test_a_file_moved_by_hand_is_told_within_two_seconds(home: Home, by: type[Listener]) -> None:
    line, before = listening(home.board, home.key, by=by), home.newest()
    (home.backlog / f"{by.__name__}.md").write_text("# Do it\n\nAll of it.\n")
    assert line.until(lambda heard: any(news.get("topic") == "files" for news in heard)) < 2
    (news, *_) = line.news()
    assert news["ids"] == ["backlog"] and news["seq"] == before, "files have no number of their own"


def test_who_begins_to_work_and_ends_is_told(home: Home) -> None:
    with home.stage.records() as records:
        teller = NewsTeller(records, "", records.audit.newest())
        teller.begin()
        work = told(teller.seq, topic="work", ids=[])
        with records.activity.running("planner", "2026-11-20", records.clock):
            assert teller.look() == [work] and teller.look() == []
        assert teller.look() == [work] and teller.look() == []


@pytest.mark.parametrize("by", CARRIERS)
def test_what_is_ordered_in_a_shell_is_heard_within_a_second(home: Home, by: type[Listener]) -> None:
    task = f"shell-{by.__name__}".lower()
    (home.backlog / f"{task}.md").write_text("# Do it\n\nAll of it.\n")
    line = listening(home.board, home.key, by=by)
    with redirect_stdout(StringIO()):
        assert cancel(Arguments("cancel", home.stage.home.root, id=task)) == 0
    assert line.until(lambda heard: any({task, "failed"} & set(one.get("ids", ())) for one in heard)) < 1


@pytest.mark.parametrize("by", CARRIERS)
def test_whoever_comes_back_hears_what_it_missed_and_nothing_twice(home: Home, by: type[Listener]) -> None:
    before = home.happens()
    last = home.happens(3)
    line = listening(home.board, home.key, last=before, by=by)
    line.until(lambda heard: any(news["seq"] == last for news in heard if news["event"] == "news"))
    home.happens()
    line.until(lambda heard: any(news["seq"] == last + 1 for news in heard))
    assert [news["seq"] for news in line.news()] == list(range(before + 1, last + 2))


@pytest.mark.parametrize("by", CARRIERS)
def test_it_goes_on_after_the_board_was_killed(home: Home, by: type[Listener]) -> None:
    with served(home.stage.home.root) as board:
        line = listening(board, home.key, by=by)
        seq = home.happens()
        line.until(lambda heard: any(news["seq"] == seq for news in heard))
        board.process.kill()
        assert line.is_over.wait(10)
    missed = home.happens(2)
    with served(home.stage.home.root) as board:
        again = listening(board, home.key, last=seq, by=by)
        again.until(lambda heard: any(news["seq"] == missed for news in heard if news["event"] == "news"))
        assert [news["seq"] for news in again.news()] == [seq + 1, missed]


def test_whoever_missed_too_much_or_knows_other_books_is_told_to_read_all_again(home: Home) -> None:
    with home.stage.records() as records:
        newest = records.audit.newest() + MOST_MISSED + 1
        for known in (newest, -1 - MOST_MISSED):  # not there yet; too long ago
            teller = NewsTeller(records, "", known)
            teller.begin()
            assert teller.look() == [told(records.audit.newest(), "resync")]


def test_so_many_lines_and_no_more_and_a_place_is_free_again_when_one_goes(home: Home) -> None:
    with home.stage.records(SystemClock(UTC)) as records:
        keys, now = BoardKeys(records.db), records.clock.now()
        key, other = ({"authorization": f"Bearer {keys.sign_in(keys.link(now), now)}"} for _ in range(2))
    held = [_raw(home.board, key) for _ in range(MOST_OF_ONE)]
    assert [listening(home.board, key, by=by).status for by in CARRIERS] == [429, 1013], "both are counted together"
    assert listening(home.board, other).status == 0, "others have places of their own"
    held.pop().close()
    deadline = time.monotonic() + 10
    while listening(home.board, key).status == 1013:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    for one in held:
        one.close()


def test_a_page_that_does_not_read_is_cut_and_its_place_is_free(home: Home) -> None:
    desk = NewsDesk(BoardHome(home.stage.home.root), slowest=0.1)

    async def stays() -> Any:
        await asyncio.Event().wait()

    async def takes_its_head_only(message: Any) -> None:
        if message["type"] == "http.response.body":
            await stays()

    async def asked() -> None:
        for _ in range(MOST_OF_ONE + 1):
            await asyncio.wait_for(NewsLine(desk, "key", None)({}, stays, takes_its_head_only), 10)

    asyncio.run(asked())


@pytest.mark.parametrize("steps", range(6))
def test_who_goes_while_his_news_are_taken_is_gone(home: Home, steps: int) -> None:
    desk = NewsDesk(BoardHome(home.stage.home.root))

    async def asked() -> int:
        both = asyncio.Event()

        async def carry(_: object) -> None:
            both.set()
            for _ in range(steps):
                await asyncio.sleep(0)

        async def gone() -> int:
            return 0 if await both.wait() else 1

        async with desk.joined("key", None) as teller:
            return await asyncio.wait_for(desk.tell(teller, carry, gone()), 5)

    assert asyncio.run(asked()) == 0


def test_no_key_no_news_and_a_key_that_ends_ends_its_line(home: Home) -> None:
    assert [listening(home.board, {}, by=by).status for by in CARRIERS] == [401, 4401]
    with home.stage.records() as records:
        keys, now = BoardKeys(records.db), records.clock.now()
        token = keys.sign_in(keys.link(now), now)
        teller = NewsTeller(records, token, records.audit.newest())
        assert [one["event"] for one in teller.begin()] == ["beat"]
        keys.sign_out(token)
        teller._beat = 0.0
        assert teller.look() is None
    bad = httpx2.get(f"{home.board.here}/api/v1/news", headers={**home.key, "last-event-id": "x"}, trust_env=False)
    assert bad.status_code == 422


def test_whoever_is_taken_from_the_list_of_accounts_hears_no_more_news(home: Home) -> None:
    rahim = ListedPerson(name="Rahim", role="viewer", github="12345")
    people = {"github:12345": rahim}
    with home.stage.records() as records:
        token = BoardKeys(records.db).enter("github:12345", Role.VIEWER, records.clock.now())
        teller = NewsTeller(records, token, records.audit.newest(), people.get)
        teller.begin()
        teller._beat = 0.0
        assert teller.look() is not None
        people.clear()
        assert teller.look() is not None, "until the next beat"
        teller._beat = 0.0
        assert teller.look() is None


def test_a_line_that_only_stays_open_is_no_use_of_its_session(home: Home) -> None:
    with home.stage.records() as records:
        keys, now = BoardKeys(records.db), records.clock.now()
        began, later = now - timedelta(hours=11), now + timedelta(hours=2)
        token = keys.sign_in(keys.link(began), began)
        teller = NewsTeller(records, token, records.audit.newest())
        teller.begin()
        teller._beat = 0.0
        assert teller.look() is not None and keys.role(token, later) is None
        assert keys.lets_in(token, now) and keys.role(token, later)


def test_a_file_that_is_written_in_place_is_seen(home: Home) -> None:
    path = home.backlog / "written.md"
    path.write_text("# One\n\nA.\n")
    before = file_marks(home.stage.home)
    time.sleep(0.02)
    path.write_text("# Two\n\nB.\n")
    assert moved(before, file_marks(home.stage.home)) == ["backlog"]


def _raw(board: BoardProcess, key: dict[str, str]) -> socket.socket:
    """A page that opens a line and reads no more than its beginning."""
    host, port = board.here.removeprefix("http://").split(":")
    one = socket.create_connection((host, int(port)), timeout=30)
    lines = [f"GET /api/v1/news HTTP/1.1\r\nHost: {host}:{port}", f"Authorization: {key['authorization']}", "\r\n"]
    one.sendall("\r\n".join(lines).encode())
    assert b"200" in one.recv(20)
    return one
