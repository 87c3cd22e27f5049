"""A model that somebody plays: each prompt becomes a file, and a file beside it is its answer.

`python -m bench.player FOLDER [--port N]` serves the Anthropic Messages API on this machine. A request is written to
FOLDER/NNN.prompt.md: system prompt, all messages, the answer's form. Who plays writes FOLDER/NNN.answer.md: JSON where
a form is asked for, else plain text. Write another name first and rename it, so that no half answer is read.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.simulators.model.pages import prompt_page
from sisimpur.simulators.model.rules import Call
from sisimpur.simulators.model.scripted_model import ScriptedModel
from sisimpur.simulators.model.steps import PlacedStep

LOOKS_S = 0.2  # between two looks for an answer


class Player(ScriptedModel):
    """The scripted model with a person, or another model, in the place of the script."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        super().__init__([], port, heard=print)
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._before = max((int(path.name[:3]) for path in folder.glob("[0-9][0-9][0-9].prompt.md")), default=0)

    async def step_for(self, call: Call, number: int) -> PlacedStep:
        """Wait for the answer's file. What cannot be read as the form asks is told back as a plain text."""
        name = f"{self._before + number:03}"
        prompt, answer = self._folder / f"{name}.prompt.md", self._folder / f"{name}.answer.md"
        prompt.write_text(prompt_page(call.request), "utf-8")
        print(f"{prompt}: waits for {answer.name}", flush=True)
        while not answer.exists():  # a file has no event
            await asyncio.sleep(LOOKS_S)
        return PlacedStep(text=answer.read_text("utf-8").strip("\n") or "(nothing)", where=answer.name)


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    try:
        player = Player(given.folder, given.port)
    except Misconfigured as problem:
        raise SystemExit(str(problem)) from None
    print(f"ANTHROPIC_BASE_URL={player.url}", flush=True)
    player.run()


if __name__ == "__main__":
    main()
