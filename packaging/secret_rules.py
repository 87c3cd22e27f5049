"""gitleaks.toml -> shared/secrets/secret_rules.json: the rules of gitleaks (MIT licence) as Python's expressions.

    python packaging/secret_rules.py gitleaks.toml COMMIT > shared/secrets/secret_rules.json

Left out: what names no vendor's shape (`generic-api-key` and the like), and identifiers that open nothing.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

LEFT_OUT = re.compile(
    r"generic-|curl-|kubernetes-secret|hashicorp-tf-password|.*(client|user|account)-id$|.*public-key$|jwt"
)
FLAGS = re.compile(r"\(\?(-?i)\)")


def main(path: str, commit: str) -> None:
    told = tomllib.loads(Path(path).read_text("utf-8"))
    rules = [_rule(rule) for rule in told["rules"] if "regex" in rule and not LEFT_OUT.match(rule["id"])]
    source = f"https://github.com/gitleaks/gitleaks/blob/{commit}/config/gitleaks.toml (MIT, (c) 2019 Zachary Rice)"
    print(json.dumps({"source": source, "rules": [rule for rule in rules if rule]}, indent=1))  # noqa: T201


def _rule(rule: dict[str, Any]) -> dict[str, Any]:
    allow = [one for each in rule.get("allowlists", ()) for one in each.get("regexes", ())]
    found = {
        "id": rule["id"],
        "shape": python(rule["regex"]),
        "group": rule.get("secretGroup", 0),
        "words": [word.lower() for word in rule.get("keywords", ())],
        "entropy": rule.get("entropy", 0),
        "allow": [python(one) for one in allow],
    }
    for one in (found["shape"], *found["allow"]):
        re.compile(one)
    return found


def python(shape: str) -> str:
    """A flag in the middle holds to the end of its group, which Python writes as a group of its own."""
    shape = shape.replace(r"\z", r"\Z").replace("[[:alnum:]]", "[A-Za-z0-9]").replace(r"\x60", "`")
    while hit := FLAGS.search(shape, 1):
        end = _end_of_group(shape, hit.end())
        shape = f"{shape[: hit.start()]}(?{hit[1]}:{shape[hit.end() : end]}){shape[end:]}"
    return shape


def _end_of_group(shape: str, at: int) -> int:
    depth, in_class = 0, False
    while at < len(shape):
        sign = shape[at]
        if sign == "\\":
            at += 1
        elif in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
        elif sign == "(":
            depth += 1
        elif sign == ")":
            if not depth:
                return at
            depth -= 1
        at += 1
    return at


if __name__ == "__main__":
    main(*sys.argv[1:3])
