"""The plain values of a compose file: variables are put in by us, from the owner's words only, and each has one shape.

Pure. Nothing here raises: what is wrong is collected as sentences, so that all of it is told at once.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sisimpur.shared.model.text import printable

MOST_TOLD = 40  # problems of one file
LONGEST_VALUE = 64_000  # characters of one text, with what was put in
MOST_PUT_IN = 1_000_000  # characters of all texts of one service
LONGEST_SHOWN = 60
DEEPEST = 5  # variables inside of defaults of variables

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
BRACED = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<how>:?[-?+])(?P<word>.*))?", re.DOTALL)
KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}")
DURATION = re.compile(r"([0-9]{1,9}(\.[0-9]{1,9})?(h|ms|m|s|us|ns)){1,6}")
UNWRITABLE = re.compile("[\0\ud800-\udfff]")
UNPRINTED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")  # YAML refuses them as they are

Shape = Callable[[object], object]  # gives the value as it is written, or raises ValueError


@dataclass
class Problems:
    """Problems in the order of the file; each once."""

    told: list[str] = field(default_factory=list)

    def add(self, where: str, what: str) -> None:
        line = f"{where}: {what}"
        if line not in self.told:
            self.told.append(line)

    def all(self) -> tuple[str, ...]:
        more = len(self.told) - MOST_TOLD
        return (*self.told[:MOST_TOLD], *([f"and {more} more"] if more > 0 else []))

    def shaped(self, where: str, value: object, shape: Shape) -> object:
        """Return the value as it is written; None if it does not fit, which becomes a problem."""
        try:
            return shape(value)
        except ValueError as error:
            self.add(where, str(error))
            return None


def shown(key: object) -> str:
    """A key of the file, as it may stand in a message."""
    text = printable(str(key), "?")
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def is_absent(value: object) -> bool:
    """Said, but empty: `privileged: false` asks for nothing."""
    return value is None or value is False or value in ("", [], {})


# --- variables -----------------------------------------------------------------------------------------------


def filled(value: object, words: Mapping[str, str], where: str, problems: Problems) -> object:
    """The value with its variables put in; where one has no value, or what is written cannot be read, that is told."""
    room = [MOST_PUT_IN]

    def fill(value: object, where: str) -> object:
        if isinstance(value, dict):
            return {key: fill(inner, f"{where}.{shown(key)}") for key, inner in value.items()}
        if isinstance(value, list):
            return [fill(inner, where) for inner in value]
        if not isinstance(value, str):
            return value
        text = problems.shaped(where, value, lambda text: substituted(str(text), words))
        room[0] -= len(str(text))
        if room[0] < 0:
            problems.add(where.split(".")[0], "more text than can be run, once its variables are put in")
            return None
        return text

    return fill(value, where)


def substituted(text: str, words: Mapping[str, str], depth: int = 0) -> str:
    """$NAME, ${NAME}, ${NAME:-else}, ${NAME-else}, ${NAME:?why}, ${NAME?why}, ${NAME:+then}, ${NAME+then}; $$ is a $.

    What is put in is not read again. ValueError: no value, and no default, or it cannot be read.
    """
    if depth > DEEPEST:
        raise ValueError(f"more than {DEEPEST} variables inside of each other")
    parts: list[str] = []
    size = at = 0
    while at < len(text):
        part, at = _next_part(text, at, words, depth)
        parts.append(part)
        size += len(part)
        if size > LONGEST_VALUE:
            raise ValueError(f"more than {LONGEST_VALUE} characters")
    return "".join(parts)


def _next_part(text: str, at: int, words: Mapping[str, str], depth: int) -> tuple[str, int]:
    """Read what the next piece means, and where the one after it begins."""
    dollar = text.find("$", at)
    if dollar != at:
        end = len(text) if dollar < 0 else dollar
        return text[at:end], end
    if text.startswith("$$", at):
        return "$", at + 2
    if text.startswith("${", at):
        end = _closing(text, at + 2)
        return _braced(text[at + 2 : end], words, depth), end + 1
    if name := NAME.match(text, at + 1):
        return _value(name[0], words), name.end()
    raise ValueError("a $ that begins no variable; write $$ for a plain one")


def _closing(text: str, at: int) -> int:
    """Find where the brace that is open there is closed."""
    depth = 1
    for match in re.compile(r"\$\$|\$\{|\}").finditer(text, at):
        depth += {"${": 1, "}": -1}.get(match[0], 0)
        if not depth:
            return match.start()
    raise ValueError("a ${ that is not closed; write $$ for a plain $")


def _braced(inner: str, words: Mapping[str, str], depth: int) -> str:
    if not (match := BRACED.fullmatch(inner)):
        raise ValueError(f"${{{shown(inner)}}} is no variable; write $$ for a plain $")
    name, how, word = match["name"], match["how"] or "", match["word"] or ""
    is_set = name in words and (bool(words[name]) or not how.startswith(":"))
    if how.endswith("+"):
        return substituted(word, words, depth + 1) if is_set else ""
    if is_set:
        return words[name]
    if how.endswith("-"):
        return substituted(word, words, depth + 1)
    raise ValueError(_unset(name, word))


def _value(name: str, words: Mapping[str, str]) -> str:
    if name not in words:
        raise ValueError(_unset(name))
    return words[name]


def _unset(name: str, why: str = "") -> str:
    said = f' (it says: "{shown(why)}")' if why else ""
    return f"the variable {shown(name)} has no value{said}; give it one in `env` or `env_file` of the place"


def escaped(value: object) -> object:
    """Write a text so that compose puts nothing in."""
    if isinstance(value, Mapping):
        return {key: escaped(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [escaped(inner) for inner in value]
    return value.replace("$", "$$") if isinstance(value, str) else value


def plain(text: str) -> str:
    """Undo `escaped`, as compose does."""
    return text.replace("$$", "$")


def text(value: object) -> str:
    """A number may stand where a text is meant."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("must be a text")
    if UNWRITABLE.search(str(value)):
        raise ValueError("holds a character that no program can be given")
    return str(value)


def matching(pattern: str, what: str) -> Shape:
    def shape(value: object) -> str:
        if not re.fullmatch(pattern, found := text(value)):
            raise ValueError(f"must be {what}")
        return found

    return shape


def boolean(value: object) -> bool:
    if value in ("true", "false"):
        return value == "true"
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def number(value: object) -> int:
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,9}", str(value)):
        raise ValueError("must be a whole number")
    return int(str(value))


def duration(value: object) -> str:
    if not isinstance(value, str) or not DURATION.fullmatch(value):
        raise ValueError("must be a time such as 1m30s")
    return value


def texts(value: object) -> list[str]:
    """One, or a list of them."""
    return [text(one) for one in (value if isinstance(value, list) else [value])]


def words(value: object) -> str | list[str]:
    """A command: one line, or a list of words."""
    return texts(value) if isinstance(value, list) else text(value)


def each(shape: Shape) -> Shape:
    """One, or a list of that shape."""
    return lambda value: [shape(one) for one in (value if isinstance(value, list) else [value])]


def pairs(value: object, known: Mapping[str, str]) -> dict[str, str]:
    """{NAME: value} or [NAME=value]; what has no value is looked up in `known`, and left out if it is not there."""
    found: dict[str, object] = {}
    if isinstance(value, Mapping):
        found = dict(value)
    elif isinstance(value, list):
        for item in map(text, value):
            name, equals, rest = item.partition("=")
            found[name] = rest if equals else None
    else:
        raise ValueError("must be a list of NAME=value, or NAME: value")
    return {name: word for name, inner in found.items() if (word := _pair(name, inner, known)) is not None}


def _pair(name: str, value: object, known: Mapping[str, str]) -> str | None:
    if not KEY.fullmatch(name):
        raise ValueError(f"{shown(name)} is no name of a variable")
    if value is None:
        return known.get(name)
    return str(value).lower() if isinstance(value, bool) else text(value)


def inside(path: object, folder: str = "") -> str:
    """A path of the repository, as seen from `folder` in it, without `.` and `..`; "." is all of it. Or ValueError."""
    said = text(path)
    if "://" in said or re.match(r"[^/]*@[^/]*:", said):
        raise ValueError("is somewhere else; only what lies in the repository may be named")
    if not said or said.startswith(("/", "~")) or "\\" in said or not said.isprintable():
        raise ValueError("is outside of the repository; only what lies in it may be named, by a relative path")
    found = posixpath.normpath(posixpath.join(folder, said))
    if found == ".." or found.startswith(("../", "/")):
        raise ValueError("leads out of the repository; only what lies in it may be named")
    return found
