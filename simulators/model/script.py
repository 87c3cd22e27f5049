"""Scripts: which step answers a call.

A rule is a set of conditions; the steps that share it are its answers, in the order of the file. A call belongs to the
rule with the most conditions that all fit, the first in the file among equals, whether or not that rule has an answer
left. So what a call gets depends on its content and on earlier calls of its own rule, never on other calls in between.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system import strict_yaml
from sisimpur.shared.system.paths import read_text
from sisimpur.simulators.model.request import Request
from sisimpur.simulators.model.steps import PlacedStep, Step

MAX_STEPS = 2_000
ENGINE = re.compile(r"SEARCH/REPLACE")  # Aider's system prompt explains its edit blocks
TELLING = re.compile(r"g-[0-9a-f]{6} |p-[0-9a-f]{6} |Task \S+: ")  # a goal, or the task's title
AIDERS_OWN = ("I have *added these files", "Here are some READ ONLY files", "Here are summaries of some files")
END_OF_AIDERS_EXAMPLES = "I switched to a new code base."
ROLE = re.compile(r"\s*You are the ([A-Za-z][\w -]*?)(?: of\b|[.,:\n]|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Asked:
    """What a request says, as far as a script can look at it."""

    model: str
    system: str
    user: str  # the last user message
    said: str  # all user messages, without the examples and files that Aider adds to the task
    form: Mapping[str, Any]  # the JSON schema of the answer; empty: free text

    @classmethod
    def by(cls, request: Request) -> Asked:
        texts = request.user_texts
        return cls(request.model, request.system_text, texts[-1], "\n".join(_own_words(texts)), request.form)

    @property
    def agent(self) -> str:
        """Our guess, for messages."""
        role = ROLE.match(self.system)
        return role.group(1).lower() if role else "engine" if ENGINE.search(self.system) else "unknown agent"

    @property
    def summary(self) -> str:
        """One line that tells the owner which call this was."""
        lines = [line.strip() for line in self.user.splitlines() if line.strip()]
        first = next((line for line in lines if TELLING.match(line)), next(iter(lines), ""))
        form = f", form {self.form.get('title', 'without a title')}" if self.form else ""
        return f"{self.agent} ({self.model}{form}): {first[:100]!r}"


def _own_words(texts: Sequence[str]) -> Sequence[str]:
    """Aider's examples speak of hello() and factorial(): a step for a task of that name must not fit every call."""
    begins = max((n + 1 for n, text in enumerate(texts) if text.startswith(END_OF_AIDERS_EXAMPLES)), default=0)
    return [text for text in texts[begins:] if not text.startswith(AIDERS_OWN)]


def fits(step: Step, call: Asked) -> bool:
    when = step.when
    searched = ((step.task, call.said), (when.system, call.system), (when.user, call.user), (when.model, call.model))
    if any(pattern and not pattern.search(text) for pattern, text in searched):
        return False
    if when.schema and when.schema != call.form.get("title") and when.schema not in call.form.get("properties", {}):
        return False
    return not step.agent or _is_from(step.agent.lower(), call)


def _is_from(agent: str, call: Asked) -> bool:
    if agent == "engine":
        return bool(ENGINE.search(call.system))
    return re.match(rf"\s*You are the {re.escape(agent)}\b", call.system, re.IGNORECASE) is not None


class _Rule:
    """The steps with one set of conditions, and how many calls they have answered."""

    def __init__(self, steps: Sequence[PlacedStep]) -> None:
        self.first = steps[0]
        self.weight = sum(1 for condition in self.first.conditions if condition)
        self._at: dict[int, PlacedStep] = {}
        self._rest: PlacedStep | None = None
        self._calls = 0
        for step in sorted(steps, key=lambda step: not step.call):  # those that name their call take it first
            self._place(step)

    def _place(self, step: PlacedStep) -> None:
        if self._rest:
            raise Misconfigured(f"{step.where}: never reached, {self._rest.where} answers any number of calls")
        if step.call in self._at:
            raise Misconfigured(f"{step.where}: call {step.call} is answered by {self._at[step.call].where}")
        if step.times == "any":
            self._rest = step
            return
        for _ in range(step.times):
            free = next(number for number in range(1, len(self._at) + 2) if number not in self._at)
            self._at[step.call or free] = step

    def next(self) -> PlacedStep | None:
        self._calls += 1
        return self._at.get(self._calls, self._rest)


class Script:
    """Which step answers a call. It remembers how many calls each rule has had."""

    def __init__(self, steps: Sequence[PlacedStep], name: str = "script") -> None:
        self.name = name
        groups: dict[tuple[Any, ...], list[PlacedStep]] = {}
        for step in steps:
            groups.setdefault(step.conditions, []).append(step)
        rules = [_Rule(group) for group in groups.values()]
        self._rules = sorted(rules, key=lambda rule: -rule.weight)  # stable: the file's order among equals

    def answer(self, call: Asked) -> PlacedStep | str:
        """The step, or why there is none."""
        rule = next((rule for rule in self._rules if fits(rule.first, call)), None)
        if rule is None:
            return f"{self.name} has no step for this call of {call.summary}"
        return rule.next() or f"the step at {rule.first.where} has no answer left for this call of {call.summary}"


def read_script(path: Path) -> Script:
    """A script file, or Misconfigured naming file and line."""
    try:
        text = read_text(path, strict_yaml.MAX_BYTES)
    except OSError as error:
        raise Misconfigured(f"the script {path} cannot be read ({error.strerror}); name another") from None
    document = strict_yaml.parse(text, path.name)
    return _script(document, path.parent)


def script_of(steps: Sequence[Mapping[str, Any]], folder: Path | None = None) -> Script:
    """The same as values: each mapping is a step as it stands in a file. `folder` is where text files lie."""
    return _script(strict_yaml.Document("script", list(steps)), folder or Path())


def _script(document: strict_yaml.Document, folder: Path) -> Script:
    if not isinstance(document.value, list) or len(document.value) > MAX_STEPS:
        raise Misconfigured(
            f"{document.name}: a script is a list of at most {MAX_STEPS} steps, each beginning with '- '"
        )
    steps = document.as_type(list[Step])
    return Script([_placed(step, _where(document, n), folder) for n, step in enumerate(steps)], document.name)


def _where(document: strict_yaml.Document, number: int) -> str:
    line = document.lines.get((number,))
    return f"{document.name}:{line}" if line else f"{document.name}, step {number + 1}"


def _placed(step: Step, where: str, folder: Path) -> PlacedStep:
    values = vars(step) | {"where": where}
    if step.text_file:
        values |= {"text": _read(folder / step.text_file, where), "text_file": ""}
    return PlacedStep(**values)


def _read(path: Path, where: str) -> str:
    try:
        return read_text(path)
    except OSError as error:
        raise Misconfigured(f"{where}: text_file {path.name} cannot be read ({error.strerror})") from None
