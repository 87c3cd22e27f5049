"""Whoever is signed out while the board works on his answer is told so: at none of its addresses that is a bug."""

from __future__ import annotations

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.guard import BoardGuard, Receive, Scope, Send, signed_in
from sisimpur.web.api.base.place import BoardPlace
from sisimpur.web.api.base.sign_in import BoardKeys
from sisimpur.web.api.board_app import make_app
from tests.attacks.test_board import ADDRESSES, ORDERED
from tests.journey.gated import FILES, ID, VISION
from tests.journey.stage import Stage
from tests.journey.test_board import HERE, OPEN, PORT

NEWS = "/api/v1/news"  # ends by itself, in test_board_socket.py
THEIRS = [one[:2] for one in ADDRESSES if one[:2] not in OPEN and one[1] != NEWS]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("home"), "http://127.0.0.1:1").set_up(VISION, FILES)


@pytest.fixture(scope="module")
def board(stage: Stage) -> BoardGuard:
    return make_app(BoardHome(stage.home.root, stage.clock), BoardPlace(PORT))


@pytest.mark.parametrize(("method", "path"), THEIRS, ids=[" ".join(one) for one in THEIRS])
def test_who_is_closed_behind_the_door_gets_an_answer(stage: Stage, board: BoardGuard, method: str, path: str) -> None:
    closed = []

    async def closes_first(scope: Scope, receive: Receive, send: Send) -> None:
        with stage.records() as records:
            closed.append(BoardKeys(records.db).close(signed_in(scope).id))
        await board.app(scope, receive, send)

    with stage.records() as records:
        keys, now = BoardKeys(records.db), records.clock.now()
        token = keys.sign_in(keys.link(now), now)
    http = TestClient(replace(board, app=closes_first), base_url=HERE, raise_server_exceptions=False)
    headers = {**ORDERED, "origin": HERE, "authorization": f"Bearer {token}"}
    address = path.format(id=ID, role="coder", provider="github")
    answer = http.request(method, address, json=None if method == "GET" else {}, headers=headers)
    assert closed == [True]
    assert answer.status_code < 500, answer.text
    if (method, path) == ("GET", "/api/v1/session"):
        assert answer.status_code == 401
