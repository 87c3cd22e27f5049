"""A model that somebody plays: a prompt is a file, and a file beside it is its answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

from bench.player import Player
from tests.edges.test_scripted_model import HEADERS, body, post


def written(answer: Path, text: str) -> None:
    """Whole from its first moment on, as a player is told to write it."""
    (unread := answer.with_suffix(".new")).write_text(text)
    unread.rename(answer)


def test_the_answer_is_what_somebody_writes_beside_the_prompt(tmp_path: Path) -> None:
    with Player(tmp_path) as player, ThreadPoolExecutor() as pool:
        first = pool.submit(post, f"{player.url}/v1/messages", body("What is two and two?", system="Count."), HEADERS)
        while not (prompt := tmp_path / "001.prompt.md").exists():
            sleep(0.01)
        second = pool.submit(post, f"{player.url}/v1/messages", body("And you?"), HEADERS)
        written(tmp_path / "002.answer.md", "me too")
        assert second.result().json()["content"][0]["text"] == "me too"  # nobody waits for another's answer
        assert not first.done()
        written(tmp_path / "001.answer.md", "four\n")
        assert first.result().json()["content"][0]["text"] == "four"
    told = prompt.read_text()
    assert told.index("Count.") < told.index("What is two and two?")


def test_a_folder_that_was_played_in_before_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "007.prompt.md").write_text("earlier")
    (tmp_path / "008.answer.md").write_text("good day")
    with Player(tmp_path) as player:
        assert post(f"{player.url}/v1/messages", body(), HEADERS).json()["content"][0]["text"] == "good day"
