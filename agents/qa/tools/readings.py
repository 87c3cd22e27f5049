"""What a tool printed -> its remarks, each with a key that stays the same when lines move. Pure.

The output is hostile data: nothing in it can raise, and what cannot be read is a remark of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sisimpur.shared.model.text import one_line
from sisimpur.shared.sandbox.linter import rows

ABSENT = 93  # how a tool's command ends that is not installed
DJANGO = "sisimpur-django "  # begins each line of inside/gate_django.py
BROKEN = "ends badly: "  # begins the key of a remark after which nothing more was said
PART = "no end: "  # begins the key of a remark after which the rest of the tool went on
LONGEST = 300  # characters of a remark
MOST = 200  # remarks that are read
GCC = re.compile(r"(?P<path>[^\s:][^:]*):\d+:\d+: (?P<level>\w+): (?P<text>.*)")
HADOLINT = re.compile(
    r"(?P<path>[^\s:][^:]*):\d+(?::\d+)? (?:(?P<code>\w+) (?:error|warning): |unexpected )(?P<text>.*)"
)
UNDER = re.compile(r"(?P<path>[^\s:][^:]*): line \d+: (?P<text>.*)")
MYPY = re.compile(r"(?P<path>[^\s:][^:]*)(?::\d+)+: error: (?P<text>.*?)(?:  \[(?P<code>[\w-]+)\])?")
RUFF = re.compile(r"(?P<path>[^\s:][^:]*):\d+:\d+: (?P<text>(?:[A-Z]+\d+|invalid-syntax:?) .*)")
OF_PLACE = ("import", "import-not-found", "import-untyped")  # what is installed here says nothing of the change
NUMBERS = re.compile(r"\(line \d+\)|\bline \d+\b|(?<=\D):\d+(:\d+)?\b")
UNREACHED = re.compile(r"No matching distribution found|Could not find a version that satisfies|Could not install")
UNGIVEN = re.compile(r"mandatory value|required variable|env[_ ]file", re.IGNORECASE)  # secrets are not in the box


@dataclass(frozen=True)
class ToolRemark:
    """`key`: the same for the same remark about the same thing, wherever it stands."""

    key: str
    text: str

    @property
    def is_of_a_part(self) -> bool:
        """A part of the tool has not come to its end, and the rest went on."""
        return self.key.startswith(PART)


@dataclass(frozen=True)
class Reading:
    """`unable`: what the tool could not look at, and why; empty: it has seen all. `is_blind`: it has seen nothing."""

    remarks: tuple[ToolRemark, ...] = ()
    unable: str = ""
    is_blind: bool = False

    @property
    def is_broken(self) -> bool:
        """The tool has not come to its end, so what it would have said is not known."""
        return any(remark.key.startswith(BROKEN) for remark in self.remarks)


Reader = Callable[[str], Iterator[ToolRemark | str]]  # a plain text is what the tool could not look at


def read(reader: Reader, output: str, end: str, code: int) -> Reading:
    """Never raises. A tool that ends badly without a word that can be read has said at least that."""
    if end != "exited":
        return Reading(unable=f"it was ended: {one_line(end)}", is_blind=True)
    if code == ABSENT:
        return Reading(unable="it is not installed", is_blind=True)
    return gathered(reader(output), output, code)


def gathered(told: Iterator[ToolRemark | str], output: str = "", code: int = 0) -> Reading:
    """What is told, as values of limited size. Never raises."""
    found: list[ToolRemark | str] = []
    try:
        found += islice(told, MOST)
        more = [f"it says more than {MOST} things"] if next(told, None) else []
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        found.append(_broken(output, code))
        more = []
    if code and not found:
        found.append(_broken(output, code))
    remarks = (ToolRemark(one_line(one.key), one_line(one.text)) for one in found if isinstance(one, ToolRemark))
    return Reading(tuple(remarks), next((one_line(one) for one in [*found, *more] if isinstance(one, str)), ""))


def _broken(output: str, code: int) -> ToolRemark:
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["it says nothing"]
    last = next((line for line in lines if line.lower().startswith("error")), lines[-1])
    return ToolRemark(f"{BROKEN}{_stable(last)}", f"it ends with {code}: {last}")


def _stable(text: str) -> str:
    return NUMBERS.sub("", one_line(text, LONGEST))


# --- readers --------------------------------------------------------------------------------------------------


def gcc(output: str) -> Iterator[ToolRemark | str]:
    """`path:3:5: warning: text [CODE]`. A form that a file has already is known there: the key has no line."""
    for line in output.splitlines():
        if found := GCC.fullmatch(line.strip()):
            code = found["text"].rpartition("[")[2].rstrip("]")
            yield ToolRemark(f"{found['path']} {code}", line.strip())


def hadolint(output: str) -> Iterator[ToolRemark | str]:
    """`path:3 CODE warning: text`, or `path:3:1 unexpected …`. Its hints and matters of style are left out."""
    for line in output.splitlines():
        if found := HADOLINT.fullmatch(line.strip()):
            yield ToolRemark(f"{found['path']} {found['code'] or found['text']}", line.strip())


def under(output: str) -> Iterator[ToolRemark | str]:
    """`path: line 3: text`, as a shell complains."""
    for line in output.splitlines():
        if found := UNDER.fullmatch(line.strip()):
            yield ToolRemark(f"{found['path']} {found['text']}", line.strip())


def mypy(output: str) -> Iterator[ToolRemark | str]:
    """`path:3: error: text  [code]`. Lines that stand in a text move; what it says of a name stays the same."""
    for line in output.splitlines():
        found = MYPY.fullmatch(line.strip())
        if found and found["code"] not in OF_PLACE:
            yield ToolRemark(f"{found['path']} {_stable(found['text'])}", line.strip())


def ruff(output: str) -> Iterator[ToolRemark | str]:
    """`path:3:5: CODE text`, as the repository's own configuration has it."""
    for line in output.splitlines():
        if found := RUFF.fullmatch(line.strip()):
            yield ToolRemark(f"{found['path']} {_stable(found['text'])}", line.strip())


def nothing(_output: str) -> Iterator[ToolRemark | str]:
    """A tool whose exit code is its answer."""
    yield from ()


def pip(output: str) -> Iterator[ToolRemark | str]:
    """`ERROR: text`, below a line of ours that names the file, or says that no index is offered."""
    file, is_offered = "", True
    for line in output.splitlines():
        is_offered = is_offered and line != "== no packages"
        file = line[3:] if line.startswith("== ") and line != "== no packages" else file
        told = line.removeprefix("ERROR: ")
        if told != line and not is_offered and UNREACHED.search(told):
            yield f"{file}: no package index is offered in the box (`packages:` of the target names a folder)"
        elif told != line and "from versions" not in told and "for help visit" not in told:
            yield ToolRemark(f"{file} {_stable(told)}", f"{file}: {told}")


def compose(output: str) -> Iterator[ToolRemark | str]:
    """The last line that compose says of a file, below a line of ours that names it."""
    for part in output.split("== ")[1:]:
        file, _, said = part.partition("\n")
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        if lines and UNGIVEN.search(lines[-1]):
            yield f"{file}: {lines[-1]}"
        elif lines:
            yield ToolRemark(f"{file} {_stable(lines[-1])}", f"{file}: {lines[-1]}")


def workflow(tool: str, output: str) -> Iterator[ToolRemark | str]:
    """Answer of a linter of workflows. A form of risk that a file has already is known there."""
    for row in rows(tool, json.loads(output)):
        yield ToolRemark(f"{row.path} {row.rule}", f"{row.path}:{row.line}: {row.text}")


def django(output: str) -> Iterator[ToolRemark | str]:
    """Lines of inside/gate_django.py among those of the target."""
    ended = False
    for line in output.splitlines():
        mine = line.removeprefix(DJANGO)
        if mine == line:
            continue
        row: Any = json.loads(mine)
        ended = ended or "end" in row
        if "unable" in row:
            yield str(row["unable"])
        elif "key" in row:
            yield ToolRemark(_stable(str(row["key"])), str(row["text"]))
    if not ended:
        yield _broken(output, 1)
