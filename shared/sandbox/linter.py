"""Door to the linter. The only module that starts ruff.

It runs in a box: the files are somebody else's. They get names of ours, configuration and `noqa` remarks of theirs
count for nothing, and what comes back is data of limited size. Only where the owner wants to know what ruff says in
the repository itself do they keep their names and their configuration.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sisimpur.shared.model.errors import Misconfigured, Stumble
from sisimpur.shared.model.text import one_line
from sisimpur.shared.sandbox.box import Box, Job, JobLimits, Mount, hand_over
from sisimpur.shared.system.process import Finished, repeated

SELECTED = "E9,F,B,S"
NEWEST_PYTHON = "py314"  # what an older one would not read is for the tests to find
STRICT = ("--isolated", "--ignore-noqa", "--target-version", NEWEST_PYTHON, "--select", SELECTED)
RUFF, FILES = "/run/ruff", "/files"
LIMITS = JobLimits(seconds=60, memory_mb=1024, processes=32, file_mb=16, output=16_000_000)
FORMATTED = "\x1e\x1dformatted\x1d\x1e"  # stands behind each answer; no program holds these characters
FORMATTING = f"""for file; do
  {RUFF} format --no-cache --quiet --stdin-filename "$file" - <"$file" 2>/dev/null || true
  printf '%s' '{FORMATTED}'
done"""
MOST_FILES, MOST_BESIDE, MOST_CHARS = 400, 20_000, 10_000_000
LONGEST_TEXT = 300
MOST_PER_FILE, MOST_IN_ALL = 200, 1_000_000


@dataclass(frozen=True)
class Lint:
    """Remark of ruff about a line (from 1). `code`: S307, F401, ... or "invalid-syntax"."""

    path: str
    line: int
    code: str
    text: str


class RuffLinter:
    """`scratch`: a folder of ours for the files while they are read; `ruff`: the program."""

    def __init__(self, box: Box, scratch: Path, ruff: Path | None = None) -> None:
        self._box = box
        self._scratch = scratch
        self._ruff = ruff or Path(sys.executable).with_name("ruff")

    def lint(self, files: Mapping[str, str]) -> tuple[Lint, ...]:
        """Path -> text of Python files -> what is wrong, by path and line. Paths are only names here.

        Stumble: it did not end well. Misconfigured: there is no ruff.
        """
        if not files:
            return ()
        with self._laid_out(files) as folder:
            names = _write(folder, files)
            hand_over(folder)
            done = repeated(lambda: self._box.run(_job(self._ruff, folder, [FILES], STRICT)))
        return tuple(_read(done, names))

    def found(
        self, files: Mapping[str, str], options: Sequence[str] = (), beside: Collection[str] = ()
    ) -> tuple[Lint, ...]:
        """What ruff finds in the Python files as they lie in their repository, its configuration among them.

        `options`: ours to have checked. `beside`: other Python files, which are there and empty: who imports them
        imports nothing foreign. Errors as `lint`; Stumble also for a configuration that ruff does not take.
        """
        with self._laid_out(files) as folder:
            for path, text in {**dict.fromkeys(list(beside)[:MOST_BESIDE], ""), **files}.items():
                _place(folder, path).write_bytes(text.encode("utf-8", "replace"))
            hand_over(folder)
            places = [f"{FILES}/{path}" for path in files if path.endswith(".py")]
            done = repeated(lambda: self._box.run(_job(self._ruff, folder, places, options)))
        return tuple(_read(done, {f"{FILES}/{path}": path for path in files}, MOST_IN_ALL))

    def formatted(self, files: Mapping[str, str], configuration: Mapping[str, str]) -> Mapping[str, str]:
        """What `ruff format` makes of Python files, by this configuration; what it cannot read is left out.

        Errors as `lint`.
        """
        if not files:
            return {}
        with self._laid_out({**files, **configuration}) as folder:
            for path, text in {**files, **configuration}.items():
                _place(folder, path).write_bytes(text.encode("utf-8", "replace"))
            hand_over(folder)
            places = [f"{FILES}/{path}" for path in files]
            mounts = (Mount(self._ruff, RUFF), Mount(folder, FILES))
            job = Job(("sh", "-c", FORMATTING, "sh", *places), mounts, limits=LIMITS, env={"RAYON_NUM_THREADS": "2"})
            done = repeated(lambda: self._box.run(job))
        told = done.output.decode("utf-8", "replace").split(FORMATTED)
        if not done.ok or done.cut or len(told) != len(files) + 1:
            raise Stumble(f"ruff format: {done.end}, exit code {done.code}")
        return {path: text for path, text in zip(files, told, strict=False) if text}

    @contextmanager
    def _laid_out(self, files: Mapping[str, str]) -> Iterator[Path]:
        """A folder for them."""
        if len(files) > MOST_FILES or sum(map(len, files.values())) > MOST_CHARS:
            raise Stumble(f"{len(files)} files, too many or too large to be linted")
        if not self._ruff.is_file():
            raise Misconfigured(f"there is no ruff at {self._ruff}: type `make setup`")
        self._scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._scratch) as name:
            yield Path(name)


def _write(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Each in a folder of its own -> its name in the box -> its path. What is no text is written as a question mark."""
    names = {}
    for number, (path, text) in enumerate(files.items()):
        name = "__init__.py" if path.rpartition("/")[2] == "__init__.py" else "module.py"
        (folder / str(number)).mkdir()
        (folder / str(number) / name).write_bytes(text.encode("utf-8", "replace"))
        names[f"{FILES}/{number}/{name}"] = path
    return names


def _place(folder: Path, path: str) -> Path:
    """Where a path of the repository lies; its folders are made. Stumble if it leaves the folder."""
    *parents, name = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in (*parents, name)):
        raise Stumble(f"{one_line(path, 200)!r} is not a name for a file")
    try:
        folder.joinpath(*parents).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Stumble(f"{one_line(path, 200)!r} cannot be laid out: {error.strerror}") from None
    return folder.joinpath(*parents, name)


def _job(ruff: Path, folder: Path, places: Sequence[str], own: Sequence[str]) -> Job:
    """`own`: options beside the configuration that lies with the files; what that leaves out is left out."""
    options = (
        "--no-cache",
        "--no-respect-gitignore",
        "--force-exclude",
        "--quiet",
        "--exit-zero",
        "--output-format",
        "json",
    )
    mounts = (Mount(ruff, RUFF), Mount(folder, FILES))
    words = (RUFF, "check", *own, *options, "--", *places)
    return Job(words, mounts, limits=LIMITS, env={"RAYON_NUM_THREADS": "2"})


def _rows(done: Finished) -> Sequence[Mapping[str, Any]]:
    if not done.ok or done.cut:
        said = (done.complaint.splitlines() or ["nothing"])[-1][:200] if not done.cut else "more than can be read"
        raise Stumble(f"ruff: {done.end}, exit code {done.code}; it said: {said}")
    try:
        rows = json.loads(done.output)
    except (ValueError, RecursionError) as error:
        raise _unread(error) from None
    if not isinstance(rows, list):
        raise _unread(TypeError())
    return rows


def _read(done: Finished, names: Mapping[str, str], most: int = MOST_PER_FILE) -> Iterator[Lint]:
    rows = _rows(done)
    try:
        yield from _lints(rows, names, most)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unread(error) from None


def _unread(error: Exception) -> Stumble:
    return Stumble(f"ruff's answer cannot be read ({type(error).__name__})")


def _lints(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str], most: int) -> Iterator[Lint]:
    seen: dict[str, int] = {}
    for row in rows:
        path = names[row["filename"]]
        seen[path] = seen.get(path, 0) + 1
        if seen[path] <= most:
            text = one_line(str(row["message"]), LONGEST_TEXT)
            yield Lint(path, int((row["location"] or {"row": 0})["row"]), str(row["code"] or "invalid-syntax"), text)


# --- two linters of GitHub workflows: how each is asked, and what its answer says ----------------------------


SCHEMA, AUDIT = "check-jsonschema", "zizmor"
OPTIONS = {
    SCHEMA: ("--builtin-schema", "vendor.github-workflows", "--output-format", "json", "--color", "never"),
    AUDIT: (
        *("--offline", "--no-config", "--no-ignores", "--no-exit-codes"),
        *("--no-progress", "--color", "never", "--format", "json-v1"),
    ),
}


@dataclass(frozen=True)
class LinterRow:
    """One row of an answer. `rule`: short and stable, the same wherever it stands; `line`: from 1; 0: of the file."""

    path: str
    line: int
    rule: str
    text: str


def rows(tool: str, answer: Any) -> Iterator[LinterRow]:
    """`answer`: the parsed JSON. One of another form raises what reading it raises: KeyError, TypeError, and so on."""
    return _schema(answer) if tool == SCHEMA else _audit(answer)


def _schema(answer: Any) -> Iterator[LinterRow]:
    for one in answer.get("parse_errors", ()):
        yield LinterRow(str(one.get("filename", "")), 0, "is no YAML", f"is no YAML: {one['message']}")
    for one in answer["errors"]:
        told = one.get("best_deep_match") or one
        text = f"{told['path']}: {told['message']}"
        yield LinterRow(str(one.get("filename", "")), 0, text, text)


def _audit(answer: Any) -> Iterator[LinterRow]:
    for one in answer:
        places = one["locations"]
        main = next((place for place in places if place["symbolic"]["kind"] == "Primary"), places[0])
        line = int(main["concrete"]["location"]["start_point"]["row"]) + 1
        path = str(main["symbolic"].get("key", {}).get("Local", {}).get("verbatim_path", ""))
        text = f"{one['ident']}: {one['desc']} ({main['symbolic']['annotation']})"
        yield LinterRow(path, line, str(one["ident"]), text)
