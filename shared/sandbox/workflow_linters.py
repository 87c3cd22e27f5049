"""Two linters of GitHub workflows: how each is asked, and what its answer says. Pure.

check-jsonschema knows GitHub's schema, zizmor what makes a workflow unsafe. Neither needs the network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SCHEMA, AUDIT = "check-jsonschema", "zizmor"
OPTIONS = {
    SCHEMA: ("--builtin-schema", "vendor.github-workflows", "--output-format", "json", "--color", "never"),
    AUDIT: (
        *("--offline", "--no-config", "--no-ignores", "--no-exit-codes"),
        *("--no-progress", "--color", "never", "--format", "json-v1"),
    ),
}


@dataclass(frozen=True)
class LinterRow:
    """One row of an answer. `rule`: short and stable, the same wherever it stands; `line`: from 1; 0: of the file."""

    path: str
    line: int
    rule: str
    text: str


def rows(tool: str, answer: Any) -> Iterator[LinterRow]:
    """`answer`: the parsed JSON. One of another form raises what reading it raises: KeyError, TypeError, and so on."""
    return _schema(answer) if tool == SCHEMA else _audit(answer)


def _schema(answer: Any) -> Iterator[LinterRow]:
    for one in answer.get("parse_errors", ()):
        yield LinterRow(str(one.get("filename", "")), 0, "is no YAML", f"is no YAML: {one['message']}")
    for one in answer["errors"]:
        told = one.get("best_deep_match") or one
        text = f"{told['path']}: {told['message']}"
        yield LinterRow(str(one.get("filename", "")), 0, text, text)


def _audit(answer: Any) -> Iterator[LinterRow]:
    for one in answer:
        places = one["locations"]
        main = next((place for place in places if place["symbolic"]["kind"] == "Primary"), places[0])
        line = int(main["concrete"]["location"]["start_point"]["row"]) + 1
        path = str(main["symbolic"].get("key", {}).get("Local", {}).get("verbatim_path", ""))
        text = f"{one['ident']}: {one['desc']} ({main['symbolic']['annotation']})"
        yield LinterRow(path, line, str(one["ident"]), text)
