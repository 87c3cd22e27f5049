"""The words of memory: what an agent has learned, from what, and whether it helps. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Literal

from sisimpur.shared.model.text import one_line

# "target" is nobody who learns: what is kept of it are facts, told as such.
Learner = Literal["planner", "coder", "qa", "reviewer", "target"]
LEARNERS: tuple[Learner, ...] = ("planner", "coder", "qa", "reviewer", "target")

MOST_IN_A_PROMPT = 3
LIFE = timedelta(days=90)  # from the day it was learned, or helped last
ENOUGH = 4  # uses after which it has to have helped
MOST_KEPT = 300  # lessons of one agent


@dataclass(frozen=True)
class Lesson:
    """One or two sentences for an agent's prompt. Its texts come from runs: data, never instructions.

    `signature`: of the failure that taught it, normalised; empty: none. `files`: that belong to it. `origin`: where it
    was learned, `<task>.a<attempt>`. `theirs`: a stranger's words may be in it. `used`,
    `passed`: prompts that held it, and how many of those tries went well.
    """

    number: int
    agent: Learner
    text: str
    signature: str = ""
    keywords: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    origin: str = ""
    learned: str = ""  # YYYY-MM-DD
    expires: str = ""  # YYYY-MM-DD
    used: int = 0
    passed: int = 0
    theirs: bool = False


@dataclass(frozen=True)
class Situation:
    """What an agent is about to do: the words of the task, or of a failure, and the files that it is about.

    `theirs`: for what a stranger asks; only there stands what strangers' words have taught.
    """

    agent: Learner
    text: str
    signature: str = ""
    files: tuple[str, ...] = field(default=())
    theirs: bool = False


def heading(agent: Learner) -> str:
    return "what is known of the target" if agent == "target" else f"what the {agent} has learned"


def helps(lesson: Lesson) -> bool:
    """Until it was used often enough to tell, it may."""
    return lesson.used < ENOUGH or 2 * lesson.passed >= lesson.used


def is_kept(lesson: Lesson, day: str) -> bool:
    return helps(lesson) and day <= lesson.expires


def expiry(day: str) -> str:
    return (date.fromisoformat(day) + LIFE).isoformat()


def bounded(lesson: Lesson) -> Lesson:
    """Cut to size; each text is one line that can be stored and shown."""
    return replace(
        lesson,
        text=one_line(lesson.text, 500),
        signature=one_line(lesson.signature, 200),
        keywords=_some(lesson.keywords, 12, 40),
        files=_some(lesson.files, 10, 200),
        origin=one_line(lesson.origin, 100),
    )


def fading(lessons: Sequence[Lesson], day: str, most: int = MOST_KEPT) -> tuple[Lesson, ...]:
    """Of one agent's, those that go: expired, of no help, and beyond `most` the least useful (and oldest) ones."""
    kept = [lesson for lesson in lessons if is_kept(lesson, day)]
    best = sorted(kept, key=lambda one: (one.passed, one.passed - one.used, one.expires, one.number), reverse=True)
    stay = {lesson.number for lesson in best[:most]}
    return tuple(lesson for lesson in lessons if lesson.number not in stay)


def _some(words: Sequence[str], most: int, longest: int) -> tuple[str, ...]:
    found = dict.fromkeys(one_line(word, longest) for word in words)
    return tuple(word for word in found if word)[:most]


def for_prompt(lessons: Sequence[Lesson]) -> tuple[Lesson, ...]:
    """The best first; no two that say the same."""
    said: dict[str, Lesson] = {}
    for lesson in lessons:
        said.setdefault(" ".join(lesson.text.casefold().split()), lesson)
    return tuple(said.values())[:MOST_IN_A_PROMPT]


# --- signatures of failures ----------------------------------------------------------------------------------
# Numbers, times, addresses, ids, folders and values are gone. What stays: the exception's class and message, a linter's
# code and words, names in quotes, and a file by its last name. A comparison of mere values tells nothing.

LONGEST = 200
MOST_READ = 20_000  # characters, from the end: what happened stands there
LONGEST_LINE = 2_000
GAP = "…"  # in place of a value

HIDDEN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
PREFIX = re.compile(  # what stands before the words: a place, a time, a level, who says it
    r"\s+|E\s+|[>+-]\s+|#\d+\s+|[\w.-]{1,60}\s*\|\s+|##\[error\]"
    r"|\[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?:?\s+|\[\d+[\d/:.,\w -]*\]\s+|\d+\.\d+\s+"
    r"|(?:ERROR|CRITICAL)(?: \[[\w.]+\])?:?\s+(?=(?:\w{1,60}\.){0,10}[A-Z]\w{0,60}(?:Error|Exception)\b)"
    r"|(?:FAILED|ERROR) \S+ - |\[?(?:INFO|WARNING|ERROR|CRITICAL|FATAL)(?:/[\w-]+)?\]:?\s+"
    r"|[^\s:'\"]{1,300}:\d+(?::\d+)?:?\s+"
)
MODULE = re.compile(r"(?:\w{1,60}\.){1,10}(?=[A-Z]\w{0,80}(?::|$))")
WORD = re.compile(r"[^\s'\"`<>()\[\]{},;=|]+")
URL = re.compile(r"[A-Za-z][A-Za-z+]*://.*")
ID = re.compile(r"\b(?:0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]*\d)[0-9a-f]{7,64})\b", re.I)
NUMBER = re.compile(r"(\b[A-Z]{1,4}\d{2,5}\b)|[+-]?\d+(?:[.,:-]?\d+)*")  # a linter's code says what it is about
SCRATCH = re.compile(r"\btmp\w{4,}")
QUOTED = re.compile(r"(?<!\w)(['\"`])(?!\1)(.{1,300}?)\1(?!\w)")
NAME = re.compile(r"[A-Za-z_][\w.-]{0,60}")
OBJECT = re.compile(r"<([\w.]{1,60})[\s:][^<>]{1,400}>")
LIST = re.compile(rf"([(\[{{])((?:[^\[\](){{}}]|[(\[{{]{GAP}[)\]}}])*)([)\]}}])")
SEVERAL = frozenset(f",'\"<:{GAP}")
COMPARED = re.compile(r"AssertionError\b|assert\b")
MERE_VALUES = re.compile(r"(?:AssertionError:?\s*)?(?:assert\b)?(?:[^\w]|\b(?:0|not|in|is|None|True|False)\b)*")

EXCEPTION = re.compile(r"[A-Z]\w*(?:Error|Exception|Warning)\b|[A-Z][a-z]\w*[A-Z]\w*(?=: )")
DEFECT = re.compile(r"\S+:\d+(?::\d+)?:? (?:error:|fatal|[A-Z]{1,4}\d{2,5} )|[^\s:]+: \([a-z]+\.[EW]\d{3}\)")
SAID = re.compile(r"(?:fatal|CONFLICT|! \[\w+|remote: error|npm ERR!|panic|[A-Z]\w*Error)\b", re.I)
ERROR = re.compile(r"(?:ERROR|Error|error|CRITICAL|FATAL|CommandError)\b")
CODE = re.compile(r"[A-Z]{1,4}\d{2,5} \S")
TELLS = re.compile(
    r"\b(?:error|fail(?:ed|s|ure)?|fatal|cannot|can't|could not|unable|denied|refused|invalid|missing|not found|no such"
    r"|timed out|timeout|killed|unexpected|unhealthy|not healthy|forbidden|conflict\w*|exceeded|out of memory|warning"
    r"|unclosed|exited with|unsupported|undefined|panic|rejected)\b",
    re.I,
)
SUMS_UP = re.compile(
    r"=+ |Traceback \(|-+$|hint:|Found \d+ |\d+ (?:failed|passed|errors?)\b|FAILED \(|(?:FAIL|ERROR): test"
    r"|error: failed to push|.*\bdid not complete successfully|.*\bexit(?:ed with)? (?:code|status)|make: \*\*\*"
    r"|.*System check identified|Automatic merge failed|During handling|The above exception|File \""
)


def signature(text: str) -> str:
    """At most 200 characters; empty: nothing tells. The signature of a signature is itself."""
    kind, before = _kind(text), text
    while kind != before:  # each round is shorter or as long, so this ends
        kind, before = _kind(kind), kind
    return kind


def _kind(text: str) -> str:
    """Of the lines that tell most the last one: what was raised in the end, what the program gave up with."""
    lines = [line[:LONGEST_LINE] for line in HIDDEN.sub("", text[-MOST_READ:]).splitlines()]
    ranked = [(rank, number) for number, line in enumerate(lines) if (rank := _rank(line))]
    return _without_values(_bare(lines[max(ranked)[1]]))[:LONGEST].rstrip() if ranked else ""


def _rank(line: str) -> int:
    """How much it tells; 0: nothing."""
    words = _bare(line)
    if SUMS_UP.match(line.strip()) or SUMS_UP.match(words) or not words:
        return 0
    if COMPARED.match(words) and MERE_VALUES.fullmatch(_without_values(words)):
        return 0
    if EXCEPTION.match(words):
        return _rank_of_exception(line, words)
    if DEFECT.match(line.strip()) or CODE.match(words):
        return 5
    if COMPARED.match(words) or SAID.match(words):
        return 4
    return 3 if ERROR.match(words) else 1 if TELLS.search(words) else 0


def _rank_of_exception(line: str, words: str) -> int:
    """The whole message, rather than pytest's short one; a class without a message tells little."""
    if ": " not in words:
        return 2
    return 4 if line.startswith(("FAILED ", "ERROR ")) else 6


def _bare(line: str) -> str:
    """Without what stands before the words, and without the module of a class."""
    return MODULE.sub("", _unplaced(line), count=1) if MODULE.match(_unplaced(line)) else _unplaced(line)


def _unplaced(line: str) -> str:
    while found := PREFIX.match(line):
        line = line[found.end() :]
    return line.rstrip()


def _without_values(words: str) -> str:
    """None of these makes the text longer."""
    kept = "" if COMPARED.match(words) else r"\g<0>"
    text = LIST.sub(_listed, WORD.sub(lambda hit: _word(hit[0]), words))
    text = QUOTED.sub(lambda hit: f"{hit[1]}{hit[2] if kept and NAME.fullmatch(hit[2]) else GAP}{hit[1]}", text)
    return " ".join(OBJECT.sub(r"<\1>", text).split())


def _listed(hit: re.Match[str]) -> str:
    return f"{hit[1]}{GAP}{hit[3]}" if SEVERAL & {*hit[2]} else hit[0]


def _word(word: str) -> str:
    if URL.match(word):
        return "URL"
    if name := re.split(r"[/\\]", word.rstrip("/\\:"))[-1]:
        word = name + ":" * word.endswith(":")
    return NUMBER.sub(lambda hit: hit[1] or "0", SCRATCH.sub("tmp", ID.sub("0", word)))
