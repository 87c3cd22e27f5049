"""A place to try engines: a real box, a scripted model behind a socket as the meter's, folders to work in."""

from __future__ import annotations

import contextlib
import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.shared.model.work import ModelChoice
from sisimpur.shared.sandbox.box import Box, hand_over
from sisimpur.shared.sandbox.box_forward import pump
from sisimpur.simulators.model.scripted_model import ScriptedModel

TICKET = "ticket-of-this-run"
CALC = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
FILES = {"app/calc.py": CALC, "app/notes.txt": "words that are nobody's business\n", "README.md": "A calculator.\n"}


@dataclass(frozen=True)
class Bench:
    box: Box
    home: Path
    model: ScriptedModel
    meter: Path  # the socket

    def folder(self, files: Mapping[str, str | bytes]) -> Path:
        """As a check-out leaves it."""
        folder = Path(tempfile.mkdtemp(prefix="task-", dir=self.home))
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    def job(self, **given: Any) -> EngineJob:
        """Fix the sum in app/calc.py, unless told otherwise."""
        usual: dict[str, Any] = {
            "message": "Fix the sum in app/calc.py.",
            "edit": ("app/calc.py",),
            "create": (),
            "read": (),
            "ticket": TICKET,
            "model": ModelChoice("claude-sonnet-5-5", effort="low"),
            "seconds": 60,
        }
        return EngineJob(**{"folder": self.folder(FILES)} | usual | given)


@contextlib.contextmanager
def bench(box: Box, home: Path, steps: Sequence[Mapping[str, Any]]) -> Iterator[Bench]:
    with ScriptedModel(steps) as model, _socket_to(model, home / "meter.sock") as meter:
        yield Bench(box, home, model, meter)


@contextlib.contextmanager
def _socket_to(model: ScriptedModel, path: Path) -> Iterator[Path]:
    """A unix socket that leads to the model."""
    port = int(model.url.rpartition(":")[2])
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(path))
        door.listen()
        hand_over(path)
        threading.Thread(target=_lead, args=(door, port), daemon=True).start()
        yield path
        door.shutdown(socket.SHUT_RDWR)


def _lead(door: socket.socket, port: int) -> None:
    with contextlib.suppress(OSError):  # the door is shut
        while True:
            caller, _ = door.accept()
            threading.Thread(target=connect, args=(caller, port), daemon=True).start()


def connect(caller: socket.socket, port: int) -> None:
    with caller, socket.create_connection(("127.0.0.1", port)) as model:
        back = threading.Thread(target=pump, args=(model, caller), daemon=True)
        back.start()
        pump(caller, model)
        back.join()


def block(path: str, old: str, new: str) -> str:
    """One edit as an engine's model writes it."""
    return f"{path}\n```\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n\n"


FIX = block("app/calc.py", "    return a - b\n", "    return a + b\n")


def tree(folder: Path) -> dict[str, bytes]:
    """What lies there, but for the throw-away .git."""
    files = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.relative_to(folder).parts[:1])
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
