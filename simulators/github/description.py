"""GitHub's own description of its API (github-contract.json)."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sisimpur.shared.system.paths import read_text

Json = Any
FILE = Path(__file__).with_name("github-contract.json")
DEEPEST = 6
SOME_TIME = "2026-01-01T00:00:00Z"
NOTHINGS: Mapping[str, Json] = {"array": (), "integer": 0, "number": 0, "boolean": False}


@functools.cache
def read() -> Mapping[str, Json]:
    """The description, read once in a process. Nobody may change it."""
    document: Mapping[str, Json] = json.loads(read_text(FILE, limit=1_000_000))
    return document


class Answers:
    """Answers made from GitHub's response schemas: all required fields first, what we know on top.

    A field that GitHub begins to require appears as soon as the description is cut anew. `base`: the address that
    links begin with; clients refuse to follow others.
    """

    def __init__(self, base: str) -> None:
        self.base = base
        self._document = read()

    def make(self, schema: str, **known: Json) -> dict[str, Json]:
        """An object of components/schemas."""
        made: dict[str, Json] = self._fill({"$ref": f"#/components/schemas/{schema}"}, known, 0)
        return made

    def resolve(self, node: Mapping[str, Json]) -> Mapping[str, Json]:
        while "$ref" in node:
            _, _, kind, name = node["$ref"].split("/")
            node = self._document["components"][kind][name]
        return node

    def _fill(self, schema: Mapping[str, Json], known: Mapping[str, Json], depth: int) -> Json:
        whole = self.resolve(schema)
        if "properties" in whole or whole.get("type") == "object":
            return self._object(whole, known, depth)
        if "allOf" in whole:
            return {key: value for part in whole["allOf"] for key, value in self._fill(part, known, depth).items()}
        for kind in ("oneOf", "anyOf"):
            if kind in whole:
                objects = [part for part in whole[kind] if self.resolve(part).get("type") == "object"]
                return self._fill((objects or whole[kind])[0], known, depth)
        return known

    def _object(self, schema: Mapping[str, Json], known: Mapping[str, Json], depth: int) -> dict[str, Json]:
        result = dict(known)
        for name, part in schema.get("properties", {}).items():
            if isinstance(known.get(name), dict):
                result[name] = self._fill(part, known[name], depth + 1)
            elif name not in known and name in schema.get("required", ()):
                result[name] = self._some(name, part, depth + 1)
        return result

    def _some(self, name: str, schema: Mapping[str, Json], depth: int) -> Json:
        """The emptiest value that the schema allows."""
        whole = self.resolve(schema)
        if whole.get("nullable") or None in whole.get("enum", ()):
            return None
        if "enum" in whole:
            return whole["enum"][0]
        kind = whole.get("type", "object")
        if kind == "object":
            return self._fill(schema, {}, depth) if depth < DEEPEST else {}
        return self._some_text(name, whole) if kind == "string" else NOTHINGS[kind]

    def _some_text(self, name: str, schema: Mapping[str, Json]) -> str:
        if schema.get("format") == "date-time":
            return SOME_TIME
        if schema.get("format") == "uri" or name == "url" or name.endswith("_url"):
            return f"{self.base}/x/{name}"
        return ""
