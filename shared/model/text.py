"""Text that people, programs and models wrote, made fit for a title, a table, a screen or somebody else's system. Pure.

Markdown is defused: the words stay readable; what a forge or a chat would act on does not work any more: mentions,
closing words, commands, links and pictures from elsewhere, HTML. Everything is treated alike, also inside of code:
where code begins and ends is a matter of opinion between parsers.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Collection, Hashable, Iterable, Sequence
from contextlib import suppress

TITLE, NOTE = 120, 400  # characters that are shown of a title, and of what was said of a task
BEGIN = 120  # of a long reason; the rest is its end, where programs say what was wrong


# --- one line ------------------------------------------------------------------------------------------------


def one_line(text: str, longest: int = 300, end: str = "…") -> str:
    """One printable line of at most `longest` characters (at least 1). `end`: of one that was cut; "" for data.

    Line ends, control characters, changes of direction, characters without width and halves of characters become one
    blank: what stood on both sides of them must not become a new word.
    """
    return shortened(" ".join(printable(text).split()), longest, end)


def printable(text: str, instead: str = " ", keep: str = "") -> str:
    """Each character that cannot be shown is replaced: no text can move the cursor, ring, or recolour a screen."""
    return text if text.isprintable() else "".join(c if c.isprintable() or c in keep else instead for c in text)


def shortened(line: str, longest: int, end: str = "…") -> str:
    """Return at most `longest` characters (at least 1); a longer line is cut and ends in `end`."""
    return line if len(line) <= longest else line[: longest - len(end)].rstrip() + end


def signal_of(code: int) -> str:
    """Name the signal that ended a program, by its negative code or as a shell says it; empty: none did."""
    with suppress(ValueError):
        return signal.Signals(-code if code < 0 else code - 128).name
    return ""


def begin_and_end(line: str, most: int) -> str:
    """A line's begin and its end: programs say last what was wrong."""
    return line if len(line) <= most else f"{line[:BEGIN]} … {line[-(most - BEGIN - 3) :]}"


def ranges(numbers: Iterable[int]) -> str:
    """`3-9, 12`: each number, in order."""
    found: list[list[int]] = []
    for number in sorted({*numbers}):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in found)


def few(names: Sequence[str], most: int, joint: str = ", ") -> str:
    """`a, b and 3 more`."""
    return joint.join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def bullets(lines: Iterable[str]) -> str:
    """A Markdown list."""
    return "\n".join(f"- {line}" for line in lines)


# --- Markdown of strangers -----------------------------------------------------------------------------------

BREAK = "\u200b"  # no width: what stands around it is no longer one word
HIDDEN = re.compile(  # control characters, changes of direction, and letters that only machines see
    "[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
# A blank takes its place: what stood on both sides must not become a new one.
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)

ACTS = (
    (re.compile(r"<(?=[A-Za-z/!?@#:])"), "<" + BREAK),  # HTML, and a chat's <@id>
    (re.compile(r"&(?=#?\w{1,40};)"), "&" + BREAK),  # entities: another way to write @
    (re.compile(r"(?<![A-Za-z0-9_])@(?=\w)"), "@" + BREAK),
    (re.compile(r"#(?=\d)"), "#" + BREAK),  # fixes #1
    (re.compile(r"\b(gh-)(?=\d)", re.IGNORECASE), r"\1" + BREAK),
    (re.compile(r"^([ \t]*)/(?=\w)", re.MULTILINE), r"\1\\/"),  # /merge
    (re.compile(r"\bwww\.", re.IGNORECASE), "www[.]"),
)


def defuse(markdown: str, hosts: Collection[str] = ()) -> str:
    """`hosts`: names of hosts to which https links may stay. Twice is as good as once."""
    text = COMMENT.sub(" ", HIDDEN.sub("", markdown.replace("\r\n", "\n").replace("\r", "\n")))
    listed = rf"(?:{'|'.join(map(re.escape, hosts))})(?=[/)\s]|\Z)" if hosts else "(?!)"
    text = re.sub(rf"\](?=[(:\[])(?!\(https://{listed})", "] ", text)  # no link, no picture, no definition of one
    text = re.sub(rf":(?=//)(?!(?<=\bhttps:)//{listed})", "[:]", text)
    for expression, harmless in ACTS:
        text = expression.sub(harmless, text)
    return text


# --- logs ----------------------------------------------------------------------------------------------------


def seen_before(before: Sequence[Hashable], now: Sequence[Hashable]) -> int:
    """Count how many lines `now` begins with that are the end of `before`, as many as possible; the ones after are new.

    A line may be given by its digest.
    """
    longest = min(len(before), len(now))
    return next((size for size in range(longest, 0, -1) if now[:size] == before[len(before) - size :]), 0)


def harmless(text: str, most: int = NOTE) -> str:
    """One line that ends no code, opens no heading and calls nobody."""
    return shortened(" ".join(defuse(text).replace("`", "'").split()), most)


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"
