"""The difference of two commits as a patch, in git's words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from tests.flow.memory_objects import Files, Objects

LINK = "120000"
NOBODY = "0" * 40
HEADING = re.compile(rb"[A-Za-z_$]")
LONGEST_HEADING = 80


def changes(old: Files, new: Files) -> Iterator[tuple[str, tuple[str, str], tuple[str, str]]]:
    """Path, mode and blob before and now of each file that differs; ("", NOBODY) where there is none."""
    for path in sorted({*old, *new}, key=str.encode):
        was, now = old.get(path, ("", NOBODY)), new.get(path, ("", NOBODY))
        if was != now:
            yield path, was, now


def patch(objects: Objects, old: Files, new: Files, switches: Sequence[str] = ()) -> bytes:
    """Switches as `git diff-tree -p` knows them: -U0, --full-index, --irreversible-delete."""
    return b"".join(b"".join(_file(objects, *one, switches)) for one in _shown(old, new))


def _shown(old: Files, new: Files) -> Iterator[tuple[str, tuple[str, str], tuple[str, str]]]:
    """A file that becomes a link is shown as one deleted and one added."""
    for path, was, now in changes(old, new):
        if was[0] and now[0] and (was[0] == LINK) != (now[0] == LINK):
            yield path, was, ("", NOBODY)
            yield path, ("", NOBODY), now
        else:
            yield path, was, now


def _file(
    objects: Objects, path: str, was: tuple[str, str], now: tuple[str, str], switches: Sequence[str]
) -> Iterator[bytes]:
    yield f"diff --git {_named('a', path)} {_named('b', path)}\n".encode()
    yield from _modes(was[0], now[0])
    if was[1] == now[1]:
        return
    length = 40 if "--full-index" in switches else 7
    mode = f" {now[0]}" if was[0] == now[0] else ""
    yield f"index {was[1][:length]}..{now[1][:length]}{mode}\n".encode()
    if not now[0] and "--irreversible-delete" in switches:
        return
    before, after = (_lines(objects, blob) for _, blob in (was, now))
    if not before and not after:
        return
    yield f"--- {_named('a', path) if was[0] else '/dev/null'}\n".encode()
    yield f"+++ {_named('b', path) if now[0] else '/dev/null'}\n".encode()
    yield from _hunks(before, after, 0 if "-U0" in switches else 3)


def _modes(was: str, now: str) -> Iterator[bytes]:
    if not was:
        yield f"new file mode {now}\n".encode()
    elif not now:
        yield f"deleted file mode {was}\n".encode()
    elif was != now:
        yield f"old mode {was}\nnew mode {now}\n".encode()


def _named(side: str, path: str) -> str:
    return quoted(f"{side}/{path}")


def quoted(text: str) -> str:
    """As git shows a path: bytes that are no plain letter are octal numbers in quotes."""
    plain: Mapping[int, str] = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\t"): "\\t", ord("\n"): "\\n"}
    shown = "".join(plain.get(c) or (chr(c) if 32 <= c < 127 else f"\\{c:03o}") for c in text.encode())
    return shown if shown == text else f'"{shown}"'


def _lines(objects: Objects, blob: str) -> list[bytes]:
    return objects.data(blob).split(b"\n") if blob != NOBODY and objects.data(blob) else []


def _hunks(before: list[bytes], after: list[bytes], context: int) -> Iterator[bytes]:
    before, after = _ended(before), _ended(after)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(context):
        first, last = group[0], group[-1]
        heading = _heading(before, first[1])
        spans = f"@@ -{_span(first[1], last[2])} +{_span(first[3], last[4])} @@".encode()
        yield spans + (b" " + heading if heading else b"") + b"\n"
        for kind, a, b, c, d in group:
            if kind == "equal":
                yield from _marked(b" ", before[a:b])
            else:
                yield from _marked(b"-", before[a:b])
                yield from _marked(b"+", after[c:d])


def _ended(lines: list[bytes]) -> list[bytes]:
    """Each with its line end, but a last one that has none."""
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines and lines[-1] else [])


def _marked(mark: bytes, lines: Sequence[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield mark + line + (b"" if line.endswith(b"\n") else b"\n\\ No newline at end of file\n")


def _span(begin: int, end: int) -> str:
    size = end - begin
    return f"{begin + 1}" if size == 1 else f"{begin + (size > 0)},{size}"


def _heading(lines: Sequence[bytes], before: int) -> bytes:
    """The last line above that begins with a letter."""
    found = next((line for line in reversed(lines[:before]) if HEADING.match(line)), b"")
    return found.rstrip()[:LONGEST_HEADING].rstrip()
