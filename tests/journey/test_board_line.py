"""An answer goes out at once: its body does not wait until the other end has said that it has the head."""

from __future__ import annotations

import http.client
import statistics
import time
from pathlib import Path

from tests.journey.board_process import served
from tests.journey.stage import Stage

ANSWERS, WAIT = 30, 0.040  # seconds in which the other end says nothing, if it has nothing else to say


def test_the_body_of_an_answer_comes_with_its_head(tmp_path: Path) -> None:
    stage, gaps = Stage(tmp_path, "http://127.0.0.1:1").set_up(), []
    with served(stage.home.root) as board:
        line = http.client.HTTPConnection(board.here.removeprefix("http://"), timeout=30)
        for _ in range(ANSWERS):
            line.request("GET", "/health")
            answer = line.getresponse()  # when the head is there
            head = time.perf_counter()
            assert answer.read() == b'{"ok": true}'
            gaps.append(time.perf_counter() - head)
        line.close()
    assert statistics.median(gaps) < WAIT / 2, gaps
