"""Door to Docker's builder. The only module that has an image built, and reads what the builder says.

It is the builder of the API. What only BuildKit knows (RUN --mount, COPY <<EOF) is refused by it, by name.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from agents.devops.docker.docker_engine import EngineRefused, broken, connected, lost
from agents.devops.docker.docker_words import plain, plain_line, why_away, without_noise
from agents.devops.drivers.driver import EngineAway, NotBuilt

if TYPE_CHECKING:
    import docker

TAIL, LONGEST_LINE = 30, 500  # that are told of it: lines, characters
MOST_HELD = 100_000  # characters of one that does not end


def build(
    environment: Mapping[str, str],
    context: IO[bytes],
    *,
    name: str,
    labels: Mapping[str, str],
    dockerfile: str,
    seconds: float,
) -> None:
    """`context`: a tar file; `dockerfile`: its path in there. A base image is fetched if there is none. NotBuilt."""
    told = _Told()
    try:
        with connected(environment, math.ceil(seconds)) as engine, _ended_after(seconds, engine) as is_over:
            try:
                for event in engine.build(
                    fileobj=context,
                    custom_context=True,
                    tag=name,
                    labels=dict(labels),
                    dockerfile=dockerfile,
                    rm=True,
                    forcerm=True,
                    decode=True,
                    timeout=math.ceil(seconds),
                ):
                    told.take(event)
            except broken():
                if is_over():
                    raise told.failed(f"it was not built after {seconds / 60:g} minutes (`deploy.minutes`)") from None
                raise
    except EngineRefused as refused:
        raise told.failed(refused.said) from None
    told.judge()


@contextlib.contextmanager
def _ended_after(seconds: float, engine: docker.APIClient) -> Iterator[Callable[[], bool]]:
    """An answer that is not whole by then is cut; the engine ends a build that nobody listens to. -> was it cut?"""
    answers: list[Any] = []
    over = threading.Event()

    def cut() -> None:
        over.set()
        for answer in answers:
            with contextlib.suppress(Exception):  # it has come to its end in this very moment
                answer.raw.shutdown()

    engine.hooks["response"].append(lambda answer, *_, **__: answers.append(answer))
    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield over.is_set
    finally:
        timer.cancel()
        for answer in answers:
            answer.close()


class _Told:
    """What the builder said: its last lines, what went wrong, and whether it came to its end."""

    def __init__(self) -> None:
        self._lines = deque[str](maxlen=TAIL)
        self._open = ""
        self._wrong = ""
        self._is_done = False

    def take(self, event: Mapping[str, Any]) -> None:
        self._wrong = str(event.get("error") or self._wrong)
        self._is_done |= "ID" in (event.get("aux") or {})
        *lines, self._open = (self._open + str(event.get("stream", ""))).split("\n")
        self._open = self._open[-MOST_HELD:]
        said = without_noise("\n".join(map(plain, lines))).split("\n")
        self._lines.extend(line[:LONGEST_LINE] for line in map(str.rstrip, said) if line)

    def judge(self) -> None:
        """NotBuilt, EngineAway; nothing if it came to a good end."""
        if self._wrong:
            raise self.failed(self._wrong)
        if not self._is_done:
            raise lost(ConnectionError("it stopped in the middle of a build"))

    def failed(self, why: str) -> NotBuilt | EngineAway:
        if away := why_away(why):
            return EngineAway(away)
        lines = [*self._lines, *([plain(self._open)[:LONGEST_LINE]] if self._open.strip() else [])]
        return NotBuilt("\n".join((f"it could not be built: {plain_line(why)}", *lines[-TAIL:])))
