"""`--pdf`: a report or a note as a file that can be printed and sent, beside the one it is made of."""

from __future__ import annotations

from pathlib import Path

from sisimpur.agents.orchestrator.reports.drawn.pdf import pdf
from sisimpur.cli.terminal.arguments import DONE
from sisimpur.cli.terminal.printing import plain
from sisimpur.shared.system.paths import read_bytes, read_text, write_bytes


def write_pdf(file: Path) -> int:
    """Write FILE.pdf beside FILE.md, with the picture that lies there, and say where."""
    picture = file.with_suffix(".png")
    pictures = {picture.name: read_bytes(picture)} if picture.exists() else {}
    made = file.with_suffix(".pdf")
    write_bytes(made, pdf(read_text(file), file.stem, pictures))
    print(plain(str(made)))
    return DONE
