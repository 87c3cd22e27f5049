"""What the board answers, in TypeScript (python -m bench.page_types > web/pages/src/api/types.ts)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bench.openapi import description
from sisimpur.web.api.base.board_openapi import answer_names

HEAD = """/* What the board answers. Made of docs/openapi.json, and never by hand; anew:
   python -m bench.page_types > web/pages/src/api/types.ts */
"""
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
BESIDE = {"title", "description", "default", "pattern", "minLength", "maxLength"}  # says nothing of the type


class UnknownSchema(ValueError):
    """The description says something for which there is no type here yet."""


def types(description: Mapping[str, Any]) -> str:
    """Return all that answers are made of, by name."""
    schemas = description["components"]["schemas"]
    return HEAD + "".join(f"\n{declared(name, schemas[name])}" for name in answer_names(description))


def declared(name: str, schema: Mapping[str, Any]) -> str:
    """A class is an interface; what has a name and is none, as a choice of words, is a type."""
    if "properties" not in schema:
        return f"export type {name} = {typed(schema)};\n"
    required = schema.get("required", ())
    keys = [f"  {key}{'' if key in required else '?'}: {typed(one)};" for key, one in schema["properties"].items()]
    return "\n".join([f"export interface {name} {{", *keys, "}\n"])


def typed(schema: Mapping[str, Any]) -> str:
    """Return the type of a value. UnknownSchema: it is none of these; nothing becomes `any`."""
    said = {word: value for word, value in schema.items() if word not in BESIDE}
    match sorted(said), said.get("type"):
        case ["$ref"], _:
            return str(said["$ref"]).rpartition("/")[2]
        case ["anyOf"], _:
            return " | ".join(dict.fromkeys(map(typed, said["anyOf"])))
        case ["const"] | ["const", "type"], _:
            return json.dumps(said["const"])
        case ["enum"] | ["enum", "type"], _:
            return " | ".join(map(json.dumps, said["enum"]))
        case ["items", "type"], "array":
            return f"({one})[]" if " " in (one := typed(said["items"])) else f"{one}[]"
        case ["additionalProperties", "type"], "object":
            return f"Record<string, {_of(said)}>"
        case ["additionalProperties", "propertyNames", "type"], "object":
            return f"Partial<Record<{typed(said['propertyNames'])}, {_of(said)}>>"
        case ["type"], str(name) if name in PLAIN:
            return PLAIN[name]
        case [], _:
            return "unknown"
    raise UnknownSchema(json.dumps(schema))


def _of(record: Mapping[str, Any]) -> str:
    """Return the type of what stands below each of its names."""
    said = record["additionalProperties"]
    return typed({} if said is True else said or {"additionalProperties": said})


if __name__ == "__main__":
    print(types(json.loads(description())), end="")
