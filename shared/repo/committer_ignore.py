"""Door to .gitignore. The only module that reads these files: those of a commit, never those of a folder.

So a box can neither hide a file nor bring one in by editing them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shared.model.scope import names

# What programs leave behind; a target need not list it. What its base tracks stays tracked all the same.
LEFTOVERS = ("__pycache__/", "*.pyc", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".aider*", ".DS_Store")
MOST_BYTES = 100_000  # of one file; a longer one hides nothing


class GitIgnore:
    """Asked from the top down: a folder first, and what is in it only if the folder is not ignored."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """`files`: folder ("" is the top) -> content of its .gitignore."""
        self._lines = {folder: _lines(data) for folder, data in files.items()}

    def __call__(self, path: str, is_folder: bool) -> bool:
        """Whether git would leave out this path if nobody tracked it."""
        if any(names(path, is_folder, pattern) for pattern in LEFTOVERS):
            return True
        folder = path
        while folder:  # the nearest .gitignore that says something decides
            folder = folder.rpartition("/")[0]
            below = path[len(folder) :].lstrip("/")
            said = _last_word(below, is_folder, self._lines.get(folder, ()))
            if said is not None:
                return said
        return False


def _last_word(path: str, is_folder: bool, lines: Sequence[str]) -> bool | None:
    """What the last line that means this path says; None: no line does."""
    for line in reversed(lines):
        if names(path, is_folder, line.removeprefix("!")):
            return not line.startswith("!")
    return None


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8", "replace") if len(data) <= MOST_BYTES else ""
    lines = (_without_blanks(line.removesuffix("\r")) for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]


def _without_blanks(line: str) -> str:
    """Blanks at the end do not count, but for one that is escaped."""
    bare = line.rstrip(" ")
    slashes = len(bare) - len(bare.rstrip("\\"))
    return line[: len(bare) + slashes % 2]
