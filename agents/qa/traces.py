"""A runner's trace -> its cause: exception and message first, what was raised first, the target's own lines. Pure.

It reads what pytest (in each of its styles), unittest and Django print. The text comes from code that was tested:
nothing in it raises, and of what is not understood the end is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

MOST_READ = 20_000  # characters; of a longer trace its head, where a chain begins, and its end
MOST_LINE = 240  # characters
MOST_FRAMES = 5  # of one exception
CHAINED = re.compile(
    r"(?:During handling of the above exception, another exception occurred"
    r"|The above exception was the direct cause of the following exception):"
)
TRACEBACK = re.compile(r"^(?:Exception Group )?Traceback \(most recent call last\):$", re.MULTILINE)
WRAPS = re.compile(r"ImportError: Failed to import test module|(?:\w+\.)*\w*ExceptionGroup: ")  # the cause stands below
GROUPED = re.compile(r"^ *[|+](?:-\+)?(?: |-+ ?\d* ?-+$|-+$)", re.MULTILINE)
IN_FILE = re.compile(r' *File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<where>.+))?$')
AT_PLACE = re.compile(r"(?P<path>[^\s:\"][^:\"\n]{0,300}):(?P<line>\d+):(?: in (?P<where>.+)| ?[\w.]*)$")
RAISED = re.compile(r"(?:\w+\.)*[A-Z]\w*(?::|$)")  # `shop.errors.NoRates: no rates`, `AssertionError`
MARKS = re.compile(r"[\s~^]+")
INSTALLED = re.compile(r"(?:^|/)(?:site-packages|dist-packages|lib/python\d[\d.]*)/")
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")
JOB = "/job/"


def excerpt(trace: str, most: int) -> str:
    """At most `most` characters. Its first paragraph is the same for failures that have the same cause."""
    chain = _chain(_bounded(trace))
    if not chain:
        words = _missing(RaisedError(trace, ()))
        return f"{words}\n\n{trace}"[:most] if words else trace[-most:]
    root, *later = chain
    first = [_cut(root.message, most // 2), *_in_words(chain)]
    shown = set(root.own)
    parts = ["\n".join(first), _frames(root.own)]
    if ends := [one for one in later if _told(one) != _told(root)]:
        end = ends[-1]
        between = [f"then {_cut(one.message.partition(chr(10))[0], 120)}" for one in ends[:-1][:3]]
        parts.append("\n".join(["That led to:", *between, _cut(end.message, most // 4)]))
    last = later[-1].own if later else ()
    parts.append(_frames([frame for frame in last if frame not in shown]))
    return ADDRESS.sub("0x…", "\n\n".join(filter(None, parts)))[:most]


def cause(trace: str) -> str:
    """One line: what was raised first, and in words what is missing; empty: nothing was."""
    chain = _chain(_bounded(trace))
    return _cut("; ".join([chain[0].message.partition("\n")[0], *_in_words(chain)]), MOST_LINE) if chain else ""


def _bounded(trace: str) -> str:
    if len(trace) <= MOST_READ:
        return trace
    return f"{trace[: MOST_READ // 2]}\n{trace[-MOST_READ // 2 :]}"


def _cut(text: str, most: int) -> str:
    """Shorten long lines, then the text, in their middles: values stand at both ends."""
    text = "\n".join(_middle(line.rstrip(), MOST_LINE) for line in text.splitlines() if line.strip())
    return _middle(text, most)


def _middle(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most * 2 // 3]} … {text[-(most // 3 - 3) :]}"


# --- what was raised -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TraceFrame:
    """One step of a trace: `place` is `path:line`, `where` a function; empty: not known."""

    place: str
    where: str
    code: str
    is_own: bool

    def __str__(self) -> str:
        return (
            f"at {self.place}" + (f" in {self.where}" if self.where else "") + (f": {self.code}" if self.code else "")
        )


@dataclass(frozen=True)
class RaisedError:
    """One exception of a chain; `frames`: the outermost first."""

    message: str
    frames: tuple[TraceFrame, ...]

    @property
    def own(self) -> tuple[TraceFrame, ...]:
        """The target's own, the innermost first: it is shown whatever is cut."""
        return tuple(dict.fromkeys(frame for frame in reversed(self.frames) if frame.is_own))


def _chain(trace: str) -> list[RaisedError]:
    """What was raised first comes first; what only wraps another is the last."""
    if "Exception Group Traceback" in trace:
        trace = GROUPED.sub("", trace)
    sections = (part for one in CHAINED.split(trace) for part in TRACEBACK.split(one))
    found = [raised for section in sections if (raised := _raised(section.splitlines()))]
    placed = [one for one in found if one.frames]
    return sorted(placed or found, key=lambda one: WRAPS.match(one.message) is not None)


def _raised(lines: Sequence[str]) -> RaisedError | None:
    marked = [line[1:].expandtabs(4) for line in lines if line == "E" or line.startswith(("E ", "E\t"))]
    frames = tuple(_walked(lines))
    if not marked:
        said = _after_frames(lines)
        return RaisedError(said, frames) if RAISED.match(said) else None
    while marked and not marked[0].strip():
        del marked[0]
    margin = min((len(line) - len(line.lstrip()) for line in marked if line.strip()), default=0)
    message = [line[margin:].rstrip() for line in marked]
    if message and IN_FILE.match(message[0]):  # a file that is no Python
        return _raised(message)
    return RaisedError("\n".join(message).strip(), frames) if message else None


def _walked(lines: Sequence[str]) -> Iterator[TraceFrame]:
    """The lines of code stand below their place, except in pytest's long style: there above it, behind a `>`."""
    marked = ""
    for number, line in enumerate(lines):
        if line.startswith(">"):
            marked = line[1:].strip()
        elif found := IN_FILE.match(line) or AT_PLACE.match(line):
            below = next(iter(lines[number + 1 : number + 2]), "")
            is_long = found.re is AT_PLACE and not found["where"]
            yield _frame(found, marked if is_long else below.strip() if below.startswith("  ") else "")
            marked = ""


def _frame(found: re.Match[str], code: str) -> TraceFrame:
    path = found["path"].removeprefix(JOB).removeprefix("./")
    is_own = not path.startswith(("/", "<", "../")) and not INSTALLED.search(path)
    code = "" if code == "???" or MARKS.fullmatch(code) else code
    return TraceFrame(f"{path}:{found['line']}", found["where"] or "", _middle(code, 120), is_own)


def _after_frames(lines: Sequence[str]) -> str:
    """The message of a plain trace: from the first line that is not set in, to the end of what was raised."""
    places = [number for number, line in enumerate(lines) if IN_FILE.match(line)]
    rest = list(lines[places[-1] + 1 if places else 0 :])
    while rest and (not rest[0].strip() or rest[0].startswith(" ")):
        del rest[0]
    printed = next((number for number, line in enumerate(rest) if line in ("Stdout:", "Stderr:", '"""')), len(rest))
    return "\n".join(rest[:printed]).strip()


def _frames(frames: Iterable[TraceFrame]) -> str:
    return "\n".join(map(str, list(frames)[:MOST_FRAMES]))


def _told(raised: RaisedError) -> str:
    """The message without the class: libraries raise the same once more, under a name of their own."""
    return raised.message.partition(": ")[2] or raised.message


# --- what is missing, in words -------------------------------------------------------------------------------

NETWORK = "nothing answers over the network; tests run without one"
MISSING = (
    (
        r"No module named '([^'.]+)'",
        "the package {} is not installed, and no module here is called so; "
        "if it is needed, add what brings it to the requirements, or `pip install …` to `setup:` of the target's file",
    ),
    (r"No module named '([^']+)'; '([^']+)' is not a package", "{1} is no package, so there is no module {0}"),
    (r"No module named '([^']+)'", "there is no module {}"),
    (r"import file mismatch", "two test modules have one name: add an empty __init__.py beside one, or rename it"),
    (r"cannot import name '([^']+)' from (?:partially initialized module )?'([^']+)'", "{1} has no {0} to import"),
    (r"no such table: ([\w.]+)", "the table {} does not exist: no migration makes it, or none was run"),
    (r"relation \"([^\"]+)\" does not exist", "the table {} does not exist: no migration makes it, or none was run"),
    (r"no such column: ([\w.]+)", "the column {} does not exist: no migration makes it, or none was run"),
    (r"has no column named (\w+)", "the column {} does not exist: no migration makes it, or none was run"),
    (r"column \"?([\w.]+)\"? (?:of relation \S+ )?does not exist", "the column {} does not exist in the database"),
    (r"TemplateDoesNotExist: (\S+)", "the template {} does not exist"),
    (r"FileNotFoundError: .*No such file or directory: b?'([^']+)'", "the file, folder or program {} does not exist"),
    (
        r"Requested settings?,? (?:\w+,? )?but settings are not configured",
        "the variable DJANGO_SETTINGS_MODULE is not set",
    ),
    (r"ImproperlyConfigured: Set the (\w+) environment variable", "the environment variable {} is not set"),
    (r"ImproperlyConfigured: The (\w+) setting must not be empty", "the setting {} is empty"),
    (r"'(?:User)?Settings(?:Holder)?' object has no attribute '(\w+)'", "the setting {} is not defined"),
    (r"Model class (\S+) doesn't declare an explicit app_label", "the app of {} is not in INSTALLED_APPS"),
    (r"NoReverseMatch: Reverse for '([^']+)' not found", "no URL has the name {}"),
    (r"NoReverseMatch: '([^']+)' is not a registered namespace", "no URLs have the namespace {}"),
    (r"Database access not allowed", "the test uses the database, and is not marked with django_db"),
    (
        r"Temporary failure in name resolution|Name or service not known|Network is unreachable|ConnectionRefusedError",
        NETWORK,
    ),
)
KEY = re.compile(r"KeyError: '([^']+)'")


def _in_words(chain: Sequence[RaisedError]) -> list[str]:
    """Name what is missing, as the first exception that says so has it; at most one line."""
    return [words for raised in chain if (words := _missing(raised))][:1]


def _missing(raised: RaisedError) -> str:
    if (key := KEY.match(raised.message)) and any(map(_reads_environment, raised.frames)):
        return f"the environment variable {key[1]} is not set"
    for pattern, words in MISSING:
        if found := re.search(pattern, raised.message[:2_000]):
            return words.format(*found.groups())
    return ""


def _reads_environment(frame: TraceFrame) -> bool:
    return "environ[" in frame.code or frame.place.startswith("<frozen os>") or frame.place.endswith("/os.py")
