"""A change of dependency files alone -> which packages get another version, in words. Pure.

Where nothing but versions differs, nobody writes a test: the suite has run with the new ones, and the owner is asked.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sisimpur.shared.model.change import DEPENDENCIES
from sisimpur.shared.model.evidence import UNCHANGED, UNSHOWN, Evidence, Problem
from sisimpur.shared.model.naming import package_name
from sisimpur.shared.model.scope import matches
from sisimpur.shared.model.text import few

PINNED = (*DEPENDENCIES, "pyproject.toml")
LOCKS = ("poetry.lock", "uv.lock", "pdm.lock")
SETTLED = (UNSHOWN, UNCHANGED, "test configuration changed")  # of what differs in versions alone
MOST_NAMED = 10
LINE = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)\s*(?P<extras>\[[^\]]*\])?\s*\(?"
    r"(?P<version>[<>=!~^][\w.*+!<>=~^, ]*|)\)?\s*(?P<rest>;[^#\\]*)?"
)
VERSION = re.compile(r"[\^~<>=!]*\s*\d[\w.*+!-]*(?:\s*,\s*[\^~<>=!]+\s*\d[\w.*+!-]*)*|\*")  # as poetry writes one
TABLES = re.compile(r"dependencies$|^requires$|^build-system$|^dependency-groups$")
HOST = re.compile(r"\w+://[^/\s\"']+")

Listed = Mapping[str, str]  # package -> its version, as it is written
Files = Mapping[str, tuple[str, str]]  # path -> text before and after


@dataclass(frozen=True)
class Moved:
    """A package that gets another version."""

    name: str
    before: str
    after: str

    def __str__(self) -> str:
        is_back = _numbers(self.after) < _numbers(self.before)
        return f"{self.name} from {self.before or 'any'} {'back ' if is_back else ''}to {self.after or 'any'}"


def may_be(paths: Collection[str]) -> bool:
    """Whether all of these may be files that name versions."""
    return bool(paths) and all(matches(path, PINNED) for path in paths)


def with_versions(evidence: Evidence, files: Files, there: Files) -> Evidence:
    """What the evidence says of a change of `files` alone, if only versions differ. `there`: locks that stay."""
    moved = {path: moved_in(path, *texts) for path, texts in files.items()}
    if not any(moved.values()) or None in moved.values():
        return evidence
    homes: dict[Moved, list[str]] = {}
    for path, found in moved.items():
        for one in found or ():
            homes.setdefault(one, []).append(path)
    told = few([f"{one} ({', '.join(places)})" for one, places in homes.items()], MOST_NAMED)
    text = f"it changes versions alone, and no code: {told}"
    problems = [one for one in evidence.problems if one.rule not in SETTLED]
    return replace(
        evidence,
        problems=(*problems, *_left_behind({**there, **files}), Problem("other versions", text, "ask owner")),
    )


def moved_in(path: str, before: str, after: str) -> tuple[Moved, ...] | None:
    """None: something else than versions differs, or the file cannot be read."""
    if path.endswith(LOCKS):
        return _of_lock(before, after)
    return _of_project(before, after) if path.endswith("pyproject.toml") else _of_lines(before, after)


def lock_beside(path: str) -> str:
    """What pip-tools writes of this file; empty: nothing."""
    return f"{path.removesuffix('.in')}.txt" if path.endswith(".in") else ""


def _left_behind(files: Files) -> Iterator[Problem]:
    """Exact versions that a lock beside their file does not have."""
    for path, (_, after) in files.items():
        lock = files.get(lock_beside(path), ("", ""))[1]
        _, locked = _listed(lock)
        for name, version in _listed(after)[1].items():
            if version.startswith("==") and name in locked and locked[name] != version:
                text = f"{path} asks for {name}{version}, and {lock_beside(path)} still says {locked[name]}"
                yield Problem("the lock is left behind", text, "correct")


# --- requirements ---------------------------------------------------------------------------------------------


def _of_lines(before: str, after: str) -> tuple[Moved, ...] | None:
    (rest, then), (same, now) = _listed(before), _listed(after)
    return _moved(then, now) if rest == same else None


def _listed(text: str) -> tuple[Counter[str], Listed]:
    """All that is no version, and the versions. Comments and sums of files say nothing."""
    rest, found = Counter[str](), dict[str, str]()
    for line in text.splitlines():
        words = re.sub(r"(?:^|\s)#.*|--hash[= ]\S+", "", line).strip(" \t\\")
        read = LINE.fullmatch(words)
        if read is None:
            rest.update([words] if words else [])
        else:
            name = package_name(read["name"]) + re.sub(r"\s", "", read["extras"] or "")
            rest[f"{name}{' '.join((read['rest'] or '').split())}"] += 1
            found[name] = read["version"].strip()
    return rest, found


def _moved(then: Listed, now: Listed) -> tuple[Moved, ...] | None:
    """None: another package is there, or one is gone."""
    if then.keys() != now.keys():
        return None
    return tuple(Moved(name, _plain(then[name]), _plain(now[name])) for name in then if then[name] != now[name])


# --- TOML -----------------------------------------------------------------------------------------------------


def _of_project(before: str, after: str) -> tuple[Moved, ...] | None:
    found: list[Moved] = []
    is_all = _compare(_toml(before), _toml(after), (), found)
    return tuple(found) if is_all else None


def _compare(then: Any, now: Any, keys: tuple[str, ...], found: list[Moved]) -> bool:
    """Whether they are the same but for versions below the tables of dependencies, which are added to `found`."""
    if type(then) is not type(now):
        return False
    if isinstance(then, dict):
        return then.keys() == now.keys() and all(_compare(then[key], now[key], (*keys, key), found) for key in then)
    if isinstance(then, list):
        return len(then) == len(now) and all(map(_compare, then, now, [keys] * len(then), [found] * len(then)))
    if then == now:
        return True
    if not isinstance(then, str) or not any(map(TABLES.search, keys)):
        return False
    if VERSION.fullmatch(then) and VERSION.fullmatch(now):  # poetry: the name is the key
        name = keys[-2] if keys[-1] == "version" else keys[-1]
        found.append(Moved(name, _plain(then), _plain(now)))
        return True
    moved = _of_lines(then, now)
    found.extend(moved or ())
    return bool(moved)


def _of_lock(before: str, after: str) -> tuple[Moved, ...] | None:
    """Sums and sizes of files follow the version; a host that files come from does not."""
    then, now = _locked(before), _locked(after)
    is_elsewhere = _sources(then) != _sources(now) or not set(HOST.findall(after)) <= set(HOST.findall(before))
    return None if is_elsewhere or not then else _moved(_versions(then), _versions(now))


def _locked(text: str) -> list[dict[str, Any]]:
    """Its packages; empty: it cannot be read."""
    data = _toml(text)
    packages = data.get("package") if isinstance(data, dict) else None
    return [one for one in packages if isinstance(one, dict)] if isinstance(packages, list) else []


def _versions(packages: list[dict[str, Any]]) -> Listed:
    found: dict[str, list[str]] = {}
    for one in packages:
        found.setdefault(package_name(str(one.get("name"))), []).append(str(one.get("version", "")))
    return {name: ", ".join(sorted(versions)) for name, versions in found.items()}


def _sources(packages: list[dict[str, Any]]) -> Counter[str]:
    return Counter(f"{one.get('name')} {one.get('source')}" for one in packages)


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


# --- words ----------------------------------------------------------------------------------------------------


def _plain(version: str) -> str:
    return version.removeprefix("==").strip()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number[:9]) for number in re.findall(r"\d+", version)[:5])
