"""Labelled changes: bench/gate_cases/<sample>/<id>.yaml, and the samples that they change.

The held part lies in held/ beside them, with samples of its own; nobody who works on the rules looks at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from sisimpur.shared.model.work import TaskKind, TaskSpec
from sisimpur.shared.system.strict_yaml import parse

ROOT = Path(__file__).parents[1]
CASES = ROOT / "bench" / "gate_cases"
HELD = CASES / "held"
SAMPLES = ("booking_service", "exam_site", "ledger_lib", "memoize_lib")
HELD_SAMPLES = (*SAMPLES, "numerics", "relay_service", "rulelang", "tidylog")
HOMES = (ROOT / "examples", CASES / "samples", HELD / "samples")  # each sample is in one of them
TRUTH = "tests/test_truth.py"  # where a case's `truth` is put
# Made up, and put together here, so that no file holds the shape of a key.
OUR_KEY = "-".join(("sk", "ant", "api03", "9fQ2mZ7xKc4LhWb8TnRd5VyGs1JpEu6AoXi3CqMtBvNw0Hz"))
SOME_KEY = "-".join(("sk", "ant", "api03", "Zq8vT2mLr5Xw9KcB4nHd7JfP1sYg6UeA3oRi0QtVbMxNzWk"))
MARK = re.compile(r"\{\{(?:U\+([0-9A-F]{4,5})|(\d+) blanks|our key (\d+):(\d*)|(some key))\}\}")

Gate = Literal["tests", "rules", "policy/owner", "scope", "only a model's review"]
Merged = Literal["merged", "merged, after QA's test"]


@dataclass(frozen=True)
class Edit:
    """One of three: `search` (which stands in the file once) becomes `replace`; `create`; `delete`."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}

    path: str
    search: str = ""
    replace: str = ""
    create: str = ""
    delete: bool = False


@dataclass(frozen=True)
class CaseTask:
    """What a task says; the rest of a TaskSpec is the harness's."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}

    title: str
    description: str
    files: tuple[str, ...]
    new_files: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    kind: TaskKind = TaskKind.UNKNOWN
    changes_tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class GateCase:
    """A change and what is true of it. `truth`: a test file that fails on a wrong change and passes on a right one.

    `tester`: the test file that QA's model would write if it is asked to. `mend`: what makes a wrong change right, so
    that the truth passes, where the sample as it was is not right either. `before`: what the sample lacks for it.
    """

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}

    id: str
    sample: str
    label: Literal["right", "wrong"]
    expect: Merged | Gate  # of a right one "policy/owner": it is right that he is asked
    why: str
    task: CaseTask
    edits: tuple[Edit, ...]
    kind: str = field(default="")  # of a right one
    wrong_by: str = ""
    truth: str = ""
    tester: str = ""
    mend: tuple[Edit, ...] = ()
    before: tuple[Edit, ...] = ()

    @property
    def way(self) -> str:
        return self.kind or self.wrong_by

    @property
    def spec(self) -> TaskSpec:
        task = self.task
        return TaskSpec(
            self.id,
            task.title,
            task.description,
            files=task.files,
            new_files=task.new_files,
            acceptance=task.acceptance,
            guards=task.guards,
            kind=task.kind,
            changes_tests=task.changes_tests,
        )

    def base(self, files: Mapping[str, str]) -> dict[str, str]:
        """The sample's files before the change. ValueError if an edit does not fit."""
        return edited(files, self.before)

    def changed(self, files: Mapping[str, str]) -> dict[str, str]:
        """The files after the change. ValueError if an edit does not fit."""
        return edited(files, self.edits)


def edited(files: Mapping[str, str], edits: Iterable[Edit]) -> dict[str, str]:
    after = dict(files)
    for edit in edits:
        _apply(edit, after)
    return after


def _apply(edit: Edit, files: dict[str, str]) -> None:
    if (edit.path in files) == bool(edit.create):
        raise ValueError(f"{edit.path}: is there already, or is not there")
    if edit.create:
        files[edit.path] = filled(edit.create)
    elif edit.delete:
        del files[edit.path]
    elif files[edit.path].count(edit.search) != 1 or not edit.search:
        raise ValueError(f"{edit.path}: the text to replace stands there {files[edit.path].count(edit.search)} times")
    else:
        files[edit.path] = files[edit.path].replace(edit.search, filled(edit.replace))


def filled(text: str) -> str:
    """{{U+200B}}, {{160 blanks}}, {{our key 0:16}}, {{some key}}: what no file of ours should hold as it is."""
    return MARK.sub(_meant, text)


def _meant(mark: re.Match[str]) -> str:
    code, blanks, begin, end, _ = mark.groups()
    if code:
        return chr(int(code, 16))
    if blanks:
        return " " * int(blanks)
    return OUR_KEY[int(begin) : int(end) if end else None] if begin else SOME_KEY


def sample(name: str) -> dict[str, str]:
    """The files of the sample of this name, wherever it is."""
    (root,) = (home / name for home in HOMES if (home / name).is_dir())
    paths = (path for path in sorted(root.rglob("*")) if path.is_file() and not _is_left_over(path))
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in paths}


def _is_left_over(path: Path) -> bool:
    return path.suffix in (".pyc", ".sqlite3") or bool({"__pycache__", ".pytest_cache"} & set(path.parts))


def cases(ids: Sequence[str] = (), root: Path = CASES) -> Iterator[GateCase]:
    """All of them, or those whose id begins with one of `ids`, in the order of their files."""
    for path in sorted(root.glob("*/*.yaml")):
        if not ids or path.stem.startswith(tuple(ids)):
            yield parse(path.read_text("utf-8"), path.name).as_type(GateCase)
