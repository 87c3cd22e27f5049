"""Door to .gitignore. The only module that reads these files: those of a commit, never those of a folder.

So a box can neither hide a file nor bring one in by editing them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pathspec import GitIgnoreSpec

# What programs leave behind; a target need not list it. What its base tracks stays tracked all the same.
LEFTOVERS = GitIgnoreSpec.from_lines(
    ("__pycache__/", "*.pyc", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".aider*", ".DS_Store")
)
MOST_BYTES = 100_000  # of one file; a longer one hides nothing
MOST_STARS = 4  # in one line; more can take minutes to compare


class Ignored:
    """Asked from the top down: a folder first, and what is in it only if the folder is not ignored."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """`files`: folder ("" is the top) -> content of its .gitignore."""
        self._specs = {folder: _spec(data) for folder, data in files.items()}

    def __call__(self, path: str, is_folder: bool) -> bool:
        """Whether git would leave out this path if nobody tracked it."""
        end = "/" if is_folder else ""
        if LEFTOVERS.match_file(path + end):
            return True
        folder = path
        while folder:  # the nearest .gitignore that says something decides
            folder = folder.rpartition("/")[0]
            spec = self._specs.get(folder)
            if spec and (said := spec.check_file(path[len(folder) :].lstrip("/") + end).include) is not None:
                return said
        return False


def _spec(data: bytes) -> GitIgnoreSpec:
    text = data.decode("utf-8", "replace") if len(data) <= MOST_BYTES else ""
    return GitIgnoreSpec.from_lines(line for line in text.splitlines() if len(re.findall(r"\*+", line)) <= MOST_STARS)
