"""Programs that start warm: asks for them, and for the interpreter that they are forked from (warm_interpreter.py)."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO

from sisimpur.shared.system.paths import head_and_tail
from sisimpur.shared.system.process import Finished, running
from tests.warm_interpreter import OURS, end_group

LIMIT = 200_000  # bytes kept of each channel, as of every program


class WarmStart:
    """Starts the warm interpreter when it is first needed, and again if it has died. Threads may share it."""

    def __init__(self, repository: Path) -> None:
        self.processor_seconds = 0.0  # spent by the living one and its programs: not ours until it has ended
        self._repository = repository
        self._life = ExitStack()
        self._channel: socket.socket | None = None
        self._said: BinaryIO | None = None
        self._settings = _settings_of_python(os.environ)
        self._alone = threading.Lock()

    def can_run(self, argv: Sequence[str], env: Mapping[str, str]) -> bool:
        """Only Python, with what an interpreter reads once, at its start, as it was there."""
        program, what, *rest = *argv, "", ""
        known = what == "-c" or what.endswith(".py") or (what == "-m" and rest[0].split(".")[0] in OURS)
        return program == sys.executable and known and _settings_of_python(env) == self._settings

    def run(self, argv: Sequence[str], env: Mapping[str, str], timeout: float) -> Finished:
        """As `sisimpur.shared.system.process.run` does it, in the repository's folder."""
        began = time.monotonic()
        order = json.dumps({"argv": argv[1:], "env": dict(env), "timeout": timeout}).encode()
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            told = self._told(order, output, errors)
            said, cut = head_and_tail(output, LIMIT)
            complained, cut_too = head_and_tail(errors, LIMIT)
        code = os.waitstatus_to_exitcode(told["status"])
        return Finished(code, said, complained, told["end"], time.monotonic() - began, cut or cut_too)

    def close(self) -> None:
        self._channel, self.processor_seconds = None, 0.0
        self._life.close()

    def _told(self, order: bytes, output: BinaryIO, errors: BinaryIO, again: bool = True) -> dict[str, Any]:
        """How it ended, in the words of the warm interpreter."""
        ours, theirs = os.pipe()
        with open(ours, encoding="ascii") as lines:
            try:
                channel = self._send(order, [output.fileno(), errors.fileno(), theirs])
            finally:
                os.close(theirs)
            if not lines.readline():  # it died before it took the order
                self._bury(channel)
                assert again, "the warm interpreter dies as soon as it is started"
                return self._told(order, output, errors, again=False)
            leader, end = lines.readline(), ""
            try:
                end = lines.readline()
            finally:
                if leader and not end:  # we are interrupted, or the warm interpreter has died
                    end_group(int(leader))
        assert end, f"the warm interpreter has died under {order[:200]!r}: {self._last_words()}"
        told: dict[str, Any] = json.loads(end)
        self.processor_seconds = max(self.processor_seconds, told["spent"])
        return told

    def _send(self, order: bytes, descriptors: list[int]) -> socket.socket:
        with self._alone:
            channel = self._channel or self._start()
            with suppress(ConnectionError):  # then the order is not taken
                socket.send_fds(channel, [order], descriptors)
            return channel

    def _bury(self, channel: socket.socket) -> None:
        with self._alone:
            if channel is self._channel:
                last_words = self._last_words()
                self.close()
                assert not last_words, last_words  # what it complains of would happen again

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        said = tempfile.TemporaryFile()  # noqa: SIM115  closed with the other things of its life
        number = theirs.fileno()
        argv = [sys.executable, "-m", "tests.warm_interpreter", str(number)]
        program = running(argv, cwd=self._repository, env=os.environ, output=said.fileno(), pass_fds=[number])
        self._channel, self._said = self._life.enter_context(ours), self._life.enter_context(said)
        with theirs:
            self._life.enter_context(program)
        return ours

    def _last_words(self) -> str:
        return head_and_tail(self._said, LIMIT)[0].decode("utf-8", "replace") if self._said else ""


def _settings_of_python(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(("PYTHON", "LC_", "LANG"))}
