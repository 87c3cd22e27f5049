"""Door to how people name commits. The only module that finds one by the begin of its id, and what it is called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from shared.repo.git import git, try_git
from shared.repo.mirror_tree import commit_id

BEGIN = re.compile(r"[0-9a-f]{4,64}")
LONGEST_SUBJECT = 200  # characters


def commits_like(repository: Path, begin: str) -> tuple[str, ...]:
    """All commits here whose id begins so, in full; none for what is no begin of one (4 digits at least)."""
    if not BEGIN.fullmatch(begin) or not repository.is_dir():
        return ()
    found = git(repository, "rev-parse", f"--disambiguate={begin}")
    kinds = git(repository, "cat-file", "--batch-check=%(objectname) %(objecttype)", data=found)
    rows = (row.split() for row in kinds.decode().splitlines())
    return tuple(row[0] for row in rows if row[1:] == ["commit"])


def subjects(repository: Path, commits: Iterable[str]) -> dict[str, str]:
    """Commit -> the first line of its message, by whoever wrote it. What is not here is left out."""
    wanted = "".join(f"{commit_id(sha)}\n" for sha in dict.fromkeys(commits))
    if not wanted or not repository.is_dir():
        return {}
    options = ("--no-walk=unsorted", "--ignore-missing", "--no-show-signature", "--format=%H %s", "--stdin")
    done = try_git(repository, "log", *options, data=wanted.encode())
    rows = (row.partition(" ") for row in done.output.decode("utf-8", "replace").splitlines())
    return {sha: subject[:LONGEST_SUBJECT] for sha, _, subject in rows} if done.ok else {}
