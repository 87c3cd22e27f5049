"""A warm engine for tests: one server for many models, and an Aider that does what its task says, to attack with."""

from __future__ import annotations

import contextlib
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sisimpur.agents.coder.engine.aider_launcher import VERSION
from sisimpur.agents.coder.engine.aider_runner import AiderEngine
from sisimpur.agents.coder.engine.aider_warm import Place, WarmAider
from sisimpur.shared.sandbox.box import Box, hand_over
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.edges.engine_bench import Bench, connect

PYTHON = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")


@dataclass
class Warm:
    """Its engine stays; the model behind its socket is another one for each test."""

    engine: WarmAider
    home: Path
    meter: Path
    told: list[str] = field(default_factory=list)
    port: int = 0

    @contextlib.contextmanager
    def bench(self, box: Box, steps: Sequence[Mapping[str, Any]]) -> Iterator[Bench]:
        with ScriptedModel(steps) as model:
            self.port = int(model.url.rpartition(":")[2])
            yield Bench(box, self.home, model, self.meter)


@contextlib.contextmanager
def warm(box: Box, python: Path) -> Iterator[Warm]:
    with tempfile.TemporaryDirectory(prefix="warm-") as name, socket.socket(socket.AF_UNIX) as door:
        home = Path(name)
        meter = home / "meter.sock"
        told: list[str] = []
        cold = AiderEngine(box, python, meter, home)
        found = Warm(WarmAider(box, Place(python, meter, home), cold, told.append), home, meter, told)
        door.bind(str(meter))
        door.listen()
        hand_over(meter)
        threading.Thread(target=_lead, args=(door, found), daemon=True).start()
        try:
            yield found
        finally:
            found.engine.close()
            door.shutdown(socket.SHUT_RDWR)


def _lead(door: socket.socket, to: Warm) -> None:
    with contextlib.suppress(OSError):  # the door is shut
        while True:
            caller, _ = door.accept()
            threading.Thread(target=connect, args=(caller, to.port), daemon=True).start()


# --- an Aider that runs the text of its task -----------------------------------------------------------------

PROGRAM = {
    "__init__": "__version__ = {version!r}\n",
    "main": """
def get_parser(files, root): ...
def generate_search_path_list(default, root, given): ...
def main(arguments):
    message = next(word for word in arguments if word.startswith("--message-file=")).partition("=")[2]
    with open(message) as file:
        code = file.read().partition("\\n\\n")[2]
    exec(code, {{"__name__": "task"}})
""",
    "commands": "class Commands: ...\n",
    "repo": "class GitRepo: ...\n",
    "io": "class InputOutput: ...\n",
    "models": "",
    "coders/__init__": "",
    "coders/editblock_prompts": "class EditBlockPrompts: ...",
    "coders/editblock_coder": "do_replace = None",
    "coders/base_coder": """
class Coder:
    def create(): ...
    def apply_updates(): ...
""",
}


def obedient_aider(venv: Path, version: str = VERSION) -> Path:
    """The interpreter of an environment with a package `aider` that executes what it is told to do."""
    package = venv / "lib" / PYTHON.name / "site-packages" / "aider"
    (package / "coders").mkdir(parents=True)
    (venv / "bin").mkdir()
    (venv / "bin" / "python").symlink_to(PYTHON)
    (venv / "pyvenv.cfg").write_text(f"home = {PYTHON.parent}\n")
    for name, text in PROGRAM.items():
        (package / f"{name}.py").write_text(text.format(version=version))
    return venv / "bin" / "python"
