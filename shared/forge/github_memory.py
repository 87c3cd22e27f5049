"""What GitHub told us before. The only module that keeps its answers, for the next time it says "not modified"."""

from __future__ import annotations

import threading
from collections import OrderedDict

from shared.forge.github_answers import GitHubAnswer

MOST_KEPT = 16_000_000  # characters of all answers together


class Kept:
    """Answers that carry a tag, by what was asked; what was not asked for longest goes first."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, GitHubAnswer] = OrderedDict()
        self._size = 0
        self._turn = threading.Lock()

    def get(self, key: str) -> GitHubAnswer | None:
        with self._turn:
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def keep(self, key: str, answer: GitHubAnswer) -> None:
        if answer.status != 200 or "etag" not in answer.headers:
            return
        with self._turn:
            self._forget(key)
            self._answers[key] = answer
            self._size += len(answer.text)
            while self._size > MOST_KEPT:
                self._forget(next(iter(self._answers)))

    def _forget(self, key: str) -> None:
        before = self._answers.pop(key, None)
        self._size -= len(before.text) if before else 0
