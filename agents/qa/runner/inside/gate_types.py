"""Asks the repository's own mypy about its types, in the box, with the repository's configuration.

    python gate_types.py FILE ...

Where the configuration says what is checked, that is; else those of these files that belong to a package. What mypy
found is printed as it says it, and the exit code is 0: finding something is its work.
"""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

ABSENT = 93  # as sisimpur.agents.qa.tools.readings has it
PLAIN = (
    "--no-pretty",
    "--no-color-output",
    "--no-error-summary",
    "--hide-error-context",
    "--hide-absolute-path",
    "--show-error-codes",
    f"--cache-dir={os.devnull}",
)
NAMING = {"files", "packages", "modules"}  # settings that say what is checked


def settings() -> Iterator[set[str]]:
    """What each configuration sets, in the order in which mypy looks for one."""
    for name in ("mypy.ini", ".mypy.ini"):
        yield from _of_ini(name)
    if os.path.isfile("pyproject.toml"):
        with open("pyproject.toml", "rb") as file:
            tool = _toml().load(file).get("tool", {})
        if "mypy" in tool:
            yield set(tool["mypy"])
    yield from _of_ini("setup.cfg")


def _of_ini(name: str) -> Iterator[set[str]]:
    parser = configparser.RawConfigParser(strict=False)
    if parser.read(name, "utf-8") and parser.has_section("mypy"):
        yield set(parser.options("mypy"))


def _toml() -> Any:
    """Python has it from 3.11 on; mypy brings the other one along for older ones."""
    return import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def main(files: list[str]) -> int:
    every, here = list(sys.path), os.getcwd()
    sys.path = [place for place in every if place and os.path.commonpath((os.path.abspath(place), here)) != here]
    if find_spec("mypy") is None:  # no folder of the repository takes its place
        return ABSENT
    run = import_module("mypy.api").run
    sys.path = every
    if not NAMING & next(settings(), set()):
        files = [file for file in files if os.path.isfile(os.path.join(os.path.dirname(file), "__init__.py"))]
        if not files:
            return 0
    else:
        files = []
    said, problem, code = run([*PLAIN, *files])
    sys.stdout.write(said if code in (0, 1) else f"{said}\n{problem}")
    return 0 if code in (0, 1) else int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
