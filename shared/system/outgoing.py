"""The one way out. The only module that knows what a secret looks like in a text.

A seat belt: the boundary is that boxes never hold a key. It finds the values that we know, also in usual disguises and
in parts of 19 characters or more, and the usual shapes of other people's keys. It does not see through compression,
encryption or letter games; nor can a value of fewer than 8 characters be told from ordinary text.
"""

from __future__ import annotations

import base64
import bisect
import codecs
import ctypes
import itertools
import json
import re
import string
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sisimpur.shared.model.text import UNSEEN

SHORTEST = 8  # characters of a known value
WINDOW, STEP = 16, 4  # a run of WINDOW + STEP - 1 characters holds a window that begins at a multiple of STEP
WORD = 8  # letters

# What people and programs put between the parts of a value: blanks, quotes, `+`, commas, invisible characters.
KEPT = re.compile(f"[^\\s\"'`+,\\\\{UNSEEN}]+")
DROPPED = (string.whitespace + "\x1c\x1d\x1e\x1f\"'`+,\\").encode()  # what KEPT leaves out, of ASCII

# Names that belong to nobody (RFC 2606): what stands before them opens nothing.
OF_NOBODY = r"(?!(?:[\w-]{1,63}\.){0,9}(?:example\.(?:com|net|org)|(?<=\.)(?:example|test|invalid))(?![\w.-]))"

# Each begins with letters, so that the search is quick; what may not stand before them is asked after them.
SHAPES = {
    "model key": r"sk-(?<![A-Za-z0-9]sk-)(?:ant-[\w-]{20,}|(?:proj|svcacct|or-v1)-[\w-]{20,}|[A-Za-z0-9]{40,})",
    "forge token": r"gh[pousr]_(?<![A-Za-z0-9]gh._)[A-Za-z0-9]{36,}",
    "fine-grained forge token": r"github_pat_\w{40,}|glpat-[\w-]{20,}",
    "Discord webhook": r"api/(?:v\d+/)?webhooks/\d{10,25}/[\w-]{30,}",
    "Slack webhook": r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/+-]{20,}",
    "Slack token": r"xox[abeprs]-(?<![A-Za-z0-9]xox.-)[\w-]{20,}",
    "search key": r"tvly-(?<![A-Za-z0-9]tvly-)[\w-]{16,}",
    "cloud key": r"A(?<![A-Za-z0-9/+]A)(?:(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9/+=])|Iza[\w-]{35}(?![\w-]))",
    "payment key": r"[sr]k_live_(?<![A-Za-z0-9].k_live_)[A-Za-z0-9]{20,}",
    "registry token": r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])|pypi-AgE[\w-]{50,}|hf_[A-Za-z]{34}(?![A-Za-z0-9])",
    "private key": r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----",
    "login token": r"eyJ(?<![\w.-]eyJ)[\w-]{10,4000}\.eyJ[\w-]{10,8000}\.[\w-]{10,}",
    "password in a URL": r"://(?P<user>[^\s/:@'\"<>]{0,100}):(?P<word>[^\s/:@'\"<>]{4,200})@" + OF_NOBODY,
}
EXPRESSIONS = {name: re.compile(shape) for name, shape in SHAPES.items()}
# Without one of these no such key is there: to search for them is quicker than for shapes that begin in several ways.
WORDS = {"payment key": ("k_live_",), "registry token": ("npm_", "pypi-AgE", "hf_")}
END_OF_KEY = re.compile(r"-----END [A-Z0-9 ]{1,80}-----")
NO_PASSWORDS = re.compile(r"[$%{*.].*|x+|pass(word|wd)?|secret|changeme|postgres|root|admin|test|user|example", re.I)


@dataclass(frozen=True)
class SecretHit:
    """Hit: what was found (the name of a value or of a shape) and in which line, counted from 1.

    `digest`: by which the owner may allow it; empty: he may not, it is a key of ours.
    """

    name: str
    line: int
    digest: str = ""

    @property
    def how_to_allow(self) -> str:
        """What to write if it opens nothing."""
        return f"; if it opens nothing: `allow_secrets: [{self.digest}]` in config/targets" if self.digest else ""


Span = tuple[int, int, str]


class Outgoing:
    """`secrets`: name -> value of everything that may not leave. `allowed`: digests of what only looks like a key."""

    def __init__(self, secrets: Mapping[str, str], allowed: Collection[str] = ()) -> None:
        self._allowed = frozenset(allowed)
        self._whole: dict[str, str] = {}  # a short form -> name
        self._windows: dict[str, tuple[str, str, int]] = {}  # window -> name, its form, where in it
        self._words: set[int] = set()  # eight letters of forms, as one number
        self._names = frozenset(secrets)
        for name, value in secrets.items():
            for form in _forms(_core(value)):
                self._learn(name, form)

    def find(self, text: str) -> tuple[SecretHit, ...]:
        """Find what may not leave, by line; never the value."""
        hits, line, at = [], 1, 0
        for begin, _, name in self._spans(text):
            line += text.count("\n", at, begin)
            at = begin
            hits.append(SecretHit(name, line))
        return tuple(hits)

    def find_in_change(self, text: str) -> tuple[SecretHit, ...]:
        """Find also what a detector knows of others' keys: for lines that are to become a commit."""
        from sisimpur.shared.secrets.secret_rules import EXAMPLE, digest_of, find_secrets

        found = [
            SecretHit(name, text.count("\n", 0, begin) + 1, "" if name in self._names else digest_of(text[begin:end]))
            for begin, end, name in self._spans(text)
            if name in self._names or not EXAMPLE.search(text[begin:end])
        ]
        there = {hit.line for hit in found}
        for one in find_secrets(text):
            if (line := text.count("\n", 0, one.begin) + 1) not in there:
                found.append(SecretHit(one.name, line, one.digest))
        return tuple(hit for hit in found if not hit.digest or hit.digest not in self._allowed)

    def clean(self, text: str) -> str:
        """The text with `[removed: NAME]` in place of each hit."""
        parts, at = [], 0
        for begin, end, name in self._spans(text):
            parts += [text[at:begin], f"[removed: {name}]"]
            at = end
        return "".join([*parts, text[at:]])

    def _learn(self, name: str, form: str) -> None:
        if len(form) < WINDOW + STEP - 1:
            self._whole.setdefault(form, name)
            return
        for begin in range(len(form) - WINDOW + 1):
            self._windows.setdefault(form[begin : begin + WINDOW], (name, form, begin))
            for word in (begin, begin + STEP):
                self._words.add(int.from_bytes(_letters(form[word : word + WORD]), sys.byteorder))

    def _spans(self, text: str) -> list[Span]:
        """List them in order, without overlap."""
        spans: list[Span] = []
        for begin, end, name in sorted([*self._known(text), *_shaped(text)]):
            if spans and begin < spans[-1][1]:
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]), spans[-1][2])
            else:
                spans.append((begin, end, name))
        return spans

    def _known(self, text: str) -> Iterator[Span]:
        packed = squeezed(text)
        found = [*self._by_window(packed), *self._as_whole(packed)]
        if found:
            place = _places(text)
            yield from ((place(begin), place(end - 1) + 1, name) for begin, end, name in found)

    def _by_window(self, packed: str) -> Iterator[Span]:
        """Looks at every fourth place only; what is found there is followed to both sides."""
        if not self._may_hold_one(packed):
            return
        done = 0
        for at in range(0, len(packed) - WINDOW + 1, STEP):
            if at >= done and (known := self._windows.get(packed[at : at + WINDOW])):
                name, form, offset = known
                begin, end = _follow(packed, at, form, offset)
                yield begin, end, name
                done = end

    def _may_hold_one(self, packed: str) -> bool:
        """Most texts hold none: that is seen by numbers of eight letters, a sixth of the work.

        A window that begins at a multiple of STEP holds all letters from one multiple of WORD to the next.
        """
        letters = memoryview(_letters(packed))
        return not self._words.isdisjoint(letters[: len(letters) // WORD * WORD].cast("Q"))

    def _as_whole(self, packed: str) -> Iterator[Span]:
        for form, name in self._whole.items():
            at = packed.find(form)
            while at >= 0:
                yield at, at + len(form), name
                at = packed.find(form, at + len(form))


def each_text(value: Any, clean: Callable[[str], str]) -> Any:
    """Clean each text of a JSON value by itself: in the JSON of all of it a hit may reach over a quote."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(name)): each_text(one, clean) for name, one in value.items()}
    return [each_text(one, clean) for one in value] if isinstance(value, list | tuple | frozenset) else value


# --- known values --------------------------------------------------------------------------------------------


def _core(value: str) -> str:
    """Take the last part of an address: only that is secret; the rest stands in many honest texts."""
    tail = value.rstrip("/").rpartition("/")[2]
    return tail if "://" in value and len(tail) >= WINDOW else value


def _forms(value: str) -> set[str]:
    """The value and its usual disguises, packed as a text is packed before it is searched."""
    raw = value.encode()
    forms = {value, value[::-1], raw.hex(), raw.hex().upper(), quote(value, safe=""), json.dumps(value)[1:-1]}
    for lead in range(3):  # where the value begins within the three bytes that become four letters
        letters = base64.b64encode(bytes(lead) + raw).decode().rstrip("=")
        whole = letters[(0, 2, 3)[lead] : (lead + len(raw)) * 8 // 6]
        forms |= {whole, whole.replace("+", "-").replace("/", "_")}
    packed = {"".join(KEPT.findall(form)) for form in forms}
    return {form for form in packed if len(form) >= SHORTEST}


def _letters(text: str) -> bytes:
    """One byte for each character."""
    return text.encode("ascii", "replace")


def _follow(packed: str, at: int, form: str, offset: int) -> tuple[int, int]:
    """Return how far the text goes on like the form."""
    begin, end = at, at + WINDOW
    left, right = offset, offset + WINDOW
    while left and begin and packed[begin - 1] == form[left - 1]:
        begin, left = begin - 1, left - 1
    while right < len(form) and end < len(packed) and packed[end] == form[right]:
        end, right = end + 1, right + 1
    return begin, end


def squeezed(text: str) -> str:
    """The pieces of a text, put together: `"".join(KEPT.findall(text))`, in a fraction of the time."""
    return text.encode("ascii", "pieces").translate(None, DROPPED).decode("utf-8", "surrogatepass")


def _pieces(beyond: UnicodeError) -> tuple[bytes, int]:
    """What is kept of letters beyond ASCII."""
    assert isinstance(beyond, UnicodeEncodeError)
    kept = KEPT.findall(beyond.object[beyond.start : beyond.end])
    return "".join(kept).encode("utf-8", "surrogatepass"), beyond.end


codecs.register_error("pieces", _pieces)  # of one run of them; all else is read at the speed of the machine


def _places(text: str) -> Callable[[int], int]:
    """Packed place -> place in the text."""
    pieces = list(KEPT.finditer(text))
    begins = [0, *itertools.accumulate(len(piece[0]) for piece in pieces)]

    def place(at: int) -> int:
        number = bisect.bisect_right(begins, at) - 1
        return pieces[number].start() + at - begins[number]

    return place


def _shaped(text: str) -> Iterator[Span]:
    for name, expression in EXPRESSIONS.items():
        if name in WORDS and not any(word in text for word in WORDS[name]):
            continue
        done = 0
        for hit in expression.finditer(text):
            if hit.start() >= done and not _is_example(hit):
                done = _end(text, hit, name)
                yield hit.start("word") if "word" in expression.groupindex else hit.start(), done, name


def _end(text: str, hit: re.Match[str], name: str) -> int:
    if name == "private key":  # all of the block; without an end, all that follows
        end = END_OF_KEY.search(text, hit.end())
        return end.end() if end else len(text)
    return hit.end("word") if "word" in hit.re.groupindex else hit.end()


def _is_example(hit: re.Match[str]) -> bool:
    """`postgres://user:password@host` and the like stand in every manual."""
    if "word" not in hit.re.groupindex:
        return False
    return hit["user"] == hit["word"] or NO_PASSWORDS.fullmatch(hit["word"]) is not None


# --- our own memory -------------------------------------------------------------------------------------------

PR_SET_DUMPABLE = 4


def keep_private() -> bool:
    """Keep other processes of our user from reading our memory or environment from now on; no crash dumps them.

    False where the system cannot do it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    return hasattr(libc, "prctl") and libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
