"""What a failure says of the tests' environment, not of the change: a fact of the target, no lesson. Pure.

A fact stands in words of ours; of the failure it holds a name at most.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

NAME = r"[A-Za-z_][\w.-]{0,60}"
MODULE = re.compile(rf"(?:ModuleNotFoundError|ImportError): No module named ['\"]?({NAME})")
TABLE = re.compile(rf"no such table: ({NAME})|(?:relation|[Tt]able) ['\"]({NAME})['\"] does(?: not|n't) exist")
PROGRAM = re.compile(rf"\b(?:ba|da|z)?sh: (?:(?:line )?\d+: )?({NAME}): (?:command )?not found\b")
SAYS = (
    (
        re.compile(r"Cannot connect to the Docker daemon|DockerException|No such file or directory: '?docker\b"),
        "the tests run without Docker",
    ),
    (
        re.compile(
            r"gaierror|[Nn]ame resolution|Name or service not known|Network is unreachable|NameResolutionError"
            r"|Failed to resolve '"
        ),
        "the tests run without a network",
    ),
    (
        re.compile(r"could not connect to server|connection to server at|Can't connect to (?:local )?(?:MySQL|server)"),
        "the tests run without a database server",
    ),
)


def facts(texts: Iterable[str], is_ours: Callable[[str], bool], touches_tables: bool = False) -> tuple[str, ...]:
    """`texts`: what failures say. `is_ours`: whether a module of this name is the target's own, and not a package.

    `touches_tables`: the change itself is about models or migrations; then a missing table is its own.
    """
    found = (fact for text in texts for fact in _of(text, is_ours, touches_tables))
    return tuple(dict.fromkeys(found))


def _of(text: str, is_ours: Callable[[str], bool], touches_tables: bool) -> Iterable[str]:
    for hit in MODULE.finditer(text):
        module = hit[1].partition(".")[0]
        if not is_ours(module):
            yield f"the tests' environment has no package with the module {module}"
    for hit in () if touches_tables else TABLE.finditer(text):
        yield f"the tests' database has no table {hit[1] or hit[2]}: no migration in git makes it"
    for hit in PROGRAM.finditer(text):
        yield f"the tests' environment has no program {hit[1]}"
    yield from (fact for says, fact in SAYS if says.search(text))


def is_module_of(paths: Collection[str]) -> Callable[[str], bool]:
    """Say of a module's first name whether one of these files or folders is it, at any depth."""
    names = {part.removesuffix(".py") for path in paths for part in path.split("/")}
    return names.__contains__


def touches_tables(paths: Iterable[str]) -> bool:
    return any(re.search(r"(^|/)(models|migrations)(/|\.py$|_)", path) for path in paths)
