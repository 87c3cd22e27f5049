"""A home with as many tasks as one home will ever have, all of them still to be done."""

from __future__ import annotations

from pathlib import Path

from sisimpur.shared.model.lifecycle import State
from tests.journey.gated import FILES, VISION
from tests.journey.stage import Stage

TASKS = 10_000


def crowded(folder: Path) -> Stage:
    stage = Stage(folder, "http://127.0.0.1:1").set_up(VISION, FILES)
    for number in range(TASKS):
        path = stage.home.tasks(State.BACKLOG) / f"20261101-{number:05}.md"
        path.write_text(f"---\ntitle: Say number {number}\nfiles: [app.py]\n---\n\nSay it in `app.py`.\n")
    return stage
