"""Repositories of the local GitHub on disk: made empty, or as a copy of another."""

from __future__ import annotations

from pathlib import Path

from sisimpur.shared.repo.git import Remote, git, try_git
from sisimpur.simulators.github.commits import HubCommits

CONFIGURATION = """
[gc]
    auto = 0
[receive]
    autogc = false
    hideRefs = refs/pull
[uploadpack]
    allowReachableSHA1InWant = true
"""  # references of pull requests are GitHub's own: to be read only
FIRST_COMMIT = b"""commit refs/heads/main
committer github <github@localhost> 1767225600 +0000
data 14
Initial commit
M 100644 inline README.md
data 8
# Hello

"""
WORKFLOW_HOOKS = "workflow-hooks"
WORKFLOW_HOOK = r"""#!/bin/sh
# For pushes by a token without the permission "workflows".
while read -r old new ref; do
  case $new in *[!0]*) ;; *) continue ;; esac
  if [ -n "$(git rev-list -1 "$new" --not --all -- .github/workflows)" ]; then
    echo 'refusing to allow a Personal Access Token to create or update workflow without `workflows` permission' >&2
    exit 1
  fi
done
"""


def stored(place: Path, start: Path | None) -> HubCommits:
    """The bare repository at `place`: what lies there already, a copy of the branches of `start`, or one commit."""
    commits = HubCommits(place)
    if (place / "HEAD").exists():
        return commits
    place.mkdir(parents=True)
    git(place, "init", "--quiet", "--bare", "--template=", f"--initial-branch={_default_branch(start)}")
    with open(place / "config", "a", encoding="utf-8") as file:
        file.write(CONFIGURATION)
    _write_hook(place / WORKFLOW_HOOKS / "pre-receive")
    if start:
        branches = "+refs/heads/*:refs/heads/*"
        git(place, "fetch", "--quiet", "--no-tags", str(start), branches, timeout=600, remote=Remote(str(start)))
    else:
        git(place, "fast-import", "--quiet", data=FIRST_COMMIT)
    return commits


def _write_hook(hook: Path) -> None:
    hook.parent.mkdir()
    hook.write_text(WORKFLOW_HOOK, "utf-8")
    hook.chmod(0o755)


def _default_branch(start: Path | None) -> str:
    if start is None:
        return "main"
    folder = start / ".git" if (start / ".git").is_dir() else start
    return try_git(folder, "symbolic-ref", "--short", "HEAD").text.strip() or "main"
