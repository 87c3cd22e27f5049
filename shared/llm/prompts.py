"""Prompt files, and how they are filled.

A prompt is two files beside its agent, `<agent>/prompts/<name>.system.md` and `<name>.user.md`. The first has no
holes: it is the stable prefix that a cache can keep. The second has named holes ($goals) which are filled strictly:
a missing hole and one too many are both errors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Protocol, TypeVar
from unicodedata import category

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.text import visible
from sisimpur.shared.model.work import Run
from sisimpur.shared.system.paths import read_text

NAME = re.compile(r"([a-z_]+)/([a-z_]+)")
LABEL = re.compile(r"[a-z0-9 _-]{0,40}")

T = TypeVar("T")


@dataclass(frozen=True)
class Prompt:
    """Prompt: what a model is told of who it is and how it works, and what it is about this time."""

    system: str
    user: str


class Asker(Protocol):
    """Anything that answers a prompt in the form that is asked for."""

    def ask(self, run: Run, system: str, user: str, answer: type[T], kept: Sequence[int] = (), least: int = 0) -> T:
        """`kept`: see LlmClient.ask, which is the one that asks a model; its errors, too."""


class Prompts:
    def __init__(self, agents_folder: Path) -> None:
        self._agents = agents_folder

    def render(self, name: str, **holes: str) -> Prompt:
        """Fill `<agent>/<prompt>`, e.g. planner/plan. Misconfigured if a file or a hole is missing or unknown."""
        system, user = self._read(name, "system"), self._read(name, "user")
        _check_holes(f"{name}.system.md", system, set())
        _check_holes(f"{name}.user.md", user, set(holes))
        return Prompt(Template(system).substitute(), Template(user).substitute(holes))

    def _read(self, name: str, part: str) -> str:
        if not (found := NAME.fullmatch(name)):
            raise Misconfigured(f"{name!r} is no name of a prompt; write <agent>/<prompt> in small letters")
        path = self._agents / found[1] / "prompts" / f"{found[2]}.{part}.md"
        try:
            return read_text(path).strip() + "\n"
        except FileNotFoundError:
            raise Misconfigured(f"the prompt {path} is missing; take it from the repository again") from None


def _check_holes(file: str, text: str, given: set[str]) -> None:
    template = Template(text)
    if not template.is_valid():
        raise Misconfigured(f"{file}: a lone $; write $$ for a dollar sign")
    wanted = set(template.get_identifiers())
    if wanted != given:
        missing, unknown = sorted(given - wanted), sorted(wanted - given)
        raise Misconfigured(f"{file}: holes missing: {missing or 'none'}, holes that nobody fills: {unknown or 'none'}")


def quoted(text: str, label: str = "data") -> str:
    """A block for text from outside. Its fence is longer than any run of backticks in the text: nothing closes it.

    What nobody sees is taken out, and told, by the meter: of every request, also the engine's.
    """
    if not LABEL.fullmatch(label):
        raise ValueError(f"not a label: {label!r}")
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    body = "".join("\ufffd" if c not in "\n\t" and category(c) in ("Cc", "Cs") else c for c in lines).strip("\n")
    longest = max((len(run) for run in re.findall("`+", visible(body))), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{label}\n{body or '(nothing)'}\n{fence}"
