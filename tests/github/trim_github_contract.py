"""Cuts GitHub's OpenAPI description of its API down to the operations that simulators/github uses.

Run by hand, see the README.md there:

    npm install @octokit/openapi@23.0.2
    python tests/github/trim_github_contract.py node_modules/@octokit/openapi/generated/api.github.com.json

writes github-contract.json there (another place: second argument), the same byte for byte each time. Three things
happen: only OPERATIONS and the components that they reach are kept; prose, examples and vendor notes are
dropped; and CORRECTIONS are made, where the description cannot be taken literally by a validator, or does not say what
the real API does. To use a new operation, add it to OPERATIONS and run again.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = Any

CONTRACT = Path(__file__).parents[2] / "simulators" / "github" / "github-contract.json"

OPERATIONS = """
GET    /rate_limit
GET    /user
GET    /users/{username}

GET    /repos/{owner}/{repo}
GET    /repos/{owner}/{repo}/branches
GET    /repos/{owner}/{repo}/branches/{branch}
GET    /repos/{owner}/{repo}/branches/{branch}/protection
GET    /repos/{owner}/{repo}/rules/branches/{branch}
GET    /repos/{owner}/{repo}/compare/{basehead}
GET    /repos/{owner}/{repo}/contents/{path}
PUT    /repos/{owner}/{repo}/contents/{path}
GET    /repos/{owner}/{repo}/labels
POST   /repos/{owner}/{repo}/labels
GET    /repos/{owner}/{repo}/labels/{name}

GET    /repos/{owner}/{repo}/pulls
POST   /repos/{owner}/{repo}/pulls
GET    /repos/{owner}/{repo}/pulls/{pull_number}
PATCH  /repos/{owner}/{repo}/pulls/{pull_number}
GET    /repos/{owner}/{repo}/pulls/{pull_number}/comments
GET    /repos/{owner}/{repo}/pulls/{pull_number}/commits
GET    /repos/{owner}/{repo}/pulls/{pull_number}/files
GET    /repos/{owner}/{repo}/pulls/{pull_number}/merge
PUT    /repos/{owner}/{repo}/pulls/{pull_number}/merge
POST   /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers
GET    /repos/{owner}/{repo}/pulls/{pull_number}/reviews
POST   /repos/{owner}/{repo}/pulls/{pull_number}/reviews
PUT    /repos/{owner}/{repo}/pulls/{pull_number}/update-branch

GET    /repos/{owner}/{repo}/issues
POST   /repos/{owner}/{repo}/issues
PATCH  /repos/{owner}/{repo}/issues/comments/{comment_id}
GET    /repos/{owner}/{repo}/issues/{issue_number}
PATCH  /repos/{owner}/{repo}/issues/{issue_number}
GET    /repos/{owner}/{repo}/issues/{issue_number}/comments
POST   /repos/{owner}/{repo}/issues/{issue_number}/comments
GET    /repos/{owner}/{repo}/issues/{issue_number}/labels
POST   /repos/{owner}/{repo}/issues/{issue_number}/labels
PUT    /repos/{owner}/{repo}/issues/{issue_number}/labels
DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}

GET    /repos/{owner}/{repo}/commits/{ref}
GET    /repos/{owner}/{repo}/commits/{ref}/check-runs
GET    /repos/{owner}/{repo}/commits/{ref}/check-suites
GET    /repos/{owner}/{repo}/commits/{ref}/status
GET    /repos/{owner}/{repo}/commits/{ref}/statuses
POST   /repos/{owner}/{repo}/statuses/{sha}
POST   /repos/{owner}/{repo}/check-runs
PATCH  /repos/{owner}/{repo}/check-runs/{check_run_id}
GET    /repos/{owner}/{repo}/actions/runs
GET    /repos/{owner}/{repo}/actions/runs/{run_id}

GET    /repos/{owner}/{repo}/git/matching-refs/{ref}
GET    /repos/{owner}/{repo}/git/ref/{ref}
POST   /repos/{owner}/{repo}/git/refs
DELETE /repos/{owner}/{repo}/git/refs/{ref}
PATCH  /repos/{owner}/{repo}/git/refs/{ref}
"""
PROSE = {
    "description",
    "summary",
    "tags",
    "example",
    "examples",
    "externalDocs",
    "x-github",
    "x-github-breaking-changes",
    "x-octokit",
}


def main(source: Path, target: Path) -> None:
    whole = json.loads(source.read_text("utf-8"))
    text = json.dumps(trimmed(whole), separators=(",", ":"), sort_keys=True)
    target.write_text(text, "utf-8")
    sys.stdout.write(f"{target.name}: {len(text):,} bytes, sha256 {hashlib.sha256(text.encode()).hexdigest()}\n")


def trimmed(whole: Json) -> Json:
    """KeyError: GitHub has no such operation."""
    for correct in CORRECTIONS:
        correct(whole)
    result: dict[str, Json] = {"openapi": whole["openapi"], "info": whole["info"], "paths": {}, "components": {}}
    for line in filter(str.strip, OPERATIONS.splitlines()):
        method, path = line.split()
        operation = _without_prose(whole["paths"][path][method.lower()])
        _describe(list(operation["responses"].values()))
        result["paths"].setdefault(path, {})[method.lower()] = operation
    _add_components(whole, result)
    return result


def _add_components(whole: Json, result: dict[str, Json]) -> None:
    """Whatever is referred to, from whatever is referred to."""
    missing, done = _references(result["paths"]), set[str]()
    while missing:
        reference = missing.pop()
        done.add(reference)
        _, _, kind, name = reference.split("/")
        component = _without_prose(whole["components"][kind][name])
        if kind == "responses":
            _describe([component])
        result["components"].setdefault(kind, {})[name] = component
        missing |= _references(component) - done


def _walk(node: Json) -> Iterator[dict[str, Json]]:
    """Every object in it, parents before children."""
    if isinstance(node, dict):
        yield node
        for value in list(node.values()):
            yield from _walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from _walk(value)


def _references(node: Json) -> set[str]:
    return {part["$ref"] for part in _walk(node) if isinstance(part.get("$ref"), str)}


def _without_prose(node: Json, names: bool = False) -> Json:
    """Under "properties" the keys are names of fields, and one may be called "description": they stay."""
    if isinstance(node, dict):
        return {
            key: _without_prose(value, key == "properties" and not names)
            for key, value in node.items()
            if names or key not in PROSE
        }
    return [_without_prose(item) for item in node] if isinstance(node, list) else node


def _describe(responses: list[dict[str, Json]]) -> None:
    """OpenAPI wants a description in each response; an empty one keeps the result valid."""
    for response in responses:
        if "$ref" not in response:
            response.setdefault("description", "")


# --- the corrections -----------------------------------------------------------------------------------------


def _allow_null_in_nullable_enums(whole: Json) -> None:
    """OpenAPI 3.0 wants null among the values; GitHub leaves it out, and sends it."""
    for node in _walk(whole):
        if node.get("nullable") and isinstance(node.get("enum"), list) and None not in node["enum"]:
            node["enum"] = [*node["enum"], None]


def _allow_null_without_type(whole: Json) -> None:
    """`nullable` beside oneOf or anyOf and without `type` has no effect in OpenAPI 3.0; GitHub means "or null"."""
    for node in _walk(whole):
        if node.get("nullable") and "type" not in node:
            for kind in {"oneOf", "anyOf"} & set(node):
                node[kind] = [*node[kind], {"enum": [None]}]


def _remove_discriminators(whole: Json) -> None:
    """They make validators pick a branch by name; the oneOf beside them decides the same by content."""
    for node in _walk(whole):
        node.pop("discriminator", None)


def _allow_bare_label_arrays(whole: Json) -> None:
    """Adding or setting labels takes a bare array of names too: GitHub's prose says so, and clients send that."""
    for method in ("post", "put"):
        operation = whole["paths"]["/repos/{owner}/{repo}/issues/{issue_number}/labels"][method]
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        schema["oneOf"].append({"type": "array", "items": {"type": "string"}})


def _allow_null_label_descriptions(whole: Json) -> None:
    """A label without a description has null there, in the list of pull requests too."""
    label = whole["components"]["schemas"]["pull-request-simple"]["properties"]["labels"]["items"]
    label["properties"]["description"]["nullable"] = True


CORRECTIONS = (
    _allow_null_in_nullable_enums,
    _allow_null_without_type,
    _remove_discriminators,
    _allow_bare_label_arrays,
    _allow_null_label_descriptions,
)

if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: trim_github_contract.py .../api.github.com.json [TARGET]")
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) == 3 else CONTRACT)
