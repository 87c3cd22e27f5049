"""What stands in a prompt: lines without their numbers and marks, files as they are shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bench.goals.goals import Goal, Need
from sisimpur.simulators.model.request import Request, text_of

NUMBERED = re.compile(r"^\s*(\d+)(?:\s?[|+:<>-]|\s)\s?(.*)$")
PLACED = re.compile(r"^\s*(?:[-*]\s+)?`?([\w@.+/-]+):(\d+):?`?\s+(.*)$")  # path:12: text
MARKED = re.compile(r"^[-+]\s?(.*)$")
TICKED = re.compile(r"`([^`\n]+)`")
FILE = re.compile(
    r"^(?P<path>[\w@.+/-]+)\n(?P<fence>`{3,}|<(?P<tag>\w+)>)\w*\n(?P<text>.*?)^(?:(?P=fence)|</(?P=tag)>)$",
    re.MULTILINE | re.DOTALL,
)
READ_ONLY = ("Here are some READ ONLY files", "These files are for reading only")
SMALL = 20_000  # bytes: a file that a goal names and that is no longer should be whole in the planner's prompt


def normal(line: str) -> str:
    """A line with its blanks collapsed."""
    return " ".join(line.split())


def is_test(path: str) -> bool:
    return "test" in path


@dataclass(frozen=True)
class Sight:
    """A prompt as a reader sees it. `editable`: files that it shows to be changed, whole."""

    system: str
    user: str
    form: Mapping[str, Any]
    editable: Mapping[str, str] = field(default_factory=dict)
    fence: tuple[str, str] = ("```", "```")

    @classmethod
    def of(cls, request: Request) -> Sight:
        texts = [text_of(message.content) for message in request.messages if message.role == "user"]
        shown = [found for text in texts if not text.startswith(READ_ONLY) for found in FILE.finditer(text)]
        fence = shown[0]["fence"] if shown else "```"
        files: dict[str, str] = {}
        for found in shown:  # a part that was asked for stands behind what is shown of its file
            before = files.get(found["path"], "")
            files[found["path"]] = f"{before}⋮\n{found['text']}" if before else found["text"]
        closing = fence.replace("<", "</")
        return cls(request.system_text, "\n".join(texts), request.form, files, (fence, closing))

    @property
    def text(self) -> str:
        return f"{self.system}\n{self.user}"

    @cached_property
    def lines(self) -> frozenset[str]:
        """Every line of the prompt, as it stands and without what a listing puts in front."""
        return frozenset(normal(one) for line in self.user.splitlines() for one in _readings(line))

    def sees(self, path: str, line: str) -> bool:
        return path in self.user and normal(line) in self.lines

    def names(self, path: str) -> bool:
        """Whether a file is named here: by its whole path, or in the map below its folder."""
        folder, _, name = path.rpartition("/")
        inside = re.search(rf"^{re.escape(folder or '.')}/\n((?:  .*\n?)+)", self.user, re.MULTILINE)
        listed = re.findall(r"(?:^  |, )([^\s,:]+)(?= \(|,|$)", inside[1], re.MULTILINE) if inside else []
        return path in self.user or name in listed

    def missing(self, goal: Goal) -> tuple[Need, ...]:
        """The lines that a goal needs and that do not stand here."""
        return tuple(need for need, line in goal.lines.items() if not self.sees(need.path, line))

    def number(self, goal: Goal, need: Need) -> int:
        """The line's number as it is shown, or else as a reader counts it in the file."""
        wanted = normal(goal.lines[need])
        for line in self.user.splitlines():
            placed, numbered = PLACED.match(line), NUMBERED.match(line)
            if placed and placed[1] == need.path and normal(placed[3]) == wanted:
                return int(placed[2])
            if numbered and normal(numbered[2]) == wanted:
                return int(numbered[1])
        return (goal.tree / need.path).read_text("utf-8").splitlines().index(goal.lines[need]) + 1

    def is_whole(self, text: str) -> bool:
        """Whether every line of a file stands here."""
        return all(normal(line) in self.lines for line in text.splitlines() if line.strip())


def _readings(line: str) -> Iterator[str]:
    yield line
    yield from TICKED.findall(line)
    for pattern, group in ((NUMBERED, 2), (PLACED, 3), (MARKED, 1)):
        if found := pattern.match(line):
            yield found[group]


def named_small(goal: Goal) -> dict[str, str]:
    """The files under 20 kB that the goal's words name, by path or by name, and what stands in them."""
    words = {word.strip(".,:;()'\"`") for word in re.split(r"[\s,]+", goal.words)}
    words |= {word.split("::")[0] for word in words}
    found = {}
    for path in sorted(one for one in goal.tree.rglob("*") if one.is_file() and one.suffix != ".pyc"):
        inside = path.relative_to(goal.tree).as_posix()
        if {inside, path.name} & words and path.stat().st_size < SMALL:
            found[inside] = path.read_text("utf-8")
    return found


# --- answers in a form ----------------------------------------------------------------------------------------


def filled(schema: Mapping[str, Any], wanted: Any, top: Mapping[str, Any] | None = None) -> Any:
    """An answer that fits a JSON schema: what is wanted where the schema knows it, and else as little as it takes."""
    top = top if top is not None else schema
    if reference := schema.get("$ref"):
        return filled(top["$defs"][reference.rpartition("/")[2]], wanted, top)
    if choices := schema.get("anyOf") or schema.get("allOf"):
        return _chosen(choices, wanted, top)
    if "const" in schema:
        return schema["const"]
    if names := schema.get("enum"):
        return wanted if wanted in names else names[0]
    match schema.get("type"):
        case "object":
            given = wanted if isinstance(wanted, Mapping) else {}
            return {name: filled(part, given.get(name), top) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [filled(schema.get("items", {}), one, top) for one in wanted or ()]
        case kind:
            return _plain(kind, wanted)


def _chosen(choices: Sequence[Mapping[str, Any]], wanted: Any, top: Mapping[str, Any]) -> Any:
    """`null` where nothing is wanted and it may be."""
    if wanted is None and any(one.get("type") == "null" for one in choices):
        return None
    return filled(next(one for one in choices if one.get("type") != "null"), wanted, top)


def _plain(kind: object, wanted: Any) -> Any:
    empty: Mapping[object, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}
    nothing = empty.get(kind)
    if kind == "number" and isinstance(wanted, int | float):
        return wanted
    return wanted if nothing is not None and isinstance(wanted, type(nothing)) else nothing
