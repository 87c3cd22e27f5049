"""Workflow linters' adapter: starts check-jsonschema and zizmor.

Each is used if it is installed. A linter that does not come to its end is a finding too: what was not checked is not
clean.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sisimpur.shared.model.text import one_line
from sisimpur.shared.sandbox.linter import OPTIONS, rows
from sisimpur.shared.system.process import Finished, RunOptions, run

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
FILE = "ci.yml"
SECONDS = 60.0
LIMIT = 4_000_000  # bytes of one answer
MOST_FINDINGS, LONGEST_TEXT = 50, 300


@dataclass(frozen=True)
class WorkflowFinding:
    """Remark of a linter about a line (from 1; 0: of the file)."""

    tool: str
    line: int
    text: str


@dataclass(frozen=True)
class Linted:
    """`missing`: the linters that are not installed; they have found nothing because they have not looked."""

    findings: tuple[WorkflowFinding, ...]
    missing: tuple[str, ...] = ()


def installed(name: str) -> Path | None:
    """Find a program beside our interpreter, or on PATH."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.is_file() else shutil.which(name)
    return Path(found) if found else None


def lint_workflow(
    text: str, scratch: Path, find: Callable[[str], Path | None] = installed, seconds: float = SECONDS
) -> Linted:
    """`scratch`: a folder of ours for the file while it is read; `seconds`: the longest run of one linter."""
    findings: list[WorkflowFinding] = []
    missing = []
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        (Path(folder) / FILE).write_text(text, "utf-8")
        for name, options in OPTIONS.items():
            program = find(name)
            if program is None:
                missing.append(name)
                continue
            argv, how = (str(program), *options, FILE), RunOptions(limit=LIMIT)
            done = run(argv, cwd=Path(folder), env=ENVIRONMENT, timeout=seconds, how=how)
            findings += _findings(name, done)
    return Linted(tuple(findings), tuple(missing))


def _findings(tool: str, done: Finished) -> list[WorkflowFinding]:
    """A good end and no answer that says otherwise: nothing was found."""
    try:
        found = [(row.line, row.text) for row in rows(tool, json.loads(done.output))]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        found = [(0, f"has not read the file ({done.end}, exit code {done.code}): {_telling(done)}")]
    if not found and not done.ok:
        found = [(0, f"{done.end}, exit code {done.code}: {_telling(done)}")]
    return [WorkflowFinding(tool, line, one_line(text, LONGEST_TEXT)) for line, text in found[:MOST_FINDINGS]]


def _telling(done: Finished) -> str:
    lines = [line.strip() for line in done.complaint.splitlines() if line.strip()]
    return next(
        (line for line in lines if line.startswith(("error", "fatal", "WARN"))), lines[-1] if lines else "nothing"
    )
