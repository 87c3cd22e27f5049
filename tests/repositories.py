"""Real git repositories for tests: made by plain git, as an owner would make them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

WHO = {f"GIT_{who}_{what}": "t@t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", **WHO}


def shell(command: str, folder: Path) -> str:
    """What the command prints; it must succeed."""
    done = subprocess.run(command, shell=True, cwd=folder, env=ENVIRONMENT, capture_output=True, timeout=30)
    assert done.returncode == 0, f"{command}: {done.stderr.decode()}"
    return done.stdout.decode("utf-8", "replace").strip()


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)


def repository(folder: Path, files: Mapping[str, str | bytes]) -> str:
    """A repository with one commit on main -> its sha. Its commits hold the exact bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    shell("git init -q -b main . && mkdir -p .git/info", folder)
    write(folder, {".git/info/attributes": "* -text -ident -working-tree-encoding\n"})
    return commit(folder, files)


def commit(folder: Path, files: Mapping[str, str | bytes]) -> str:
    """One more commit with these files -> its sha."""
    write(folder, files)
    return shell("git add -A -f && git commit -qm work --allow-empty && git rev-parse HEAD", folder)


def bare(folder: Path, files: Mapping[str, str | bytes]) -> str:
    """A bare repository, as a forge keeps it, with one commit on main -> its sha."""
    source = folder.with_name(folder.name + "-source")
    sha = repository(source, files)
    shell(f"git clone -q --bare '{source}' '{folder}'", folder.parent)
    return sha
