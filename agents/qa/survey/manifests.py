"""Texts of a folder's manifests -> what they ask to be installed for tests. Pure.

Nothing of what stands there reaches a shell but by `shlex.quote`, and only what reads as a requirement.
"""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sisimpur.shared.model.naming import package_name

Read = Callable[[str], str]  # a file's text; empty: there is none

WANTED = ("test", "tests", "testing", "dev")  # extras and groups
REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w., -]*\])?\s*([<>=!~(;@ ][\w.*+!,<>=~; ()@\"'\[\]/:-]{0,200})?")
NAMED = re.compile(r"""["']([A-Za-z0-9][\w.\[\],<>=!~* -]*)["']""")
FACTORED = re.compile(r"[\w{},!-]+: ")  # a line of tox for some of its environments
NAME = re.compile(r"""\bname\s*=\s*["']([\w.-]+)["']""")
FIRST = re.compile(r"[A-Za-z0-9][\w.-]*")
INSTALLS = re.compile(r"session\.install\(([^()]*)\)")
PYTHONS = re.compile(r"\bpython(?:[-_]version)?s?:((?:[^\n:]*(?:\n\s*-[^\n:]*)*))")  # on one line, or a list below
MINOR = re.compile(r"(?<![\w.])3\.(\d{1,2})")
EXTRAS = re.compile(r"""\s(?:--extras?[ =]|-E ?)["']?([\w. -]+)|\.\[([\w., -]+)\]""")  # of uv, poetry, pip


def toml(text: str) -> dict[str, Any]:
    """A TOML file; what cannot be read says nothing."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def sections(text: str) -> Mapping[str, Mapping[str, str]]:
    """An INI file."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {name: dict(parser.items(name)) for name in parser.sections()}


def within(found: Any, *names: str) -> Any:
    """What stands below these names; None: nothing."""
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def table(found: Any, *names: str) -> dict[str, Any]:
    """The table below these names; what is none is empty."""
    found = within(found, *names)
    return found if isinstance(found, dict) else {}


def plain(listed: Any) -> list[str]:
    """Those that are requirements as pip reads them: no options, no folders."""
    if not isinstance(listed, list):
        return []
    return [one.strip() for one in listed if isinstance(one, str) and REQUIREMENT.fullmatch(one.strip())]


@dataclass(frozen=True)
class Manifests:
    """What the manifests of one folder say. `read`: by a path from this folder; `runs`: how its CI runs the tests."""

    read: Read
    runs: str = ""

    @cached_property
    def pyproject(self) -> dict[str, Any]:
        return toml(self.read("pyproject.toml"))

    @cached_property
    def setup_cfg(self) -> Mapping[str, Mapping[str, str]]:
        return sections(self.read("setup.cfg"))

    @property
    def tool(self) -> dict[str, Any]:
        return table(self.pyproject, "tool")

    @property
    def is_project(self) -> bool:
        """It says that it is a package, whatever builds it."""
        return bool(self.pyproject.keys() & {"project", "build-system"} or "metadata" in self.setup_cfg)

    @property
    def python(self) -> str:
        """The versions that it wants, in its own words."""
        asked = within(self.pyproject, "project", "requires-python")
        asked = asked or within(self.tool, "poetry", "dependencies", "python")
        asked = asked or self.setup_cfg.get("options", {}).get("python_requires")
        return asked if isinstance(asked, str) else self.read(".python-version").strip()[:20]

    @property
    def tested_python(self) -> int:
        """The oldest 3.x that its CI runs the tests with; 0: it names none."""
        return min((int(one) for said in PYTHONS.findall(self.runs) for one in MINOR.findall(said)), default=0)

    def extras(self) -> tuple[str, ...]:
        """Those for tests that it has, and those that its own CI installs for them."""
        had = [*table(self.pyproject, "project", "optional-dependencies"), *table(self.tool, "poetry", "extras")]
        had += self.setup_cfg.get("options.extras_require", {})
        said = {name for one in EXTRAS.findall(self.runs) for name in re.split(r"[\s,]+", " ".join(one))}
        said |= set(had) if "--all-extras" in self.runs else set()
        return tuple(dict.fromkeys(name for name in (*WANTED, *had) if name in had and name in {*WANTED, *said}))

    def groups(self) -> tuple[str, ...]:
        """Groups for tests, by whichever tool; and the one that brings the type checker that it configures."""
        listed = table(self.pyproject, "dependency-groups")
        had = listed.keys() | table(self.tool, "pdm", "dev-dependencies") | table(self.tool, "poetry", "group").keys()
        wanted = [name for name in WANTED if name in had]
        if self.checks_types and not any(map(self._brings_mypy, wanted)):
            bringing = [name for name in listed if FIRST.fullmatch(name) and self._brings_mypy(name)]
            wanted += sorted(bringing, key=lambda name: len(listed[name]))[:1]
        return tuple(wanted)

    @property
    def checks_types(self) -> bool:
        """It configures mypy."""
        own = (self.read("mypy.ini"), self.read(".mypy.ini"))
        return "mypy" in self.tool or "mypy" in self.setup_cfg or any("mypy" in sections(text) for text in own)

    def _brings_mypy(self, group: str) -> bool:
        return any(package_name(found[0]) == "mypy" for one in self._group(group, ()) if (found := FIRST.match(one)))

    def requirements(self, is_package: bool) -> tuple[str, ...]:
        """What tests need besides its own dependencies; with these, if it is no package that brings them."""
        found: list[str] = []
        if not is_package:
            found += plain(within(self.pyproject, "project", "dependencies"))
            found += self._poetry("dependencies")
            for extra in self.extras():
                found += plain(within(self.pyproject, "project", "optional-dependencies", extra))
        for group in self.groups():
            found += self._group(group, ())
            found += plain(within(self.tool, "pdm", "dev-dependencies", group))
            found += self._poetry("group", group, "dependencies")
        found += self._poetry("dev-dependencies")
        envs = table(self.tool, "hatch", "envs") | table(toml(self.read("hatch.toml")), "envs")
        for name in ("default", "hatch-test", *WANTED):
            found += plain(within(envs, name, "dependencies")) + plain(within(envs, name, "extra-dependencies"))
        return tuple(dict.fromkeys(found))

    @property
    def name(self) -> str:
        """Its own, as an index compares names; empty: it does not say."""
        found = within(self.pyproject, "project", "name") or within(self.tool, "poetry", "name")
        found = (
            found or self.setup_cfg.get("metadata", {}).get("name") or "".join(NAME.findall(self.read("setup.py"))[:1])
        )
        return package_name(found) if isinstance(found, str) else ""

    def names(self, files: Iterable[str]) -> frozenset[str]:
        """Packages that it, or one of these files of pip's, asks for in any way, as `name` has them."""
        lines = [*self.requirements(is_package=False), *self.by_runners(), *NAMED.findall(self.read("setup.py"))]
        for section in ("options", "options.extras_require"):
            lines += "\n".join(filter(None, self.setup_cfg.get(section, {}).values())).splitlines()
        lines += [line for file in files for line in self.read(file).splitlines()]
        groups = (within(one, "dependencies") for one in table(self.tool, "poetry", "group").values())
        lines += [name for listed in (table(self.tool, "poetry", "dependencies"), *groups) for name in listed or ()]
        return frozenset(package_name(found[0]) for line in lines if (found := FIRST.match(line.strip())))

    def by_runners(self) -> tuple[str, ...]:
        """What tox and nox install for their tests: asked where nothing else says what tests need."""
        lines = (sections(self.read("tox.ini")).get("testenv", {}).get("deps") or "").splitlines()
        found = plain([line for line in lines if not FACTORED.match(line.strip())])
        for call in INSTALLS.findall(self.read("noxfile.py")):
            found += [one for one in NAMED.findall(call) if REQUIREMENT.fullmatch(one)]
        return tuple(dict.fromkeys(found))

    def _group(self, name: str, above: Sequence[str]) -> Iterator[str]:
        """PEP 735, with the groups that it includes."""
        listed = within(self.pyproject, "dependency-groups", name)
        yield from plain(listed)
        for one in listed if isinstance(listed, list) else ():
            other = within(one, "include-group")
            if isinstance(other, str) and other not in (*above, name):
                yield from self._group(other, (*above, name))

    def _poetry(self, *names: str) -> list[str]:
        listed = table(self.tool, "poetry", *names)
        return [one for name in listed if name != "python" and (one := from_poetry(name, listed[name]))]


def from_poetry(name: str, asked: Any) -> str:
    """`^7.1` as pip reads it; empty: it is no package of the index, or wanted on other machines only."""
    if isinstance(asked, list):
        return from_poetry(name, asked[-1]) if asked else ""
    extras = ""
    if isinstance(asked, dict):
        if asked.keys() & {"path", "git", "url", "file"} or asked.get("optional"):
            return ""
        extras = f"[{','.join(plain(asked.get('extras')))}]" if asked.get("extras") else ""
        asked = asked.get("version", "*")
    bounds = ",".join(filter(None, map(_bound, str(asked).split(","))))
    found = f"{name}{extras}{bounds}"
    return found if REQUIREMENT.fullmatch(found) else ""


def _bound(one: str) -> str:
    """`^7.1.2` is `~=7.1`: of what is locked the lock says the rest."""
    one = one.strip()
    if one in ("*", "") or one[0] in "<>=!" or one.startswith("~="):
        return one.strip("*")
    numbers = one.lstrip("^~").strip().split(".")
    kept = 2 if one[0] == "^" and numbers[0] != "0" else 3
    return f"~={'.'.join([*numbers, '0', '0'][:kept])}" if one[0] in "^~" else f"=={one}"
