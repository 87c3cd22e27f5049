"""The settings' own types -> every field with its meaning and default. What it is generated from is the source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from sisimpur.shared.config.settings import SchedulesFile, TargetFile
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
# What pages may change: in these files alone, and what costs more or merges more only if it is said twice.
ON_PAGES = ("config/agents.yaml", "config/policy.yaml", "config/schedules.yaml")
GRAVE = ("budget.", "merge.", "approve.", "research.search_price")


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


@dataclass(frozen=True)
class SettingRow:
    """One field. `default`: as it is written in the reference. `form`: its JSON schema, if a page may change such."""

    key: str
    meaning: str
    default: str
    form: Mapping[str, Any] | None


@cache
def setting_rows(model: type[BaseModel]) -> tuple[SettingRow, ...]:
    """Return each field of a file, with those below it: `[]` of a list, `.<name>` of a mapping."""
    return tuple(_rows(model, ""))


def _rows(model: type[BaseModel], prefix: str) -> Iterator[SettingRow]:
    meanings, schemas = _meanings(model), model.model_json_schema()["properties"]
    for name, field in model.model_fields.items():
        below = list(_below(field.annotation))
        if field.annotation not in [inner for inner, _ in below]:
            default = _default(name, field.get_default(call_default_factory=True))
            form = None if set(prefix) & {"[", "<"} else _form(schemas[name])
            yield SettingRow(f"{prefix}{name}", meanings.get(name, ""), default, form)
        for inner, step in below:
            yield from _rows(inner, f"{prefix}{name}{step}.")


def _form(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """None: it is no single value, or it is changed by hand alone (settings_part)."""
    choices = [one for one in schema.get("anyOf", (schema,)) if one.get("type") != "null"]
    one = {**choices[0], **{name: word for name, word in schema.items() if name == "form"}}
    is_single = len(choices) == 1 and one.get("type") in ("boolean", "integer", "number", "string")
    if not (is_single and one.get("form", "enum" in one or one["type"] != "string")):
        return None
    told = {name: word for name, word in one.items() if name not in ("form", "title", "default")}
    return told | ({"optional": True} if "anyOf" in schema else {})


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
