"""Whether an exchange with GitHub is one: each is checked against GitHub's own description of its API.

`Contract().observe` is what a LocalGitHub is given; `violations` must be empty when a test ends. It notices a path or
verb that does not exist, unknown or ill-typed query parameters and body keys, and answers that lack a required field or
have one of the wrong type. What no schema can notice (an optional key forgotten, a wrong free text) is for the server,
which keeps state and refuses.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from openapi_schema_validator import OAS30Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4

from sisimpur.simulators.github import description
from sisimpur.simulators.github.local_github import Exchange

Json = Any
URI = "urn:github"
MANY_SEGMENTS = {"ref", "path", "branch", "basehead"}  # GitHub marks some of them "x-multi-segment", not all

# Refusals that GitHub gives and that its description does not list: by (operation, status), or everywhere.
EVERYWHERE = {
    (401, "Requires authentication"),
    (401, "Bad credentials"),
    (403, "Resource not accessible by personal access token"),
    (403, "Must have admin rights to Repository."),
    (404, "Not Found"),
    (304, ""),
}
UNLISTED = {
    ("checks/create", 403): "You must authenticate via a GitHub App.",
    ("checks/list-for-ref", 422): "No commit found for SHA",
    ("repos/get-combined-status-for-ref", 422): "No commit found for SHA",
    ("repos/list-commit-statuses-for-ref", 422): "No commit found for SHA",
    ("repos/create-commit-status", 422): "",
}


def _graphql(query: str, **variables: Json) -> Json:
    def closed(**parts: Json) -> Json:
        return {"type": "object", "required": list(parts), "additionalProperties": False, "properties": parts}

    return closed(query={"type": "string", "pattern": query}, variables=closed(**variables))


READY = {
    "type": "object",
    "required": ["pullRequestId"],
    "additionalProperties": False,
    "properties": {"pullRequestId": {"type": "string"}, "clientMutationId": {"type": "string"}},
}
IDS = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 100}
COMMENT = r"^query\(\$ids: \[ID!\]!\) \{ nodes\(ids: \$ids\) \{ \.\.\. on Comment \{ lastEditedAt \} \} \}$"
ISSUE = r"^query\(\$ids: \[ID!\]!\) \{ nodes\(ids: \$ids\) \{ \.\.\. on Issue \{ lastEditedAt editor .* \} \} \}$"
GRAPHQL = {
    "oneOf": [
        _graphql("^mutation Mutation.*markPullRequestReadyForReview", input=READY),
        _graphql(COMMENT, ids=IDS),
        _graphql(ISSUE, ids=IDS),
    ]
}


@dataclass(frozen=True)
class Operation:
    method: str
    path: re.Pattern[str]
    order: tuple[int, int]
    described: Mapping[str, Json]

    @property
    def name(self) -> str:
        return str(self.described["operationId"])


class Contract:
    def __init__(self) -> None:
        self.violations: list[str] = []
        self.judged = 0

    def observe(self, exchange: Exchange) -> None:
        self.judged += 1
        said = f"{exchange.method} {exchange.path} -> {exchange.status}"
        self.violations += [f"{said}: {complaint}" for complaint in complaints(exchange)]


def complaints(exchange: Exchange) -> list[str]:
    """In plain words; none: GitHub's description allows it. git over HTTP is not part of that description."""
    if exchange.route.startswith("/{r}.git/"):
        return []
    if exchange.path == "/graphql":
        return [] if exchange.status == 401 else _errors(GRAPHQL, exchange.body, "body")
    operation = _operation(exchange.method, exchange.path)
    if operation is None:
        return ["no such operation in GitHub's description"]
    asked = [*_query(operation, exchange.query), *_body(operation, exchange.body)]
    return [*asked, *_answer(operation, exchange)] if exchange.worked else asked


# --- one exchange --------------------------------------------------------------------------------------------


def _query(operation: Operation, query: Mapping[str, str]) -> Iterator[str]:
    parameters = [_resolved(p) for p in operation.described.get("parameters", [])]
    known = {p["name"]: p.get("schema", {}) for p in parameters if p["in"] == "query"}
    for name, text in query.items():
        if name not in known:
            yield f"query {name}: unknown to {operation.name}"
        else:
            yield from _errors(known[name], _typed(known[name], text), f"query {name}")


def _typed(schema: Mapping[str, Json], text: str) -> Json:
    kind = _resolved(schema).get("type")
    if kind == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text) if kind == "boolean" else text


def _body(operation: Operation, body: Json) -> Iterator[str]:
    if "requestBody" not in operation.described:
        if body not in (None, {}, []):
            yield "body: none expected"
        return
    described = _resolved(operation.described["requestBody"])
    schema = described.get("content", {}).get("application/json", {}).get("schema", {})
    if body is None:
        if described.get("required"):
            yield "body: required"
        return
    yield from _errors(schema, body, "body")
    # GitHub ignores unknown keys without a word, so a misspelt one would pass unnoticed.
    flat = _resolved(schema)
    if isinstance(body, dict) and flat.get("properties") and not {"oneOf", "anyOf"} & set(flat):
        yield from (f"body {key}: unknown property" for key in body if key not in flat["properties"])


def _answer(operation: Operation, exchange: Exchange) -> list[str]:
    described, status = operation.described["responses"], exchange.status
    said = exchange.answer.get("message", "") if isinstance(exchange.answer, dict) else ""
    if str(status) not in described or status == 304:
        unlisted = UNLISTED.get((operation.name, status))
        known = (status, said) in EVERYWHERE or (unlisted is not None and said.startswith(unlisted))
        return [] if known else [f"status {status} is not described for {operation.name}: {said[:100]}"]
    content = _resolved(described[str(status)]).get("content")
    if not content:
        return [] if exchange.answer in (None, "") or status >= 400 else [f"a body was given for {status}"]
    if isinstance(exchange.answer, str):
        return [] if "diff" in exchange.headers.get("content-type", "") else ["text instead of JSON"]
    schema = content.get("application/json", {}).get("schema")
    return [] if schema is None else _errors(schema, exchange.answer, "answer")


# --- the description -----------------------------------------------------------------------------------------


@functools.cache
def _operations() -> list[Operation]:
    """The most specific first: fewer names in the path, then the longer one."""
    found = [
        Operation(method.upper(), _pattern(template, described), (template.count("{"), -len(template)), described)
        for template, operations in description.read()["paths"].items()
        for method, described in operations.items()
    ]
    return sorted(found, key=lambda operation: operation.order)


def _operation(method: str, path: str) -> Operation | None:
    return next((o for o in _operations() if o.method == method and o.path.fullmatch(path)), None)


def _pattern(template: str, described: Mapping[str, Json]) -> re.Pattern[str]:
    parameters = [_resolved(p) for p in described.get("parameters", [])]
    many = MANY_SEGMENTS | {p["name"] for p in parameters if p["in"] == "path" and p.get("x-multi-segment")}
    return re.compile(re.sub(r"\{(\w+)\}", lambda match: ".+" if match[1] in many else "[^/]+", template))


def _resolved(node: Mapping[str, Json]) -> Mapping[str, Json]:
    while "$ref" in node:
        _, _, kind, name = node["$ref"].split("/")
        node = description.read()["components"][kind][name]
    return node


def _errors(schema: Mapping[str, Json], value: Json, where: str) -> list[str]:
    found = []
    for error in _validator(json.dumps(schema, sort_keys=True)).iter_errors(value):
        while error.context:  # of an anyOf or oneOf, name the deepest cause instead of "matches none of ..."
            error = min(error.context, key=lambda e: (len(e.schema_path) == 0, -len(e.absolute_path)))
        place = "/".join(map(str, error.absolute_path))
        found.append(f"{where} {place}: {error.message[:160]}")
    return found


@functools.cache
def _validator(schema: str) -> OAS30Validator:
    """Formats (dates, addresses) are not checked."""
    return OAS30Validator(_absolute(json.loads(schema)), registry=_registry())


@functools.cache
def _registry() -> Registry[Json]:
    resource = Resource.from_contents(dict(description.read()), default_specification=DRAFT4)
    registry: Registry[Json] = Registry().with_resource(URI, resource)
    return registry


def _absolute(node: Json) -> Json:
    """A reference inside a cut-out schema needs the document's name before its "#"."""
    if isinstance(node, dict):
        return {key: URI + value if key == "$ref" else _absolute(value) for key, value in node.items()}
    return [_absolute(item) for item in node] if isinstance(node, list) else node
