"""The settings' types -> docs/configuration.md (python -m bench.reference > docs/configuration.md)."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from sisimpur.shared.config.settings import SECRETS, SchedulesFile, TargetFile
from sisimpur.shared.config.settings_agents import AgentsFile
from sisimpur.shared.config.settings_board import BoardFile
from sisimpur.shared.config.settings_policy import PolicyFile
from sisimpur.shared.money.token_budget import as_dollars

FILES: dict[str, type[BaseModel]] = {
    "config/agents.yaml": AgentsFile,
    "config/policy.yaml": PolicyFile,
    "config/schedules.yaml": SchedulesFile,
    "config/board.yaml": BoardFile,
    "config/targets/<name>.yaml": TargetFile,
}


def reference() -> str:
    """Return every field with its meaning and default, as Markdown."""
    parts = ["# Configuration", INTRODUCTION]
    for name, model in FILES.items():
        rows = "\n".join(_rows(model, ""))
        parts.append(f"## `{name}`\n\n| field | meaning | default |\n|---|---|---|\n{rows}")
    parts.append("## `config/.env`\n\n" + "\n".join(f"- `{name}`" for name in SECRETS))
    return "\n\n".join(parts) + "\n"


INTRODUCTION = (
    "Generated from the program's own types. An error in one of these files names file, line and key; unknown and "
    "duplicate keys, anchors and aliases are refused. Amounts are dollars; times are those of `time_zone`."
)


def _meanings(model: type[BaseModel]) -> dict[str, str]:
    """Return the sentence below each field in the source. Every start would pay for it if pydantic read them."""
    found: dict[str, str] = {}
    for part in reversed(model.__mro__[: model.__mro__.index(BaseModel)]):
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(part))).body
        assert isinstance(definition, ast.ClassDef)
        for field, below in pairwise(definition.body):
            match field, below:
                case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(words))):
                    found[name] = inspect.cleandoc(words)
    return found


def _rows(model: type[BaseModel], prefix: str) -> Iterator[str]:
    meanings = _meanings(model)
    for name, field in model.model_fields.items():
        below = list(_below(field.annotation))
        if field.annotation not in [inner for inner, _ in below]:
            default = _default(name, field.get_default(call_default_factory=True))
            yield f"| `{prefix}{name}` | {meanings.get(name)} | {default} |"
        for inner, step in below:
            yield from _rows(inner, f"{prefix}{name}{step}.")


def _below(annotation: Any, step: str = "") -> Iterator[tuple[type[BaseModel], str]]:
    """Yield the models in a field, and the step to each: `[]` in a list, `.<name>` in a mapping."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, step
    step += {tuple: "[]", Mapping: ".<name>"}.get(get_origin(annotation), "")
    for part in get_args(annotation):
        yield from _below(part, step)


def _default(name: str, value: Any) -> str:
    if value is PydanticUndefined:
        return "(required)"
    if name in ("task", "day", "month"):
        return as_dollars(value)
    if isinstance(value, tuple):
        return "`[" + ", ".join(map(str, value)) + "]`"
    return f"`{value}`" if value not in ("", {}, None) else "(empty)"


if __name__ == "__main__":
    print(reference(), end="")
