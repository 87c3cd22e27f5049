"""Paths of the target that a task may touch. Patterns are git's: `*` stays in a folder, `**` crosses folders."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

LONGEST_PATH = 400  # bytes
MOST_NAMES = 200  # of one file, by links that lead to folders around themselves
# Letters of other scripts that nobody tells from Latin ones, then what looks like a slash; a dot above goes.
LETTERS = "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u03bf\u03bd\u0131"
ALIKE = str.maketrans(f"{LETTERS}\u2044\u2215\u29f8", "aeopcyxijshdqwovi///", "\u0307")
HIDDEN_FROM_MACOS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")  # its file system drops these


# --- patterns ------------------------------------------------------------------------------------------------


def matches(path: str, patterns: Iterable[str]) -> str | None:
    """The first pattern that covers `path` (relative, with slashes), or None. A folder covers what is in it.

    As it is written, or else as both are folded: for what is forbidden. What is allowed asks `permits`.
    """
    listed = tuple(patterns)
    if (found := _first(path, listed)) or f"{path}{''.join(listed)}".isascii():
        return found
    where = _first(folded(path), tuple(map(folded, listed)))
    return next((one for one in listed if folded(one) == where), None)


def permits(path: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern covers `path` as it is written: no look-alike of what is allowed is allowed."""
    return _first(path, tuple(patterns)) is not None


@lru_cache(maxsize=100_000)  # the same lists are asked about the same files, again and again
def _first(path: str, patterns: tuple[str, ...]) -> str | None:
    """Without regard to case and to how an accent is composed: on some file systems `.GitHub` is `.github`."""
    whole = unicodedata.normalize("NFC", path)
    if (glance := _glance(patterns)) and not glance.search(whole):
        return None
    parts = whole.split("/")
    return next((pattern for pattern in patterns if _covers(unicodedata.normalize("NFC", pattern), parts)), None)


def folded(text: str) -> str:
    """What two names share that a file system or a reader takes for one: no capitals, \u00df as ss, look-alikes."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).translate(ALIKE)


@lru_cache(maxsize=256)
def _glance(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    """What must stand in every path that one of them covers: most of very many paths are done with at once."""
    words = [unicodedata.normalize("NFC", one).strip("/").split("/") for one in patterns]
    telling = [max((word for word in some if set(word) - {"*"}), key=len, default="") for some in words]
    if not all(telling):
        return None
    fits = "|".join(_part(word, re.IGNORECASE).pattern for word in telling)
    return re.compile(f"(?:^|/)(?:{fits})(?=/|$)", re.IGNORECASE | re.DOTALL)


def names(path: str, is_folder: bool, pattern: str) -> bool:
    """Tell whether a pattern means this very file or folder, not one above it: as git reads a line of .gitignore."""
    parts = path.split("/")
    return len(parts) in _reached(pattern, parts, 0) and (is_folder or not pattern.endswith("/"))


def _covers(pattern: str, path: list[str]) -> bool:
    most = len(path) - pattern.endswith("/")  # a slash at the end: something must be left that is inside
    return any(place <= most for place in _reached(pattern, path, re.IGNORECASE))


def _reached(pattern: str, path: list[str], flags: int) -> set[int]:
    """Count the parts of the path that the whole pattern can stand for. It is walked once: no pattern is slow."""
    steps = _steps(pattern, flags)
    reached = {0} if steps else set()
    for number, step in enumerate(steps, 1):
        if not reached:
            break
        if step is None:  # `**`; at the end it stands for something inside
            reached = set(range(min(reached) + (number == len(steps)), len(path) + 1))
        else:
            reached = {place + 1 for place in reached if place < len(path) and step.fullmatch(path[place])}
    return reached


@lru_cache(maxsize=2048)
def _steps(pattern: str, flags: int) -> list[re.Pattern[str] | None]:
    """One step for each part of the path; None: any number of parts."""
    words = pattern.strip("/").split("/")
    if not words[0]:
        return []
    anchored = "/" in pattern.rstrip("/")
    steps = [
        None if set(word) == {"*"} and len(word) > 1 and (anchored or len(words) > 1) else _part(word, flags)
        for word in words
    ]
    return steps if anchored else [None, *steps]


def _part(word: str, flags: int) -> re.Pattern[str]:
    """One part of a pattern as an expression that never goes back: after each `*` the first fit is the right one."""
    first, *rest = _chunks(word)
    middle = "".join(f"(?>.*?{chunk})" for chunk in rest[:-1])
    last = f".*{rest[-1]}" if rest else ""
    return re.compile(first + middle + last, flags | re.DOTALL)


def _chunks(word: str) -> list[str]:
    """Split what stands between the stars, each as an expression of fixed length."""
    chunks = [""]
    for sign in re.findall(r"\*+|\\.|\[[!^]?\]?[^]]*\]|.", word, re.DOTALL):
        if sign[0] == "*":
            chunks.append("")
        else:
            chunks[-1] += _one(sign)
    return chunks


def _one(sign: str) -> str:
    """One character of a path: `?`, `[a-z]`, an escaped one, or itself."""
    if sign == "?":
        return "."
    no = sign[1:2] in ("!", "^")
    if sign[0] == "[" and (members := _members(sign[1 + no : -1])):
        return f"[^{members}]" if no else f"[{members}]"
    return re.escape(sign[1:] if sign[0] == "\\" and len(sign) > 1 else sign)


def _members(inside: str) -> str:
    """The inside of `[...]` in the language of expressions; a range from high to low holds its first letter."""
    spans = ((low or one, high or one) for low, high, one in re.findall("(.)-(.)|(.)", inside, re.DOTALL))
    return "".join(f"{re.escape(low)}-{re.escape(max(low, high))}" for low, high in spans)


def other_names(path: str, links: Mapping[str, str]) -> tuple[str, ...]:
    """By which the tree's links lead to the same file. `links`: where each lies -> where it leads ("": to the top)."""
    found = new = {path}
    while new and len(found) < MOST_NAMES:
        new = {
            f"{link}/{name[len(to) :].lstrip('/')}".rstrip("/")
            for link, to in links.items()
            for name in new
            if f"{name}/".startswith(f"{to}/" if to else "") and not f"{name}/".startswith(f"{link}/")
        } - found
        found = found | new
    return tuple(sorted(found - {path}))


def is_plain_path(path: str) -> bool:
    """A relative path below the repository's root, in the one spelling that git knows, of printable text."""
    if not path or not path.isprintable() or "\\" in path or len(path.encode()) > LONGEST_PATH:
        return False
    return all(_is_plain_name(name) for name in path.split("/"))


def _is_plain_name(name: str) -> bool:
    """Tell whether no shell, option parser or file system reads the name as something else."""
    if not name or name != name.strip() or name.startswith(("~", "-")) or name.endswith("."):
        return False
    return not reads_as_dot_git(name)


def reads_as_dot_git(name: str) -> bool:
    """Tell whether it is `.git`, also as macOS or Windows would read it: somebody will clone our commit there."""
    name = HIDDEN_FROM_MACOS.sub("", name).lower().rstrip(" .")
    return name in (".git", "git~1") or name.startswith(".git:")


# --- the decision --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scope:
    """Scope of one task. A task that names no files may edit and create whatever `allow` covers."""

    files: tuple[str, ...] = ()  # existing files it may edit or delete
    new_files: tuple[str, ...] = ()  # files it may create
    allow: tuple[str, ...] = ("**",)  # patterns: the widest that any task of this target gets
    guards: tuple[str, ...] = ()  # patterns: the owner's "don't touch"


def judge(path: str, is_new: bool, scope: Scope) -> str | None:
    """Say why this path may not be changed (or, if `is_new`, created); None: it may."""
    if not is_plain_path(path):
        return "its name is not plain text"
    if guard := matches(path, scope.guards):
        return f"the owner guards {guard}"
    if not permits(path, scope.allow):
        return f"it lies outside of what tasks may touch ({', '.join(scope.allow)})"
    if not (scope.files or scope.new_files):
        return None
    return _not_named(path, is_new, scope)


def _not_named(path: str, is_new: bool, scope: Scope) -> str | None:
    if path in scope.new_files or (path in scope.files and not is_new):
        return None  # what was to be created may have come with another merge since: then it is edited
    return "the task edits it, but it does not exist yet" if path in scope.files else "the task does not name it"
