"""openapi.json held against what a board answers: no word may be missing there, and none too much."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from bench.openapi import description

TOLD: dict[str, Any] = json.loads(description())


def closed(schema: Any) -> Any:
    """The same schema, by which nothing else may be said."""
    if isinstance(schema, dict):
        more = {"additionalProperties": False} if "properties" in schema else {}
        return {**{name: closed(one) for name, one in schema.items()}, **more}
    return list(map(closed, schema)) if isinstance(schema, list) else schema


CLOSED: dict[str, Any] = closed(TOLD["components"]["schemas"])


def shape(method: str, path: str, status: int = 200) -> Any:
    """What is told of the JSON that is answered there; None: nothing is, or it is no JSON. `path`: as it was asked."""
    path = path.partition("?")[0]
    for address, methods in TOLD["paths"].items():
        if method in methods and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", address), path):
            content = methods[method]["responses"].get(str(status), {}).get("content", {})
            return content.get("application/json", {}).get("schema")
    return None


class DescribedClient(TestClient):
    """Asks a board, and compares whatever it answers with what is told of that."""

    def request(self, method: str, *about: Any, **more: Any) -> Any:
        answer = super().request(method, *about, **more)
        if (told := shape(method.lower(), answer.request.url.path, answer.status_code)) is not None:
            assert list(wrong(told, answer.json())) == [], f"{method} {answer.request.url.path} is told otherwise"
        return answer


def wrong(told: Any, answer: Any, schemas: dict[str, Any] = CLOSED) -> Iterator[str]:
    """Yield what an answer says against its shape."""
    schema = {**closed(told), "components": {"schemas": schemas}}
    for one in Draft202012Validator(schema).iter_errors(answer):
        yield f"{one.json_path}: {one.message[:300]}"
